#include "json/copy.h"

#include <cstdint>
#include <utility>

#include "base/whole_number.h"

namespace gantree::json {

namespace {

Out copy_member(std::string_view key, Value value, const Replace& replace) {
  if (auto other = replace(key, value)) {
    return std::move(*other);
  }
  switch (value.kind()) {
    case Kind::kNull:
      return {};
    case Kind::kBool:
      return value.text() == "true";
    case Kind::kNumber: {
      const auto number = whole_number<std::int64_t>(value.text());
      return number ? Out(*number) : Out(value.text());
    }
    case Kind::kString:
      return value.text();
    case Kind::kArray: {
      Out array = Out::array();
      for (const NodeData& item : value.items()) {
        array.push(copy_member("", Value(&item), replace));
      }
      return array;
    }
    case Kind::kObject:
      break;
  }
  Out object = Out::object();
  for (const MemberData& member : value.members()) {
    object.add(member.key, copy_member(member.key, Value(&member.value), replace));
  }
  return object;
}

}  // namespace

Out copy(Value value, const Replace& replace) {
  return copy_member("", value, replace);
}

Out copy(Value value) {
  return copy(value, [](std::string_view, Value) { return std::nullopt; });
}

}  // namespace gantree::json
