// Structural schemas: what the server knows of the shape of an object, be its kind built in or defined by a CRD.
//
// A SchemaSet owns schemas; references between them are pointers inside it, so a set is neither copied nor moved after
// it was filled. Once filled it is only read, by any thread. The functions below are pure.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/field_error.h"
#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

enum class SchemaType : std::uint8_t {
  kAny,
  kObject,
  kArray,
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kIntOrString,
  kQuantity
};
// How the items of a list are distinguished when writers share it: not at all, by value, or by their keys.
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };
// What a strategic merge patch does to the field.
struct PatchRule {
  bool merge = false;        // a list is merged item by item
  bool retain_keys = false;  // a patch may name the keys that stay ($retainKeys)
  std::string merge_key;     // empty: a list of plain values
};

struct Schema;

struct Property {
  std::string name;
  const Schema* schema = nullptr;
  bool required = false;
  PatchRule patch;
  std::optional<Value> fallback;  // its default
  bool plain_zero = false;        // built in: zero, false and "" are how Go holds what is not set, and are not shown
};

class Pattern;     // a compiled regular expression
class CelProgram;  // a compiled expression of CEL

// One of x-kubernetes-validations.
struct CelRule {
  std::string text;
  std::string message;
  std::string reason;
  std::string field_path;
  std::shared_ptr<const CelProgram> condition;
  std::shared_ptr<const CelProgram> says;  // messageExpression; may be nullptr
  bool optional_old = false;               // oldSelf is an optional value, and the rule counts at creation too
};

// What a value must be besides its type.
struct Limits {
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
  std::shared_ptr<const Pattern> pattern;
  Array choices;  // enum; empty: any
  std::vector<const Schema*> all_of, any_of, one_of;
  const Schema* negated = nullptr;
  std::vector<CelRule> rules;
};

struct Schema {
  std::string name;  // of a named definition ("io.k8s.api.core.v1.PodSpec"), else empty
  std::string format;
  SchemaType type = SchemaType::kAny;
  ListType list_type = ListType::kAtomic;
  bool nullable = false;
  bool preserve_unknown = false;   // members that are not listed stay, and are not looked at
  bool embedded_resource = false;  // has apiVersion, kind and metadata of its own
  bool atomic_map = false;         // x-kubernetes-map-type: atomic
  bool ruled = false;              // it, or something in it, has rules
  bool plain = true;               // built in: validate() looks at types only, the rest is in rules.h
  std::vector<std::string> list_keys;
  std::vector<Property> properties;  // by name
  // Built in: members that Go always shows, as it does where they are not set: no time as null, no amount as "0".
  std::vector<std::pair<std::string, Value>> zeros;
  const Schema* items = nullptr;       // of a list
  const Schema* additional = nullptr;  // of the members of a map
  std::unique_ptr<const Limits> limits;

  [[nodiscard]] const Property* find(std::string_view property) const;
  // The schema of a member, listed or not; nullptr where it is unknown.
  [[nodiscard]] const Schema* member(std::string_view name) const;
};

class SchemaSet {
 public:
  // Built-in definitions are served by programs that drop what they do not know only where fields are listed; objects
  // without a list of fields keep everything.
  enum class Dialect : std::uint8_t { kBuiltIn, kCustom };
  explicit SchemaSet(Dialect dialect) : dialect_(dialect) {}
  SchemaSet(const SchemaSet&) = delete;
  SchemaSet& operator=(const SchemaSet&) = delete;

  // Reads an OpenAPI schema (v2 or v3 form). "$ref" leads to a name of this set, defined before or after.
  [[nodiscard]] Result<const Schema*> define(std::string_view name, const Value& openapi);
  [[nodiscard]] const Schema* find(std::string_view name) const;
  // Names that were referred to and never defined.
  [[nodiscard]] std::vector<std::string> undefined() const;
  // Calls for each schema that has a name.
  void for_each_named(const std::function<void(const std::string& name, Schema& schema)>& visit);
  // Every embedded resource of the set gets apiVersion, kind and this schema of metadata.
  void adopt_metadata(const Schema& metadata);

 private:
  friend class SchemaReader;
  Dialect dialect_;
  std::deque<Schema> schemas_;
  std::map<std::string, Schema*, std::less<>> names_;
  std::map<std::string, bool, std::less<>> defined_;
};

// The schema of one version of a CRD. `metadata`, where given, is the schema of built-in ObjectMeta: it takes the place
// of what the CRD says of metadata, as in the real server. Versions of one set need names of their own.
[[nodiscard]] Result<const Schema*> define_custom(SchemaSet& set, const Value& openapi, const Schema* metadata,
                                                  std::string_view version = {});

// What the schema forbids. Paths begin with `path` ("" for a whole object). At most `limit` errors.
[[nodiscard]] FieldErrors validate(const Schema& schema, const Value& value, std::string_view path = {},
                                   std::size_t limit = 100);

// The same, and where that finds nothing, the rules that the schema has in CEL. `old` is the stored object, nullptr for
// a new one: rules about changes (oldSelf) need it.
[[nodiscard]] FieldErrors validate_object(const Schema& schema, const Value& value, const Value* old);

// For built-in kinds, whose objects are decoded into Go structures by the real server: the words it has for a value of
// the wrong type ("json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32").
[[nodiscard]] std::optional<std::string> decode_error(const Schema& schema, const Value& value);

// Fills in the defaults of the schema; null members that may not be null and have no default go.
void set_defaults(const Schema& schema, Value& value);

// Takes out members that the schema does not know; their paths, as in `unknown field "spec.containers[0].imge"`.
[[nodiscard]] std::vector<std::string> prune(const Schema& schema, Value& value);

// Brings a built-in object to the form in which the real server, which holds it in Go structures, gives it back: no
// nulls but for times that are always shown, no zeros that Go leaves out, no empty optional lists and maps, quantities
// in canonical form ("1024Mi" is "1Gi", 1 is "1"), times in UTC.
void canonicalize(const Schema& schema, Value& value);

}  // namespace gantree::apiserver
