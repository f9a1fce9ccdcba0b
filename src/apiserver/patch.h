// The three kinds of patches that name a change; what is applied as a wish is in apply.h.
#pragma once

#include <string>

#include "apiserver/json.h"
#include "apiserver/schema.h"
#include "base/error.h"

namespace gantree::apiserver {

// RFC 6902. `document` is changed only if every operation succeeds. Errors: kInvalid where the patch is malformed (HTTP
// 400), kNotFound where it does not fit the document or a test fails (HTTP 422). At most kMaxPatchOperations operations
// (kLimit, HTTP 413).
inline constexpr std::size_t kMaxPatchOperations = 10000;
[[nodiscard]] Result<> json_patch(Value& document, const Value& patch);

// RFC 7386: null takes away, objects are merged, all else is put in place.
void merge_patch(Value& document, const Value& patch);
// A merge patch that turns `from` into `to`, where `to` has no nulls in objects.
[[nodiscard]] Value merge_diff(const Value& from, const Value& to);

// A strategic merge patch, by the schema's patch strategies and merge keys. kInvalid where the patch is malformed (HTTP
// 400). `document` may be left half changed where it fails.
[[nodiscard]] Result<> strategic_merge_patch(Value& document, const Value& patch, const Schema& schema);

}  // namespace gantree::apiserver
