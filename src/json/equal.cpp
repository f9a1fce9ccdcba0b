#include "json/equal.h"

#include <algorithm>

namespace gantree::json {

namespace {

bool equal_items(std::span<const NodeData> a, std::span<const NodeData> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NodeData& x, const NodeData& y) { return equal(Value(&x), Value(&y)); });
}

// Keys are unique, so as many members that are all found are the same members.
bool equal_members(Value a, Value b) {
  const auto members = a.members();
  return members.size() == b.members().size() &&
         std::all_of(members.begin(), members.end(), [&](const MemberData& member) {
           const Value other = b[member.key];
           return other && equal(Value(&member.value), other);
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
