// What a schema forbids, in the order and the words of the real server.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apiserver/formats.h"
#include "apiserver/pattern.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

// Values that are no whole numbers are read as such where they are (3.0 is an integer, as in JSON schema).
bool is_whole(const Value& value) {
  return value.is_int64() || value.is_uint64() ||
         (value.is_double() && std::floor(value.get_double()) == value.get_double());
}

std::string_view type_name(SchemaType type) {
  switch (type) {
    case SchemaType::kObject:
      return "object";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kString:
    case SchemaType::kQuantity:
      return "string";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kIntOrString:
      return "integer,string";
    case SchemaType::kAny:
      break;
  }
  return "any";
}

std::string_view kind_name(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "integer";
    case boost::json::kind::double_:
      return is_whole(value) ? "integer" : "number";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "array";
    case boost::json::kind::object:
      return "object";
  }
  return "null";
}

bool has_type(SchemaType type, const Value& value) {
  switch (type) {
    case SchemaType::kAny:
      return true;
    case SchemaType::kObject:
      return value.is_object();
    case SchemaType::kArray:
      return value.is_array();
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kInteger:
      return value.is_number() && is_whole(value);
    case SchemaType::kNumber:
      return value.is_number();
    case SchemaType::kBoolean:
      return value.is_bool();
    case SchemaType::kIntOrString:
      return value.is_string() || (value.is_number() && is_whole(value));
    case SchemaType::kQuantity:
      return value.is_string() || value.is_number();
  }
  return false;
}

// Characters, not bytes.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// What tells an item of a list from others: its keys (with their defaults), or itself.
Value identity_of(const Schema& list, const Value& item) {
  if (list.list_type != ListType::kMap || !item.is_object()) {
    return item;
  }
  Object keys;
  for (const std::string& key : list.list_keys) {
    if (const Value* part = item.get_object().if_contains(key); part != nullptr) {
      keys[key] = *part;
    } else if (const Property* property = list.items == nullptr ? nullptr : list.items->find(key);
               property != nullptr && property->fallback) {
      keys[key] = *property->fallback;
    }
  }
  return keys;
}

class Validation {
 public:
  explicit Validation(std::size_t limit) : limit_(limit) {}

  void check(const Schema& schema, const Value& value, std::string& path) {
    if (errors_.size() >= limit_) {
      return;
    }
    if (value.is_null() && (schema.nullable || schema.plain || schema.type == SchemaType::kAny)) {
      return;
    }
    if (!has_type(schema.type, value)) {
      add(type_invalid(path, Value(kind_name(value)),
                       in_body(path, "must be of type {}: \"{}\"", type_name(schema.type), kind_name(value))));
      return;
    }
    if (!schema.plain) {
      check_limits(schema, value, path);
    }
    if (value.is_object()) {
      check_members(schema, value.get_object(), path);
    } else if (value.is_array()) {
      check_items(schema, value.get_array(), path);
    }
  }

  [[nodiscard]] FieldErrors take() { return std::move(errors_); }

 private:
  template <class... Args>
  static std::string in_body(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return fmt::format("{} in body {}", path, fmt::format(text, std::forward<Args>(args)...));
  }

  void add(FieldError error) {
    if (errors_.size() < limit_) {
      errors_.push_back(std::move(error));
    }
  }

  void check_members(const Schema& schema, const Object& object, std::string& path) {
    for (const Property& property : schema.properties) {
      if (!schema.plain && property.required && object.if_contains(property.name) == nullptr) {
        add(required(child_path(path, property.name)));
      }
    }
    for (const auto& member : object) {
      if (const Schema* known = schema.member(member.key()); known != nullptr) {
        const PathStep step(path, member.key());
        check(*known, member.value(), path);
      }
    }
  }

  void check_items(const Schema& schema, const Array& array, std::string& path) {
    if (schema.items != nullptr) {
      for (std::size_t i = 0; i < array.size(); ++i) {
        const PathStep step(path, i);
        check(*schema.items, array[i], path);
      }
    }
    if (schema.plain || schema.list_type == ListType::kAtomic) {
      return;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < array.size(); ++i) {
      const Value identity = identity_of(schema, array[i]);
      if (!seen.insert(to_json(identity)).second) {
        add(duplicate(index_path(path, i), identity));
      }
    }
  }

  void check_limits(const Schema& schema, const Value& value, std::string& path) {
    if (value.is_string() && !schema.format.empty() && !has_format(schema.format, text_of(value))) {
      add(type_invalid(path, value, in_body(path, "must be of type {}: {}", schema.format, to_json(value))));
    }
    if (schema.limits == nullptr) {
      return;
    }
    const Limits& limits = *schema.limits;
    check_choices(limits, value, path);
    if (value.is_string()) {
      check_text(limits, text_of(value), path);
    } else if (value.is_number()) {
      check_number(limits, value, path);
    } else if (value.is_array()) {
      check_list(limits, value.get_array(), path);
    } else if (value.is_object()) {
      check_object(limits, value.get_object(), path);
    }
    check_parts(limits, value, path);
  }

