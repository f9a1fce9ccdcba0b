// The part of CEL in which CRDs write their rules (x-kubernetes-validations) and webhooks their matchConditions:
// fields, has(), comparisons, logic, arithmetic, lists and maps, the macros over them, optional values, and the
// functions of text, lists, times, quantities, addresses and URLs (cel_functions.h).
//
// Rules come from whoever may define kinds: parsing is bounded in depth, evaluation in what it costs (cel_cost.h). A
// program is only read once compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/cel_cost.h"
#include "apiserver/cel_functions.h"
#include "apiserver/json.h"
#include "apiserver/pattern.h"
#include "base/error.h"

namespace gantree::apiserver {

enum class CelKind : std::uint8_t {
  kLiteral,
  kName,
  kField,
  kHas,
  kIndex,
  kCall,
  kMacro,
  kList,
  kMap,
  kUnary,
  kBinary,
  kChoice
};

struct CelNode {
  CelKind kind = CelKind::kLiteral;
  std::string name;      // of a field, function, macro or operator
  std::string variable;  // of a macro
  Value literal;
  std::vector<CelNode> parts;  // of a call: the receiver first, where there is one
  bool optional = false;       // a field or index that may be missing: a.?b, a[?b]
  const CelFunction* function = nullptr;
  std::shared_ptr<const Pattern> pattern;  // of matches(), where it is written out and sound
};

class CelProgram {
 public:
  // Fails where the text is no CEL; with kNotFound where it has functions that are not known here.
  [[nodiscard]] static Result<std::shared_ptr<const CelProgram>> compile(std::string_view text);

  [[nodiscard]] bool uses_old_self() const { return uses_old_self_; }
  // `old_self` may be nullptr where the program does not use it. Fails in CEL's sense: "no such key: a". With `shared`,
  // the cost is taken from there too: it is what several evaluations may cost together.
  [[nodiscard]] Result<Value> evaluate(const Value& self, const Value* old_self, CelCost* shared = nullptr) const;
  // With other names than these two.
  [[nodiscard]] Result<Value> evaluate(std::span<const std::pair<std::string_view, const Value*>> names,
                                       CelCost* shared = nullptr) const;

 private:
  CelNode root_;
  bool uses_old_self_ = false;
};

}  // namespace gantree::apiserver
