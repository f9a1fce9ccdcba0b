// Any document and any patch: no crash; a refused JSON patch leaves the document alone; a merge patch made from a
// difference gives the other side; applying twice is as applying once.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/apply.h"
#include "apiserver/patch.h"
#include "base/check.h"

namespace {

using namespace gantree::apiserver;

constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}},
  "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"x-kubernetes-patch-merge-key":"k",
       "x-kubernetes-patch-strategy":"merge","items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string"}}}},
  "s":{"type":"array","x-kubernetes-list-type":"set","x-kubernetes-patch-strategy":"merge","items":{"type":"string"}},
  "a":{"type":"object","x-kubernetes-map-type":"atomic"}}})";

bool has_null_member(const Value& value) {
  if (const Array* array = value.if_array(); array != nullptr) {
    return false;
  }
  if (const Object* object = value.if_object(); object != nullptr) {
    for (const auto& member : *object) {
      if (member.value().is_null() || has_null_member(member.value())) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\n');
  if (split == std::string_view::npos || size > 20000) {
    return 0;
  }
  const auto document = parse_json(text.substr(0, split));
  const auto patch = parse_json(text.substr(split + 1));
  if (!document || !patch) {
    return 0;
  }
  Value patched = *document;
  if (!json_patch(patched, *patch)) {
    GANTREE_CHECK(same(patched, *document));
  }
  Value merged = *document;
  merge_patch(merged, *patch);
  if (!has_null_member(*patch)) {
    Value turned = *document;
    merge_patch(turned, merge_diff(turned, *patch));
    GANTREE_CHECK(same(turned, *patch));
  }
  SchemaSet set(SchemaSet::Dialect::kBuiltIn);
  const auto schema_text = parse_json(kSchema);
  const auto schema = set.define("Thing", *schema_text);
  Value strategic = *document;
  (void)strategic_merge_patch(strategic, *patch, **schema);
  FieldManager writer{.name = "a",
                      .api_version = "v1",
                      .subresource = {},
                      .time = "2026-01-01T00:00:00Z",
                      .status_apart = false,
                      .built_in = false};
  if (!document->is_object() || !patch->is_object()) {
    return 0;
  }
  const auto once = apply(**schema, &*document, *patch, writer, true);
  if (once) {
    const auto twice = apply(**schema, &*once, *patch, writer, false);
    GANTREE_CHECK(twice && same(*once, *twice));
  }
  Value tracked = *patch;
  track_update(**schema, &*document, tracked, writer);
  return 0;
}
