#include "apiserver/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/cel.h"
#include "apiserver/pattern.h"

namespace gantree::apiserver {

const Property* Schema::find(std::string_view property) const {
  const auto at = std::lower_bound(properties.begin(), properties.end(), property,
                                   [](const Property& one, std::string_view name_) { return one.name < name_; });
  return at != properties.end() && at->name == property ? &*at : nullptr;
}

const Schema* Schema::member(std::string_view key) const {
  const Property* property = find(key);
  return property != nullptr ? property->schema : additional;
}

// Reads OpenAPI into a set.
class SchemaReader {
 public:
  explicit SchemaReader(SchemaSet& set) : set_(set) {}

  Schema* named(std::string_view name) {
    const auto known = set_.names_.find(name);
    if (known != set_.names_.end()) {
      return known->second;
    }
    Schema* schema = &set_.schemas_.emplace_back();
    schema->name = name;
    set_.names_.emplace(name, schema);
    return schema;
  }

  Result<const Schema*> read(const Value& openapi) {
    if (set_.dialect_ == SchemaSet::Dialect::kBuiltIn) {
      if (const std::string_view reference = reference_of(openapi); !reference.empty()) {
        return named(reference);
      }
    }
    Schema* schema = &set_.schemas_.emplace_back();
    if (auto done = fill(*schema, openapi); !done) {
      return tl::unexpected(done.error());
    }
    return schema;
  }

  Result<> fill(Schema& schema, const Value& openapi) {
    const Object* object = openapi.if_object();
    if (object == nullptr) {
      return openapi.is_bool() ? Result<>() : Result<>(invalid("a schema is neither an object nor true or false"));
    }
    // A schema could contain itself by that, and checking would not end.
    if (set_.dialect_ == SchemaSet::Dialect::kCustom && object->contains("$ref")) {
      return invalid("$ref is not supported");
    }
    read_flags(schema, *object);
    schema.type = type_of(schema, *object);
    if (auto done = read_members(schema, *object); !done) {
      return done;
    }
    const bool listless =
        schema.type == SchemaType::kObject && schema.properties.empty() && schema.additional == nullptr;
    if (set_.dialect_ == SchemaSet::Dialect::kBuiltIn && listless) {
      schema.preserve_unknown = true;
    }
    return set_.dialect_ == SchemaSet::Dialect::kBuiltIn ? Result<>() : read_limits(schema, *object);
  }

 private:
  // "#/definitions/NAME" and "#/components/schemas/NAME", bare or as the only part of an allOf.
  static std::string_view reference_of(const Value& openapi) {
    const Object* object = openapi.if_object();
    if (object == nullptr) {
      return {};
    }
    std::string_view reference = text_at(*object, {"$ref"});
    if (const Array* parts = array_at(*object, {"allOf"});
        reference.empty() && parts != nullptr && parts->size() == 1) {
      reference = text_at((*parts)[0], {"$ref"});
    }
    return reference.substr(reference.rfind('/') + 1);
  }

  static bool flag(const Object& object, std::string_view key) {
    const Value* value = object.if_contains(key);
    return value != nullptr && value->is_bool() && value->get_bool();
  }

  static void read_flags(Schema& schema, const Object& object) {
    schema.format = text_at(object, {"format"});
    schema.nullable = flag(object, "nullable");
    schema.preserve_unknown = flag(object, "x-kubernetes-preserve-unknown-fields");
    schema.embedded_resource = flag(object, "x-kubernetes-embedded-resource");
    schema.atomic_map = text_at(object, {"x-kubernetes-map-type"}) == "atomic";
    const std::string_view list_type = text_at(object, {"x-kubernetes-list-type"});
    schema.list_type = list_type == "map" ? ListType::kMap : list_type == "set" ? ListType::kSet : ListType::kAtomic;
    if (const Array* keys = array_at(object, {"x-kubernetes-list-map-keys"}); keys != nullptr) {
      for (const Value& key : *keys) {
        schema.list_keys.emplace_back(text_of(key));
      }
    }
  }

  SchemaType type_of(const Schema& schema, const Object& object) const {
    if (flag(object, "x-kubernetes-int-or-string") || schema.format == "int-or-string") {
      return SchemaType::kIntOrString;
    }
    if (set_.dialect_ == SchemaSet::Dialect::kBuiltIn && schema.name.ends_with(".Quantity")) {
      return SchemaType::kQuantity;
    }
    const std::string_view type = text_at(object, {"type"});
    return type == "object"    ? SchemaType::kObject
           : type == "array"   ? SchemaType::kArray
           : type == "string"  ? SchemaType::kString
           : type == "integer" ? SchemaType::kInteger
           : type == "number"  ? SchemaType::kNumber
           : type == "boolean" ? SchemaType::kBoolean
                               : SchemaType::kAny;
  }

