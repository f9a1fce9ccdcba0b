// The part of JSONPath that printer columns use: .a.b, ['a.b'], [0], [*], [?(@.type=="Ready")].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

class JsonPath {
 public:
  [[nodiscard]] static Result<JsonPath> parse(std::string_view text);
  // The first value it leads to; nullptr where there is none.
  [[nodiscard]] const Value* first(const Value& root) const;

 private:
  enum class StepKind : unsigned char { kField, kIndex, kAll, kFilter };
  struct Step {
    StepKind kind = StepKind::kField;
    std::string name;        // of a field; in a filter, of the member compared
    std::string text;        // what a filter compares with
    std::int64_t index = 0;  // from the end where negative
  };
  [[nodiscard]] Result<std::string_view> parse_bracket(std::string_view text);
  [[nodiscard]] const Value* walk(const Value& value, std::size_t step) const;
  std::vector<Step> steps_;
};

}  // namespace gantree::apiserver
