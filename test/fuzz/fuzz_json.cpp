// The strict JSON parser takes exactly what simdjson's own document model
// takes: walking on demand must not let anything malformed through.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "json/builder.h"
#include "json/read_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::json;
  Storage storage(size);
  storage.source.assign(reinterpret_cast<const char*>(data), size);
  storage.source.append(JsonParser::kPadding, '\0');
  const std::string_view text(storage.source.data(), size);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) {
    return 0;
  }
  Builder builder("f", storage);
  JsonParser parser(builder, storage);
  const JsonParser::Parsed parsed = parser.parse(text, 1);
  simdjson::dom::parser model;
  const auto error = model.parse(storage.source.data(), size, false).error();
  // Numbers beyond 64 bits are text to us. Nesting and duplicate keys are our
  // own rules.
  if (parsed.outcome == JsonOutcome::kRead && parsed.used == size) {
    GANTREE_CHECK(error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR);
  }
  if (error == simdjson::SUCCESS) {
    GANTREE_CHECK(parsed.outcome != JsonOutcome::kNotJson);
  }
  return 0;
}
