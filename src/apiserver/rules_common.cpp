#include "apiserver/rules_common.h"

#include <algorithm>

#include "apiserver/names.h"

namespace gantree::apiserver {

namespace {

std::string joined(std::initializer_list<std::string_view> keys) {
  std::string path;
  for (const std::string_view key : keys) {
    path = child_path(path, key);
  }
  return path;
}

bool matches_expression(const Value& expression, const Object* labels) {
  const std::string_view key = text_at(expression, {"key"});
  const std::string_view relation = text_at(expression, {"operator"});
  const Value* there = labels == nullptr ? nullptr : labels->if_contains(key);
  if (relation == "Exists" || relation == "DoesNotExist") {
    return (there != nullptr) == (relation == "Exists");
  }
  const Array* values = array_at(expression, {"values"});
  const bool listed =
      there != nullptr && values != nullptr &&
      std::any_of(values->begin(), values->end(), [&](const Value& value) { return same(value, *there); });
  return relation == "In" ? listed : !listed;
}

}  // namespace

void check_labels(const Value* labels, const std::string& path, FieldErrors& errors) {
  const Object* object = labels == nullptr ? nullptr : labels->if_object();
  if (object == nullptr) {
    return;
  }
  for (const auto& member : *object) {
    if (auto problem = not_qualified_name(member.key())) {
      errors.push_back(invalid_value(path, Value(member.key()), *problem));
    }
    if (auto problem = not_label_value(text_of(member.value()))) {
      errors.push_back(invalid_value(path, member.value(), *problem));
    }
  }
}

const Value& value_at(const Object& object, std::initializer_list<std::string_view> keys) {
  static const Value kNull;
  const Value* found = find(object, keys);
  return found == nullptr ? kNull : *found;
}

bool same_at(const Object& a, const Object& b, std::initializer_list<std::string_view> keys) {
  return same(value_at(a, keys), value_at(b, keys));
}

void check_unchanged(const Object& old_object, const Object& new_object, std::initializer_list<std::string_view> keys,
                     FieldErrors& errors) {
  if (!same_at(old_object, new_object, keys)) {
    errors.push_back(invalid_value(joined(keys), value_at(new_object, keys), "field is immutable"));
  }
}

void check_not_negative(const Object& object, std::string_view parent, std::string_view key, FieldErrors& errors) {
  const Value& value = value_at(object, {key});
  if (value.is_int64() && value.get_int64() < 0) {
    errors.push_back(invalid_value(child_path(parent, key), value, "must be greater than or equal to 0"));
  }
}

void check_one_of(const Object& object, std::string_view parent, std::string_view key,
                  const std::vector<std::string>& choices, FieldErrors& errors) {
  const Value& value = value_at(object, {key});
  if (value.is_string() && std::find(choices.begin(), choices.end(), text_of(value)) == choices.end()) {
    errors.push_back(not_supported(child_path(parent, key), value, choices));
  }
}

bool selects(const Object& selector, const Object* labels) {
  if (const Object* match = object_at(selector, {"matchLabels"}); match != nullptr) {
    for (const auto& member : *match) {
      const Value* there = labels == nullptr ? nullptr : labels->if_contains(member.key());
      if (there == nullptr || !same(*there, member.value())) {
        return false;
      }
    }
  }
  const Array* expressions = array_at(selector, {"matchExpressions"});
  return expressions == nullptr || std::all_of(expressions->begin(), expressions->end(), [&](const Value& expression) {
           return matches_expression(expression, labels);
         });
}

}  // namespace gantree::apiserver
