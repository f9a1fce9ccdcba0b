// Built-in objects are decoded into Go structures by the real server; this says what that would complain of.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "apiserver/canonical.h"
#include "apiserver/formats.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

// "io.k8s.api.core.v1.PodSpec" is "PodSpec", and "v1.PodSpec" as a type.
std::string_view last_part(std::string_view name, int parts) {
  std::size_t begin = name.size();
  for (; parts > 0 && begin > 0; --parts) {
    const std::size_t dot = name.rfind('.', begin - 1);
    if (dot == std::string_view::npos) {
      return name;
    }
    begin = dot;
  }
  return begin < name.size() ? name.substr(begin + 1) : name;
}

std::string go_type(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kString:
      return schema.format == "byte" ? "[]uint8" : "string";
    case SchemaType::kBoolean:
      return "bool";
    case SchemaType::kInteger:
      return schema.format == "int64" ? "int64" : "int32";
    case SchemaType::kNumber:
      return "float64";
    case SchemaType::kArray:
      return schema.items == nullptr ? "[]interface {}" : "[]" + go_type(*schema.items);
    case SchemaType::kObject:
      if (!schema.name.empty()) {
        return std::string(last_part(schema.name, 2));
      }
      return schema.additional == nullptr ? "map[string]interface {}" : "map[string]" + go_type(*schema.additional);
    case SchemaType::kIntOrString:
      return "intstr.IntOrString";
    case SchemaType::kQuantity:
      return "resource.Quantity";
    case SchemaType::kAny:
      break;
  }
  return "interface {}";
}

std::string go_kind(const Value& value) {
  if (value.is_bool()) {
    return "bool";
  }
  return value.is_string() ? "string" : value.is_array() ? "array" : value.is_object() ? "object" : "number";
}

class Decoding {
 public:
  // `owner` is the structure that has the field at `path`.
  std::optional<std::string> check(const Schema& schema, const Value& value, std::string_view owner,
                                   std::string& path) {
    if (value.is_null() || schema.type == SchemaType::kAny) {
      return std::nullopt;
    }
    switch (schema.type) {
      case SchemaType::kQuantity:
        return check_quantity(value);
      case SchemaType::kIntOrString:
        return value.is_string() || whole(value, "int32") ? std::nullopt : mismatch(schema, value, owner, path);
      case SchemaType::kString:
        return check_text(schema, value, owner, path);
      case SchemaType::kBoolean:
        return value.is_bool() ? std::nullopt : mismatch(schema, value, owner, path);
      case SchemaType::kInteger:
        return whole(value, schema.format) ? std::nullopt : mismatch(schema, value, owner, path);
      case SchemaType::kNumber:
        return value.is_number() ? std::nullopt : mismatch(schema, value, owner, path);
      case SchemaType::kArray:
        return check_items(schema, value, owner, path);
      default:
        return check_members(schema, value, owner, path);
    }
  }

 private:
  static bool whole(const Value& value, std::string_view format) {
    if (!value.is_int64()) {
      return false;
    }
    const std::int64_t number = value.get_int64();
    return format != "int32" ||
           (number >= std::numeric_limits<std::int32_t>::min() && number <= std::numeric_limits<std::int32_t>::max());
  }

  static std::optional<std::string> mismatch(const Schema& schema, const Value& value, std::string_view owner,
                                             const std::string& path) {
    std::string what = go_kind(value);
    if (value.is_number() && (schema.type == SchemaType::kInteger || schema.type == SchemaType::kIntOrString)) {
      what += " " + to_json(value);
    }
    return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", what, last_part(owner, 1),
                       path, go_type(schema));
  }

  static std::optional<std::string> check_quantity(const Value& value) {
    if (parse_amount(value)) {
      return std::nullopt;
    }
    return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  }

  static std::optional<std::string> check_text(const Schema& schema, const Value& value, std::string_view owner,
                                               const std::string& path) {
    if (!value.is_string()) {
      return mismatch(schema, value, owner, path);
    }
    if (schema.format == "byte" && !is_base64(text_of(value))) {
      return "illegal base64 data at input byte 0";
    }
    if (schema.format == "date-time" && !has_format(schema.format, text_of(value))) {
      return fmt::format("parsing time {0} as \"2006-01-02T15:04:05Z07:00\": cannot parse {0} as \"2006\"",
                         to_json(value));
    }
    return std::nullopt;
  }

  std::optional<std::string> check_items(const Schema& schema, const Value& value, std::string_view owner,
                                         std::string& path) {
    const Array* array = value.if_array();
    if (array == nullptr) {
      return mismatch(schema, value, owner, path);
    }
    for (const Value& item : *array) {
      if (schema.items == nullptr) {
        break;
      }
      if (auto problem = check(*schema.items, item, owner, path)) {
        return problem;
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> check_members(const Schema& schema, const Value& value, std::string_view owner,
                                           std::string& path) {
    const Object* object = value.if_object();
    if (object == nullptr) {
      return mismatch(schema, value, owner, path);
    }
    const std::string_view inner = schema.name.empty() ? owner : std::string_view(schema.name);
    for (const auto& member : *object) {
      const Schema* known = schema.member(member.key());
      if (known == nullptr) {
        continue;
      }
      // Members of maps have no names of their own in such complaints.
      const bool field = schema.find(member.key()) != nullptr;
      std::optional<PathStep> step;
      if (field) {
        step.emplace(path, std::string_view(member.key()));
      }
      if (auto problem = check(*known, member.value(), inner, path)) {
        return problem;
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::optional<std::string> decode_error(const Schema& schema, const Value& value) {
  if (!value.is_object()) {
    return fmt::format("json: cannot unmarshal {} into Go value of type {}", go_kind(value), go_type(schema));
  }
  std::string path;
  return Decoding().check(schema, value, schema.name, path);
}

}  // namespace gantree::apiserver
