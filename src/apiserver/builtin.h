// Kubernetes' own kinds, as far as the embedded server serves them: how they are named and addressed, and their
// schemas.
//
// The schemas come from the OpenAPI documents of Kubernetes itself (scripts/make-builtin-schemas, at build time). All
// is only read once loaded, by any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/schema.h"
#include "base/error.h"

namespace gantree::apiserver {

// Something under an object: "status", "scale", "binding".
struct Subresource {
  std::string_view name;
  std::string_view group;  // of what is sent and given back
  std::string_view version;
  std::string_view kind;
  std::string_view verbs;  // "get,patch,update", as discovery lists them
};

struct BuiltinKind {
  std::string_view group;  // "" is core
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  bool namespaced = true;
  std::string_view short_names;   // "po" or "a,b"; empty: none
  std::string_view categories;    // "all"
  std::string_view subresources;  // names, joined by commas
  std::string_view schema;        // its name in the schemas

  // Lower case of the kind.
  [[nodiscard]] std::string singular() const;
  // "create,delete,...", as discovery lists them.
  [[nodiscard]] std::string_view verbs() const;
};

[[nodiscard]] std::span<const BuiltinKind> builtin_kinds();
[[nodiscard]] const BuiltinKind* find_builtin(std::string_view group, std::string_view version, std::string_view kind);
// What a subresource of a built-in or custom kind takes; `owner` is the kind it belongs to (status gives back that).
[[nodiscard]] Subresource subresource_of(const BuiltinKind& owner, std::string_view name);

// The embedded document: an object of OpenAPI v3 schemas by name.
[[nodiscard]] std::string_view builtin_schema_text();

class BuiltinSchemas {
 public:
  // Reads the embedded document; fails only where the build is broken.
  [[nodiscard]] static Result<std::unique_ptr<BuiltinSchemas>> load();

  // nullptr for what is not built in. Also kinds that are only sent: Scale, Eviction, Binding, DeleteOptions.
  [[nodiscard]] const Schema* find(std::string_view group, std::string_view version, std::string_view kind) const;
  [[nodiscard]] const Schema* find_name(std::string_view name) const { return set_.find(name); }
  [[nodiscard]] const Schema& object_meta() const { return *object_meta_; }

 private:
  BuiltinSchemas() : set_(SchemaSet::Dialect::kBuiltIn) {}
  SchemaSet set_;
  const Schema* object_meta_ = nullptr;
};

}  // namespace gantree::apiserver
