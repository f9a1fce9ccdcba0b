// Who belongs to whom. A controller takes in what its selector matches and has no controller, and lets go what its
// selector no longer matches. What others control is never touched.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "controllers/turn.h"

namespace gantree::controllers {

struct Claim {
  Kind kind = Kind::kPod;
  std::string_view finalizer = {};  // comes with adoption, and goes with release
  // Which of those that match are taken in; nullptr: all that are not on their way out.
  std::function<bool(const Item&)> adopts = nullptr;
};

struct Family {
  std::vector<const Item*> members = {};  // sorted by name
  // False: some are being taken in or let go. The controller should wait for that, and is looked at again then.
  bool settled = true;
};

// By the owner's spec.selector; where it has none, or is being deleted, all stays as it is.
[[nodiscard]] Family claim(const Item& owner, const Object& root, const Claim& claim, Turn& turn);

// May the owner's selector match these labels? Cheap; where there are expressions, the answer is yes too often.
[[nodiscard]] bool may_select(const Item& owner, const Labels& labels);

}  // namespace gantree::controllers
