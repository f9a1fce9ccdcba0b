// Label and field selectors: the text of a query, read once and asked often. Pure values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

// Name and value, sorted by name.
using Pairs = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] const std::string* find_pair(const Pairs& pairs, std::string_view name);
// The members of an object that are text.
[[nodiscard]] Pairs pairs_of(const Object* object);

struct Requirement {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;  // kIn also stands for =, kNotIn for !=
};

class LabelSelector {
 public:
  // "a=b,c in (d,e),!f". "" selects all.
  [[nodiscard]] static Result<LabelSelector> parse(std::string_view text);
  // metav1.LabelSelector: matchLabels and matchExpressions. {} selects all, null nothing.
  [[nodiscard]] static Result<LabelSelector> from_object(const Value* selector);

  [[nodiscard]] bool all() const { return requirements_.empty() && !nothing_; }
  [[nodiscard]] bool matches(const Pairs& labels) const;
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

class FieldSelector {
 public:
  struct Term {
    std::string field;
    std::string value;
    bool equal = true;
  };
  // "metadata.name=a,status.phase!=Running". "" selects all. Which fields there are is not looked at.
  [[nodiscard]] static Result<FieldSelector> parse(std::string_view text);

  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  // The value that a field must have; nullptr where it may have several.
  [[nodiscard]] const std::string* exact(std::string_view field) const;

 private:
  std::vector<Term> terms_;
};

}  // namespace gantree::apiserver