  Result<> read_members(Schema& schema, const Object& object) {
    if (const Object* properties = object_at(object, {"properties"}); properties != nullptr) {
      for (const auto& member : *properties) {
        if (auto done = read_property(schema, member.key(), member.value()); !done) {
          return done;
        }
      }
    }
    std::sort(schema.properties.begin(), schema.properties.end(),
              [](const Property& a, const Property& b) { return a.name < b.name; });
    if (const Array* names = array_at(object, {"required"}); names != nullptr) {
      for (const Value& name : *names) {
        mark_required(schema, text_of(name));
      }
    }
    if (auto done = read_one(object, "items", schema.items); !done) {
      return done;
    }
    const Value* additional = object.if_contains("additionalProperties");
    if (additional != nullptr && additional->is_bool()) {
      schema.preserve_unknown |= additional->get_bool();
      return {};
    }
    return read_one(object, "additionalProperties", schema.additional);
  }

  void mark_required(Schema& schema, std::string_view name) {
    for (Property& property : schema.properties) {
      if (property.name == name) {
        property.required = true;
        return;
      }
    }
    // Required, and nothing more is said of it: any value does.
    Property property;
    property.name = name;
    property.schema = &set_.schemas_.emplace_back();
    property.required = true;
    const auto at = std::lower_bound(schema.properties.begin(), schema.properties.end(), property.name,
                                     [](const Property& one, const std::string& key) { return one.name < key; });
    schema.properties.insert(at, std::move(property));
  }

  Result<> read_one(const Object& object, std::string_view key, const Schema*& into) {
    const Value* value = object.if_contains(key);
    if (value == nullptr) {
      return {};
    }
    auto schema = read(*value);
    if (!schema) {
      return tl::unexpected(schema.error());
    }
    into = *schema;
    return {};
  }

  Result<> read_property(Schema& schema, std::string_view name, const Value& openapi) {
    auto read_schema = read(openapi);
    if (!read_schema) {
      return invalid(fmt::format("{}.{}", name, read_schema.error().message));
    }
    Property property;
    property.name = name;
    property.schema = *read_schema;
    if (const Object* object = openapi.if_object(); object != nullptr) {
      const std::string_view strategy = text_at(*object, {"x-kubernetes-patch-strategy"});
      property.patch.merge = strategy.find("merge") != std::string_view::npos;
      property.patch.retain_keys = strategy.find("retainKeys") != std::string_view::npos;
      property.patch.merge_key = text_at(*object, {"x-kubernetes-patch-merge-key"});
      if (const Value* fallback = object->if_contains("default"); fallback != nullptr) {
        property.fallback = *fallback;
      }
    }
    schema.properties.push_back(std::move(property));
    return {};
  }

  static void read_number(const Object& object, std::string_view key, std::optional<double>& into) {
    if (const Value* value = object.if_contains(key); value != nullptr && value->is_number()) {
      into = value->to_number<double>();
    }
  }
  static void read_count(const Object& object, std::string_view key, std::optional<std::uint64_t>& into) {
    const Value* value = object.if_contains(key);
    if (value != nullptr && value->is_int64() && value->get_int64() >= 0) {
      into = static_cast<std::uint64_t>(value->get_int64());
    }
  }

  Result<> read_limits(Schema& schema, const Object& object) {
    auto limits = std::make_unique<Limits>();
    read_number(object, "minimum", limits->minimum);
    read_number(object, "maximum", limits->maximum);
    read_number(object, "multipleOf", limits->multiple_of);
    limits->exclusive_minimum = flag(object, "exclusiveMinimum");
    limits->exclusive_maximum = flag(object, "exclusiveMaximum");
    read_count(object, "minLength", limits->min_length);
    read_count(object, "maxLength", limits->max_length);
    read_count(object, "minItems", limits->min_items);
    read_count(object, "maxItems", limits->max_items);
    read_count(object, "minProperties", limits->min_properties);
    read_count(object, "maxProperties", limits->max_properties);
    limits->unique_items = flag(object, "uniqueItems");
    if (const Array* choices = array_at(object, {"enum"}); choices != nullptr) {
      limits->choices = *choices;
    }
    if (const std::string_view text = text_at(object, {"pattern"}); !text.empty()) {
      auto pattern = Pattern::compile(text);
      if (!pattern) {
        return tl::unexpected(pattern.error());
      }
      limits->pattern = *pattern;
    }
    for (auto [key, list] : {std::pair("allOf", &limits->all_of), std::pair("anyOf", &limits->any_of),
                             std::pair("oneOf", &limits->one_of)}) {
      if (auto done = read_list(object, key, *list); !done) {
        return done;
      }
    }
    if (auto done = read_one(object, "not", limits->negated); !done) {
      return done;
    }
    read_rules(schema, object, limits->rules);
    schema.limits = std::move(limits);
    schema.plain = false;
    return {};
  }

