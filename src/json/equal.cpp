#include "json/equal.h"

#include <algorithm>
#include <vector>

namespace gantree::json {

namespace {

bool equal_items(std::span<const NodeData> a, std::span<const NodeData> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NodeData& x, const NodeData& y) { return equal(Value(&x), Value(&y)); });
}

std::vector<const MemberData*> by_key(Value object) {
  std::vector<const MemberData*> members;
  members.reserve(object.members().size());
  for (const MemberData& member : object.members()) {
    members.push_back(&member);
  }
  const auto before = [](const MemberData* x, const MemberData* y) { return x->key < y->key; };
  if (!std::is_sorted(members.begin(), members.end(), before)) {
    std::sort(members.begin(), members.end(), before);
  }
  return members;
}

// Keys are unique, so that in their order the members of both must be the same. Anybody may send objects of a hundred
// thousand members: one is not looked for among all others.
bool equal_members(Value a, Value b) {
  if (a.members().size() != b.members().size()) {
    return false;
  }
  const auto ones = by_key(a);
  const auto others = by_key(b);
  return std::equal(ones.begin(), ones.end(), others.begin(), [](const MemberData* x, const MemberData* y) {
    return x->key == y->key && equal(Value(&x->value), Value(&y->value));
  });
}

}  // namespace

bool equal(Value a, Value b) {
  if (!a || !b) {
    return a.present() == b.present();
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kArray:
      return equal_items(a.items(), b.items());
    case Kind::kObject:
      return equal_members(a, b);
    case Kind::kBool:
    case Kind::kNumber:
    case Kind::kString:
      break;
  }
  return a.text() == b.text();
}

}  // namespace gantree::json
