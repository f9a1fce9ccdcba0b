// What flavors add to the pods that are given them. Pure.
#pragma once

#include <map>
#include <string>

#include "kueue/job.h"
#include "kueue/workload_object.h"

namespace gantree::kueue {

// The labels and tolerations of the flavors that a pod set was given. `admin`: texts by kind, namespace and name.
void add_flavors(const std::map<std::string, std::string, std::less<>>& admin, const SetAssignment& assigned,
                 SetStart& start);

}  // namespace gantree::kueue
