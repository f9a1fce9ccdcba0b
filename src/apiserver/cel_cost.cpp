#include "apiserver/cel_cost.h"

#include <algorithm>

namespace gantree::apiserver {

bool CelCost::pay_value(const Value& value) {
  if (!pay_text(text_of(value))) {
    return false;
  }
  if (const Array* array = value.if_array(); array != nullptr) {
    return std::all_of(array->begin(), array->end(), [this](const Value& item) { return pay_value(item); });
  }
  const Object* object = value.if_object();
  return object == nullptr || std::all_of(object->begin(), object->end(), [this](const auto& member) {
           return pay_text(member.key()) && pay_value(member.value());
         });
}

bool CelCost::pay_comparison(const Value& a, const Value& b) {
  const auto size = [](const Value& value) {
    return value.is_array()    ? value.get_array().size()
           : value.is_object() ? value.get_object().size()
                               : text_of(value).size();
  };
  return a.kind() == b.kind() && size(a) == size(b) ? pay_value(a) : pay(1);
}

}  // namespace gantree::apiserver
