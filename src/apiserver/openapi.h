// The server's description of itself: /openapi/v2, and /openapi/v3 with one document per group and version.
//
// Pure and slow (tens of milliseconds: the built-in schemas are read anew each time): callers keep what they got until
// a CRD changes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

// A kind of a CRD in one of its versions.
struct CustomKind {
  std::string group;
  std::string version;
  std::string kind;
  std::string list_kind;
  std::string plural;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  Value schema;  // openAPIV3Schema
};

// {"paths": {"apis/batch/v1": {"serverRelativeURL": ...}}}; the URLs change with what they lead to, as clients keep it.
[[nodiscard]] std::string openapi_v3_index(std::span<const CustomKind> custom);
// kNotFound where nothing of that group and version is served.
[[nodiscard]] Result<std::string> openapi_v3(std::string_view group, std::string_view version,
                                             std::span<const CustomKind> custom);
[[nodiscard]] Result<std::string> openapi_v2(std::span<const CustomKind> custom);

}  // namespace gantree::apiserver
