// Label selectors over plain labels, as namespaceSelector uses them.
#pragma once

#include <string>
#include <vector>

#include "dialects/core/metadata.h"
#include "json/decode.h"

namespace gantree {

enum class LabelOperator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kIn;
  std::vector<std::string> values;

  [[nodiscard]] bool holds(const LabelMap& labels) const;
};

// All requirements must hold; with none it matches everything.
using LabelSelector = std::vector<LabelRequirement>;

[[nodiscard]] bool matches(const LabelSelector& selector, const LabelMap& labels);
[[nodiscard]] LabelSelector read_label_selector(json::Reader& read, json::Value parent, std::string_view key);

// Whether the API server would take it as the value of a label.
[[nodiscard]] bool is_label_value(std::string_view value);
// Complains about labels that no object can have.
void check_labels(json::Reader& read, json::Value labels);
// Complains about what makes no sense in a selector that was read: such labels, and values that an operator needs or
// must not have.
void check_label_selector(json::Reader& read, json::Value selector);

}  // namespace gantree
