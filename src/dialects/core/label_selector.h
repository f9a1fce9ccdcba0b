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

}  // namespace gantree
