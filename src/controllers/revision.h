// Templates that StatefulSets and DaemonSets once had, kept as ControllerRevisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

// The name of the revision that holds the owner's template as it is now; made where there is none yet. `data` is what
// is kept; the labels are the revision's own.
[[nodiscard]] std::string keep_revision(const Item& owner, const Value& data, const Object& labels, Turn& turn);
// What a revision holds; nothing where there is none of that name.
[[nodiscard]] std::optional<Object> revision_data(const Item& owner, const std::string& name, const Turn& turn);
// Removes those that are not named and are more than the limit.
void drop_revisions(const Item& owner, const std::vector<std::string>& used, std::int64_t limit, Turn& turn);

}  // namespace gantree::controllers
