#include "json/overlay.h"

#include <algorithm>

#include "base/check.h"

namespace gantree::json {

Value Overlay::keep(NodeData node) {
  return Value(&nodes_.emplace_back(node));
}

Value Overlay::with(Value object, std::string_view key, Value member) {
  GANTREE_CHECK(member.present());
  std::vector<MemberData>& members = members_.emplace_back();
  if (object) {
    members.assign(object.members().begin(), object.members().end());
  }
  const auto known =
      std::find_if(members.begin(), members.end(), [&](const MemberData& other) { return other.key == key; });
  if (known != members.end()) {
    known->value = *member.data();
  } else {
    members.push_back({.key = key, .value = *member.data()});
  }
  return keep({.kind = Kind::kObject,
               .line = object ? object.line() : member.line(),
               .size = static_cast<std::uint32_t>(members.size()),
               .content = members.data()});
}

Value Overlay::merged(Value object, Value over) {
  if (over) {
    for (const MemberData& member : over.members()) {
      object = with(object, member.key, Value(&member.value));
    }
  }
  return object;
}

Value Overlay::with_item(Value list, std::size_t position, Value item) {
  GANTREE_CHECK(item.present() && position < list.items().size());
  std::vector<NodeData>& items = items_.emplace_back(list.items().begin(), list.items().end());
  items[position] = *item.data();
  return keep({.kind = Kind::kArray,
               .line = list.line(),
               .size = static_cast<std::uint32_t>(items.size()),
               .content = items.data()});
}

Value Overlay::list(Value item) {
  GANTREE_CHECK(item.present());
  const std::vector<NodeData>& items = items_.emplace_back(1, *item.data());
  return keep({.kind = Kind::kArray, .line = item.line(), .size = 1, .content = items.data()});
}

Value Overlay::text(std::string_view text, int line) {
  return keep(
      {.kind = Kind::kString, .line = line, .size = static_cast<std::uint32_t>(text.size()), .content = text.data()});
}

}  // namespace gantree::json