  // Rules beyond the part of CEL that is known here are not enforced.
  static void read_rules(Schema& schema, const Object& object, std::vector<CelRule>& rules) {
    const Array* list = array_at(object, {"x-kubernetes-validations"});
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const Value& given = (*list)[i];
      CelRule rule;
      rule.text = text_at(given, {"rule"});
      auto condition = CelProgram::compile(rule.text);
      if (!condition) {
        continue;
      }
      rule.condition = std::move(*condition);
      rule.message = text_at(given, {"message"});
      rule.reason = text_at(given, {"reason"});
      rule.field_path = text_at(given, {"fieldPath"});
      const Value* optional = find(given, {"optionalOldSelf"});
      rule.optional_old = optional != nullptr && optional->is_bool() && optional->get_bool();
      if (auto says = CelProgram::compile(text_at(given, {"messageExpression"}))) {
        rule.says = std::move(*says);
      }
      rules.push_back(std::move(rule));
    }
    const auto is_ruled = [](const Schema* inner) { return inner != nullptr && inner->ruled; };
    schema.ruled = !rules.empty() || is_ruled(schema.items) || is_ruled(schema.additional) ||
                   std::any_of(schema.properties.begin(), schema.properties.end(),
                               [&](const Property& property) { return is_ruled(property.schema); });
  }

  Result<> read_list(const Object& object, std::string_view key, std::vector<const Schema*>& into) {
    const Array* parts = array_at(object, {key});
    if (parts == nullptr) {
      return {};
    }
    for (const Value& part : *parts) {
      auto schema = read(part);
      if (!schema) {
        return tl::unexpected(schema.error());
      }
      into.push_back(*schema);
    }
    return {};
  }

  SchemaSet& set_;
};

Result<const Schema*> SchemaSet::define(std::string_view name, const Value& openapi) {
  SchemaReader reader(*this);
  Schema* schema = reader.named(name);
  if (auto done = reader.fill(*schema, openapi); !done) {
    return invalid(fmt::format("the schema {}: {}", name, done.error().message));
  }
  defined_[std::string(name)] = true;
  return schema;
}

const Schema* SchemaSet::find(std::string_view name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? nullptr : known->second;
}

std::vector<std::string> SchemaSet::undefined() const {
  std::vector<std::string> missing;
  for (const auto& [name, schema] : names_) {
    if (!defined_.contains(name)) {
      missing.push_back(name);
    }
  }
  return missing;
}

void SchemaSet::for_each_named(const std::function<void(const std::string& name, Schema& schema)>& visit) {
  for (const auto& [name, schema] : names_) {
    visit(name, *schema);
  }
}

void SchemaSet::adopt_metadata(const Schema& metadata) {
  Schema& text = schemas_.emplace_back();
  text.type = SchemaType::kString;
  for (Schema& schema : schemas_) {
    if (!schema.embedded_resource) {
      continue;
    }
    const std::pair<std::string_view, const Schema*> members[] = {
        {"apiVersion", &text}, {"kind", &text}, {"metadata", &metadata}};
    for (const auto& [name, member] : members) {
      const auto at = std::lower_bound(schema.properties.begin(), schema.properties.end(), name,
                                       [](const Property& one, std::string_view key) { return one.name < key; });
      if (at != schema.properties.end() && at->name == name) {
        at->schema = member;
      } else {
        schema.properties.insert(at, Property{std::string(name), member, false, {}, std::nullopt});
      }
    }
  }
}

Result<const Schema*> define_custom(SchemaSet& set, const Value& openapi, const Schema* metadata,
                                    std::string_view version) {
  Value whole = openapi;
  if (!whole.is_object()) {
    return invalid("openAPIV3Schema is no object");
  }
  whole.get_object()["x-kubernetes-embedded-resource"] = true;
  auto root = set.define(version, whole);
  if (!root || metadata == nullptr) {
    return root;
  }
  set.adopt_metadata(*metadata);
  return root;
}

}  // namespace gantree::apiserver
