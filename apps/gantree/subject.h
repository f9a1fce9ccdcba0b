// What people mean by the name of a job: gangs that ask or run, or one of which only its record is left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/gang.h"
#include "model/record.h"
#include "world.h"

namespace gantree {

struct Subject {
  std::vector<GangKey> keys;         // that ask or run
  std::optional<GangRecord> record;  // where there are none
};

// `text`: as find_gangs() takes it, the name of a Workload, or of anything that is a part of a gang or has gangs as its
// parts; `relatives` are those. Fails with one sentence where it is not clear what is meant.
[[nodiscard]] Result<Subject> find_subject(const World& world, const std::vector<GangKey>& relatives,
                                           const std::string& text);

}  // namespace gantree
