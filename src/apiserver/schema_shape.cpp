// Defaults, pruning, and the form in which built-in objects are given back.
#include <algorithm>

#include "apiserver/canonical.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

// More are not told of: each is told with its whole path.
constexpr std::size_t kMaxUnknown = 100;

void prune_into(const Schema& schema, Value& value, std::string& path, std::vector<std::string>& unknown);

void prune_object(const Schema& schema, Object& object, std::string& path, std::vector<std::string>& unknown) {
  std::vector<std::string> gone;
  for (auto& member : object) {
    const std::string_view key = member.key();
    if (const Schema* known = schema.member(key); known != nullptr) {
      const PathStep step(path, key);
      prune_into(*known, member.value(), path, unknown);
    } else if (!schema.preserve_unknown) {
      gone.emplace_back(key);
    }
  }
  for (const std::string& key : gone) {
    if (unknown.size() < kMaxUnknown) {
      unknown.push_back(child_path(path, key));
    }
  }
  erase_keys(object, gone);
}

void prune_into(const Schema& schema, Value& value, std::string& path, std::vector<std::string>& unknown) {
  if (Object* object = value.if_object(); object != nullptr && schema.type != SchemaType::kAny) {
    prune_object(schema, *object, path, unknown);
  } else if (object != nullptr && !schema.properties.empty()) {
    prune_object(schema, *object, path, unknown);
  } else if (Array* array = value.if_array(); array != nullptr && schema.items != nullptr) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      const PathStep step(path, i);
      prune_into(*schema.items, (*array)[i], path, unknown);
    }
  }
}

void default_members(const Schema& schema, Object& object) {
  for (const Property& property : schema.properties) {
    if (!property.fallback) {
      continue;
    }
    const Value* there = object.if_contains(property.name);
    if (there == nullptr || (there->is_null() && !property.schema->nullable)) {
      object[property.name] = *property.fallback;
    }
  }
  std::vector<std::string> gone;
  for (auto& member : object) {
    const Schema* known = schema.member(member.key());
    if (known == nullptr) {
      continue;
    }
    // Where null is no value, it stands for absence.
    if (member.value().is_null() && !known->nullable && known->type != SchemaType::kAny) {
      gone.emplace_back(member.key());
    } else {
      set_defaults(*known, member.value());
    }
  }
  erase_keys(object, gone);
}

bool is_zero(const Value& value) {
  return (value.is_string() && value.get_string().empty()) || (value.is_int64() && value.get_int64() == 0) ||
         (value.is_bool() && !value.get_bool()) || (value.is_double() && value.get_double() == 0);
}

// True where the field had better not be there: null says no more than absence.
bool is_absent(const Property* property, const Value& value) {
  if (value.is_null() || (property != nullptr && property->plain_zero && is_zero(value))) {
    return true;
  }
  if (property == nullptr || property->required) {
    return false;
  }
  const bool empty_list = value.is_array() && value.get_array().empty();
  const bool empty_map = value.is_object() && value.get_object().empty() && property->schema->additional != nullptr;
  return empty_list || empty_map;
}

void canonicalize_members(const Schema& schema, Object& object) {
  std::vector<std::string> gone;
  for (auto& member : object) {
    const std::string_view key = member.key();
    const Property* property = schema.find(key);
    const Schema* known = property != nullptr ? property->schema : schema.additional;
    if (known != nullptr) {
      canonicalize(*known, member.value());
    }
    if (known != nullptr && is_absent(property, member.value())) {
      gone.emplace_back(key);
    }
  }
  erase_keys(object, gone);
  for (const auto& [name, zero] : schema.zeros) {
    if (const Value* there = object.if_contains(name); there == nullptr || there->is_null()) {
      object[name] = zero;
    }
  }
}

}  // namespace

void set_defaults(const Schema& schema, Value& value) {
  if (Object* object = value.if_object(); object != nullptr) {
    default_members(schema, *object);
  } else if (Array* array = value.if_array(); array != nullptr && schema.items != nullptr) {
    for (Value& item : *array) {
      set_defaults(*schema.items, item);
    }
  }
}

std::vector<std::string> prune(const Schema& schema, Value& value) {
  std::vector<std::string> unknown;
  std::string path;
  prune_into(schema, value, path, unknown);
  return unknown;
}

void canonicalize(const Schema& schema, Value& value) {
  if (schema.type == SchemaType::kQuantity) {
    canonicalize_quantity(value);
  } else if (schema.type == SchemaType::kString && schema.format == "date-time") {
    canonicalize_time(value, schema.name.ends_with(".MicroTime"));
  } else if (Object* object = value.if_object(); object != nullptr) {
    canonicalize_members(schema, *object);
  } else if (Array* array = value.if_array(); array != nullptr && schema.items != nullptr) {
    for (Value& item : *array) {
      canonicalize(*schema.items, item);
    }
  }
}

}  // namespace gantree::apiserver
