// ValidatingAdmissionPolicies: rules in CEL that refuse what is about to be stored, where a binding says so. Api thread
// only.
#pragma once

#include <memory>

#include "apiserver/admission.h"

namespace gantree::apiserver {

[[nodiscard]] bool concern_policies(Core& core, const Request& request, Operation operation);

// Fails where a policy refuses. Warnings go to the request. The objects must live until it ends.
[[nodiscard]] Task<Outcome<>> obey_policies(Core& core, RequestPtr request, std::shared_ptr<Admission> admission);

}  // namespace gantree::apiserver
