#include "json/copy.h"

#include <cstdint>

#include "base/whole_number.h"

namespace gantree::json {

Out copy(Value value, const std::function<std::string(std::string_view)>& text) {
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
      return text(value.text());
    case Kind::kArray: {
      Out array = Out::array();
      for (const NodeData& item : value.items()) {
        array.push(copy(Value(&item), text));
      }
      return array;
    }
    case Kind::kObject:
      break;
  }
  Out object = Out::object();
  for (const MemberData& member : value.members()) {
    object.add(member.key, copy(Value(&member.value), text));
  }
  return object;
}

Out copy(Value value) {
  return copy(value, [](std::string_view text) { return std::string(text); });
}

}  // namespace gantree::json
