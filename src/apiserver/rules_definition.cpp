// What the schema of a definition must be like: every value in it of a known type, defaults that fit, rules that can be
// read.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apiserver/cel.h"
#include "apiserver/rules_common.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

const std::vector<std::string> kTypes = {"array", "boolean", "integer", "number", "object", "string"};
// Where so much is wrong, more need not be told.
constexpr std::size_t kMostErrors = 50;

bool flag_at(const Object& object, std::string_view key) {
  const Value* flag = object.if_contains(key);
  return flag != nullptr && flag->is_bool() && flag->get_bool();
}

class Structure {
 public:
  explicit Structure(FieldErrors& errors) : errors_(errors) {}

  void check(const Value& value, const std::string& path) {
    const Object* schema = value.if_object();
    if (schema == nullptr || errors_.size() > kMostErrors) {
      return;
    }
    if (schema->contains("$ref")) {
      errors_.push_back(forbidden(child_path(path, "$ref"), "a schema cannot refer to another"));
    }
    if (flag_at(*schema, "uniqueItems")) {
      errors_.push_back(forbidden(child_path(path, "uniqueItems"), "x-kubernetes-list-type: set says it"));
    }
    check_type(*schema, path);
    check_default(*schema, path);
    check_rules(*schema, path);
    check_parts(*schema, path);
  }

 private:
  void check_type(const Object& schema, const std::string& path) {
    const std::string type(text_at(schema, {"type"}));
    const bool open =
        flag_at(schema, "x-kubernetes-int-or-string") || flag_at(schema, "x-kubernetes-preserve-unknown-fields");
    if (type.empty() && !open) {
      errors_.push_back(required(child_path(path, "type"), "every value is of a type"));
    } else if (!type.empty() && std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      errors_.push_back(not_supported(child_path(path, "type"), Value(type), kTypes));
    }
    if (type == "array" && !schema.contains("items")) {
      errors_.push_back(required(child_path(path, "items"), "of a list"));
    }
  }

  void check_default(const Object& schema, const std::string& path) {
    const Value* fallback = schema.if_contains("default");
    if (fallback == nullptr || fallback->is_null()) {
      return;
    }
    SchemaSet set(SchemaSet::Dialect::kCustom);
    const auto read = set.define("", Value(schema));
    if (!read) {
      return;
    }
    Value completed = *fallback;
    set_defaults(**read, completed);
    const FieldErrors found = validate(**read, completed, child_path(path, "default"));
    errors_.insert(errors_.end(), found.begin(), found.end());
  }

  // What is CEL beyond the part that is known here is let in, and not enforced.
  void check_rules(const Object& schema, const std::string& path) {
    const Array* rules = array_at(schema, {"x-kubernetes-validations"});
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      const std::string_view rule = text_at((*rules)[i], {"rule"});
      const std::string field = child_path(index_path(child_path(path, "x-kubernetes-validations"), i), "rule");
      if (rule.empty()) {
        errors_.push_back(required(field));
      } else if (const auto program = CelProgram::compile(rule); !program && program.error().code == Errc::kInvalid) {
        errors_.push_back(invalid_value(field, Value(rule), program.error().message));
      }
    }
  }

  void check_parts(const Object& schema, const std::string& path) {
    const Object* properties = object_at(schema, {"properties"});
    const Value* additional = schema.if_contains("additionalProperties");
    if (properties != nullptr && additional != nullptr && !(additional->is_bool() && !additional->get_bool())) {
      errors_.push_back(forbidden(child_path(path, "additionalProperties"), "goes with no properties"));
    }
    if (properties != nullptr) {
      for (const auto& member : *properties) {
        check(member.value(), key_path(child_path(path, "properties"), member.key()));
      }
    }
    for (const std::string_view key : {"items", "additionalProperties"}) {
      if (const Value* inner = schema.if_contains(key)) {
        check(*inner, child_path(path, key));
      }
    }
  }

  FieldErrors& errors_;
};

}  // namespace

void check_schemas(const Array& versions, FieldErrors& errors) {
  // A schema that all versions have is that of the definition, which is told so in complaints.
  const Value* first = versions.empty() ? nullptr : find(versions[0], {"schema"});
  const bool one = first != nullptr && std::all_of(versions.begin(), versions.end(), [&](const Value& version) {
                     const Value* schema = find(version, {"schema"});
                     return schema != nullptr && same(*schema, *first);
                   });
  for (std::size_t i = 0; i < (one ? 1 : versions.size()); ++i) {
    const std::string path = one ? "spec.validation" : child_path(index_path("spec.versions", i), "schema");
    const Value* schema = find(versions[i], {"schema", "openAPIV3Schema"});
    if (schema != nullptr) {
      Structure(errors).check(*schema, child_path(path, "openAPIV3Schema"));
    }
  }
}

}  // namespace gantree::apiserver
