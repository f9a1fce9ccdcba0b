// Templates that StatefulSets and DaemonSets once had, kept as ControllerRevisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

struct KeptRevision {
  std::string name;
  std::int64_t collisions = 0;  // how many names were somebody else's; to be kept in the status
};

// The revision that holds the owner's template as it is now; made where there is none yet. `data` is what is kept; the
// labels are the revision's own; `collisions` is what the status has of them.
[[nodiscard]] KeptRevision keep_revision(const Item& owner, const Value& data, const Object& labels,
                                         std::int64_t collisions, Turn& turn);
// What a revision holds; nothing where there is none of that name.
[[nodiscard]] std::optional<Object> revision_data(const Item& owner, const std::string& name, const Turn& turn);
// Removes those that are not named and are more than the limit.
void drop_revisions(const Item& owner, const std::vector<std::string>& used, std::int64_t limit, Turn& turn);

}  // namespace gantree::controllers