  void check_choices(const Limits& limits, const Value& value, const std::string& path) {
    const bool listed = std::any_of(limits.choices.begin(), limits.choices.end(),
                                    [&](const Value& choice) { return same(choice, value); });
    if (limits.choices.empty() || listed) {
      return;
    }
    std::vector<std::string> names;
    for (const Value& choice : limits.choices) {
      names.push_back(choice.is_string() ? std::string(text_of(choice)) : to_json(choice));
    }
    add(not_supported(path, value, names));
  }

  void check_text(const Limits& limits, std::string_view text, const std::string& path) {
    if (limits.max_length && length_of(text) > *limits.max_length) {
      add(too_long(path, *limits.max_length));
    }
    if (limits.min_length && length_of(text) < *limits.min_length) {
      add(invalid_value(path, Value(text), in_body(path, "should be at least {} chars long", *limits.min_length)));
    }
    if (limits.pattern != nullptr && !limits.pattern->matches(text)) {
      add(invalid_value(path, Value(text), in_body(path, "should match '{}'", limits.pattern->text())));
    }
  }

  void check_number(const Limits& limits, const Value& value, const std::string& path) {
    const auto number = value.to_number<double>();
    if (limits.maximum && (number > *limits.maximum || (limits.exclusive_maximum && number == *limits.maximum))) {
      add(invalid_value(path, value,
                        in_body(path, "should be less than {}{}", limits.exclusive_maximum ? "" : "or equal to ",
                                to_json(Value(*limits.maximum)))));
    }
    if (limits.minimum && (number < *limits.minimum || (limits.exclusive_minimum && number == *limits.minimum))) {
      add(invalid_value(path, value,
                        in_body(path, "should be greater than {}{}", limits.exclusive_minimum ? "" : "or equal to ",
                                to_json(Value(*limits.minimum)))));
    }
    if (limits.multiple_of && *limits.multiple_of > 0 && std::remainder(number, *limits.multiple_of) != 0) {
      add(invalid_value(path, value, in_body(path, "should be a multiple of {}", to_json(Value(*limits.multiple_of)))));
    }
  }

  void check_list(const Limits& limits, const Array& array, const std::string& path) {
    if (limits.max_items && array.size() > *limits.max_items) {
      add(too_many(path, array.size(), *limits.max_items));
    }
    if (limits.min_items && array.size() < *limits.min_items) {
      add(invalid_value(path, Value(static_cast<std::int64_t>(array.size())),
                        in_body(path, "should have at least {} items", *limits.min_items)));
    }
  }

  void check_object(const Limits& limits, const Object& object, const std::string& path) {
    if (limits.max_properties && object.size() > *limits.max_properties) {
      add(too_many(path, object.size(), *limits.max_properties));
    }
    if (limits.min_properties && object.size() < *limits.min_properties) {
      add(invalid_value(path, Value(static_cast<std::int64_t>(object.size())),
                        in_body(path, "should have at least {} properties", *limits.min_properties)));
    }
  }

  static bool fits(const Schema& schema, const Value& value, const std::string& path) {
    return validate(schema, value, path, 1).empty();
  }

  void check_parts(const Limits& limits, const Value& value, std::string& path) {
    for (const Schema* part : limits.all_of) {
      check(*part, value, path);
    }
    const auto matching = [&](const std::vector<const Schema*>& parts) {
      return std::count_if(parts.begin(), parts.end(), [&](const Schema* part) { return fits(*part, value, path); });
    };
    // The real server says these of the object, not of the field.
    const std::string where = path.empty() ? "<nil>" : path;
    if (!limits.any_of.empty() && matching(limits.any_of) == 0) {
      add(invalid_value({}, Value(""), fmt::format("\"{}\" must validate at least one schema (anyOf)", where)));
      check(*limits.any_of.front(), value, path);
    }
    if (const auto count = matching(limits.one_of); !limits.one_of.empty() && count != 1) {
      const std::string found = count == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", count);
      add(invalid_value({}, Value(""),
                        fmt::format("\"{}\" must validate one and only one schema (oneOf). {}", where, found)));
      if (count == 0) {
        check(*limits.one_of.front(), value, path);
      }
    }
    if (limits.negated != nullptr && fits(*limits.negated, value, path)) {
      add(invalid_value({}, Value(""), fmt::format("\"{}\" must not validate the schema (not)", where)));
    }
  }

  FieldErrors errors_;
  std::size_t limit_;
};

}  // namespace

FieldErrors validate(const Schema& schema, const Value& value, std::string_view path, std::size_t limit) {
  Validation validation(limit);
  std::string begin(path);
  validation.check(schema, value, begin);
  return validation.take();
}

}  // namespace gantree::apiserver
