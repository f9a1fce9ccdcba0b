// API objects as they stand in the input, whatever family they belong to.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/decode.h"
#include "json/value.h"

namespace gantree {

// One API object. Views and values point into the documents it was read from.
struct Object {
  std::string_view file;
  std::string_view group;  // "" for the core group
  std::string_view version;
  std::string_view kind;
  json::Value value;

  [[nodiscard]] json::Value metadata() const { return value["metadata"]; }
  [[nodiscard]] json::Place place() const { return {file, value.line()}; }
};

// A kind that a dialect reads, in the versions that it understands.
struct ApiKind {
  std::string_view group;
  std::string_view kind;
  std::vector<std::string_view> versions;
  bool namespaced = true;
};

// An object by its name, which is generated where the input has only generateName.
struct NamedObject {
  const Object& object;
  std::string_view ns;  // "" where the kind is not namespaced
  std::string_view name;
};

// Calls `take` for every object of the documents, in order. `List` kinds (also NodeList and its
// like, whose items need not repeat their kind) are taken apart. Fails where something is no
// object or has no kind or apiVersion, and where `take` does.
[[nodiscard]] Result<> for_each_object(const std::vector<json::Document>& documents,
                                       const std::function<Result<>(const Object&)>& take);

}  // namespace gantree
