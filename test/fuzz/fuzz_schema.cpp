// Any schema and any object: reading, validating, pruning and filling in neither crash nor run on, pruning is final,
// and what was pruned has nothing unknown left.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/schema.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::apiserver;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = text.find('\n');
  if (split == std::string_view::npos || size > 20000) {
    return 0;
  }
  const auto openapi = parse_json(text.substr(0, split));
  const auto object = parse_json(text.substr(split + 1));
  if (!openapi || !object) {
    return 0;
  }
  for (const auto dialect : {SchemaSet::Dialect::kCustom, SchemaSet::Dialect::kBuiltIn}) {
    SchemaSet set(dialect);
    const auto schema = define_custom(set, *openapi, nullptr);
    if (!schema) {
      continue;
    }
    Value value = *object;
    (void)validate_object(**schema, value, &*object);
    (void)decode_error(**schema, value);
    (void)prune(**schema, value);
    GANTREE_CHECK(prune(**schema, value).empty());
    set_defaults(**schema, value);
    canonicalize(**schema, value);
    const Value once = value;
    canonicalize(**schema, value);
    GANTREE_CHECK(same(once, value));
  }
  return 0;
}
