#include "apiserver/cel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>

#include "apiserver/cel_operators.h"
#include "apiserver/cel_parse.h"
#include "apiserver/cel_special.h"

namespace gantree::apiserver {

namespace {

// What one evaluation may cost.
constexpr std::size_t kMaxCost = 2'000'000;
constexpr auto kTypeNames =
    std::to_array<std::string_view>({"bool", "int", "uint", "double", "string", "list", "map", "null_type", "type"});

bool names_old_self(const CelNode& node) {
  return (node.kind == CelKind::kName && node.name == "oldSelf") ||
         std::any_of(node.parts.begin(), node.parts.end(), names_old_self);
}

// Values are borrowed from the object or from the evaluation, which keeps what it makes until its end.
class Evaluation {
 public:
  using Got = Result<const Value*>;

  Evaluation(std::span<const std::pair<std::string_view, const Value*>> names, std::size_t cost)
      : names_(names.begin(), names.end()), cost_(cost) {}

  [[nodiscard]] std::size_t left() const { return cost_.left(); }

  Got eval(const CelNode& node) {
    if (!cost_.pay(1)) {
      return too_dear();
    }
    switch (node.kind) {
      case CelKind::kLiteral:
        return &node.literal;
      case CelKind::kName:
        return name(node.name);
      case CelKind::kField:
        return field(node);
      case CelKind::kHas:
        return has(node);
      case CelKind::kIndex:
        return index(node);
      case CelKind::kCall:
        return call(node);
      case CelKind::kMacro:
        return macro(node);
      case CelKind::kList:
        return list(node);
      case CelKind::kMap:
        return map(node);
      case CelKind::kUnary:
        return unary(node);
      case CelKind::kBinary:
        return binary(node);
      case CelKind::kChoice:
        break;
    }
    const auto condition = truth(node.parts[0]);
    return condition ? eval(node.parts[*condition ? 1 : 2]) : Got(tl::unexpected(condition.error()));
  }

 private:
  template <class T>
  Got keep(T&& value) {
    return &made_.emplace_back(std::forward<T>(value));
  }

  Result<bool> truth(const CelNode& node) {
    const Got value = eval(node);
    if (!value) {
      return tl::unexpected(value.error());
    }
    return (*value)->is_bool() ? Result<bool>((*value)->get_bool()) : Result<bool>(no_overload());
  }

  Got name(std::string_view wanted) {
    const auto found =
        std::find_if(names_.rbegin(), names_.rend(), [&](const auto& one) { return one.first == wanted; });
    if (found != names_.rend()) {
      return found->second;
    }
    if (std::find(kTypeNames.begin(), kTypeNames.end(), wanted) != kTypeNames.end()) {
      return keep(special(Special::kType, Value(wanted == "uint" ? "int" : wanted)));
    }
    return invalid(fmt::format("undeclared reference to '{}'", wanted));
  }

  // Where something may be missing, what is found in it may be, too.
  static bool may_miss(const CelNode& node, const Value& parent) {
    return node.optional || special_of(parent, Special::kOptional) != nullptr;
  }
  static const Value* inner_of(const Value& parent) {
    return special_of(parent, Special::kOptional) != nullptr ? value_in(parent) : &parent;
  }
  Got kept_optional(const Value* value) {
    if (value != nullptr && !cost_.pay_value(*value)) {
      return too_dear();
    }
    return keep(optional_value(value));
  }

  Got field(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    if (!parent) {
      return parent;
    }
    const Value* inner = inner_of(**parent);
    const Value* value = inner != nullptr && inner->is_object() ? inner->get_object().if_contains(node.name) : nullptr;
    if (may_miss(node, **parent)) {
      return kept_optional(value);
    }
    return value == nullptr ? Got(invalid("no such key: " + node.name)) : Got(value);
  }

  Got has(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    if (!parent) {
      return parent;
    }
    const Value* inner = inner_of(**parent);
    return keep(inner != nullptr && inner->is_object() && inner->get_object().if_contains(node.name) != nullptr);
  }

  Got index(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    const Got key = parent ? eval(node.parts[1]) : parent;
    if (!key) {
      return key;
    }
    const Value* inner = inner_of(**parent);
    const Got value = inner == nullptr ? Got(nullptr) : item(*inner, **key);
    if (!value) {
      return value;
    }
    if (may_miss(node, **parent)) {
      return kept_optional(*value);
    }
    if (*value != nullptr) {
      return value;
    }
    return (*key)->is_string() ? invalid("no such key: " + std::string(text_of(**key)))
                               : invalid(fmt::format("index out of bounds: {}", (*key)->get_int64()));
  }

  // nullptr where there is none of that key or index.
  Got item(const Value& parent, const Value& key) {
    if (const Object* object = parent.if_object(); object != nullptr && key.is_string()) {
      return cost_.pay_text(text_of(key)) ? Got(object->if_contains(text_of(key))) : Got(too_dear());
    }
    const Array* array = parent.if_array();
    if (array == nullptr || !key.is_int64()) {
      return no_overload();
    }
    const std::int64_t at = key.get_int64();
    const bool there = at >= 0 && at < static_cast<std::int64_t>(array->size());
    return there ? Got(&(*array)[static_cast<std::size_t>(at)]) : Got(nullptr);
  }

  Got list(const CelNode& node) {
    Array array;
    for (const CelNode& part : node.parts) {
      const Got item = eval(part);
      if (!item) {
        return item;
      }
      if (!cost_.pay_value(**item)) {
        return too_dear();
      }
      array.push_back(**item);
    }
    return keep(std::move(array));
  }

  Got map(const CelNode& node) {
    Object object;
    for (std::size_t i = 0; i + 1 < node.parts.size(); i += 2) {
      const Got key = eval(node.parts[i]);
      const Got value = key ? eval(node.parts[i + 1]) : key;
      if (!value) {
        return value;
      }
      if (!cost_.pay_value(**key) || !cost_.pay_value(**value)) {
        return too_dear();
      }
      object[(*key)->is_string() ? std::string(text_of(**key)) : to_json(**key)] = **value;
    }
    return keep(std::move(object));
  }

  Got unary(const CelNode& node) {
    const Got inner = eval(node.parts[0]);
    if (!inner) {
      return inner;
    }
    if (node.name == "!" && (*inner)->is_bool()) {
      return keep(!(*inner)->get_bool());
    }
    if (node.name == "-" && (*inner)->is_int64() && (*inner)->get_int64() != std::numeric_limits<std::int64_t>::min()) {
      return keep(-(*inner)->get_int64());
    }
    if (node.name == "-" && (*inner)->is_double()) {
      return keep(-(*inner)->get_double());
    }
    return no_overload();
  }

  // One side may decide alone, even where the other fails.
  Got logic(const CelNode& node) {
    const bool deciding = node.name == "||";
    const auto left = truth(node.parts[0]);
    if (left && *left == deciding) {
      return keep(deciding);
    }
    const auto right = truth(node.parts[1]);
    if (right && *right == deciding) {
      return keep(deciding);
    }
    if (!left || !right) {
      return tl::unexpected(!left ? left.error() : right.error());
    }
    return keep(!deciding);
  }

  Got binary(const CelNode& node) {
    if (node.name == "||" || node.name == "&&") {
      return logic(node);
    }
    const Got left = eval(node.parts[0]);
    const Got right = left ? eval(node.parts[1]) : left;
    if (!right) {
      return right;
    }
    if (node.name == "==" || node.name == "!=") {
      if (!cost_.pay_comparison(**left, **right)) {
        return too_dear();
      }
      return keep(equal(**left, **right) == (node.name == "=="));
    }
    // All that is done with them is done once.
    if (!cost_.pay_value(**right) || (node.name == "+" && !cost_.pay_value(**left))) {
      return too_dear();
    }
    auto result = operate(node.name, **left, **right);
    return result ? keep(std::move(*result)) : Got(tl::unexpected(result.error()));
  }

  Got macro(const CelNode& node) {
    const Got range = eval(node.parts[0]);
    if (!range) {
      return range;
    }
    if (node.name == "optMap" || node.name == "optFlatMap") {
      return within_optional(node, **range);
    }
    Array keys;
    const Array* items = (*range)->if_array();
    if (const Object* object = (*range)->if_object(); object != nullptr) {
      for (const auto& member : *object) {
        if (!cost_.pay_text(member.key())) {
          return too_dear();
        }
        keys.push_back(Value(member.key()));
      }
      items = &keys;
    }
    if (items == nullptr) {
      return no_overload();
    }
    return over_items(node, *items);
  }

  Got with_name(const CelNode& node, const Value* value) {
    names_.emplace_back(node.variable, value);
    Got got = eval(node.parts[1]);
    names_.pop_back();
    return got;
  }

  Got within_optional(const CelNode& node, const Value& optional) {
    if (special_of(optional, Special::kOptional) == nullptr) {
      return no_overload();
    }
    const Value* inner = value_in(optional);
    const Got got = inner == nullptr ? kept_optional(nullptr) : with_name(node, inner);
    return inner == nullptr || !got || node.name == "optFlatMap" ? got : kept_optional(*got);
  }

  // What of an item counts: whether it is wanted, or what is made of it. Nothing where map() passes it over.
  std::optional<Got> judged(const CelNode& node, const Value& item) {
    names_.emplace_back(node.variable, &item);
    std::optional<Got> got;
    if (node.parts.size() > 2) {
      const auto wanted = truth(node.parts[2]);
      if (!wanted) {
        got = tl::unexpected(wanted.error());
      }
      if (got || !*wanted) {
        names_.pop_back();
        return got;
      }
    }
    got = eval(node.parts[1]);
    names_.pop_back();
    return got;
  }

  Got over_items(const CelNode& node, const Array& items) {
    const bool transforms = node.name == "map";
    const bool collects = transforms || node.name == "filter";
    Array collected;
    std::size_t held = 0;
    std::optional<Error> trouble;
    for (const Value& item : items) {
      const auto judgement = judged(node, item);
      if (!judgement) {
        continue;
      }
      Got got = *judgement;
      if (got && !transforms && !(*got)->is_bool()) {
        got = no_overload();
      }
      if (cost_.spent()) {
        return too_dear();
      }
      if (!got) {
        trouble = got.error();
        continue;
      }
      if (transforms || (*got)->get_bool()) {
        const Value& kept = transforms ? **got : item;
        ++held;
        if (collects && !cost_.pay_value(kept)) {
          return too_dear();
        }
        if (collects) {
          collected.push_back(kept);
        }
      }
      // Enough is known, whatever else fails.
      if (!transforms && ((node.name == "all" && !(*got)->get_bool()) || (node.name == "exists" && held > 0))) {
        return keep(node.name == "exists");
      }
    }
    if (trouble) {
      return tl::unexpected(*trouble);
    }
    if (collects) {
      return keep(std::move(collected));
    }
    return keep(node.name == "all" || (node.name == "exists_one" && held == 1));
  }

  Got call(const CelNode& node) {
    std::vector<const Value*> arguments;
    for (const CelNode& part : node.parts) {
      const Got argument = eval(part);
      if (!argument) {
        return argument;
      }
      arguments.push_back(*argument);
      // The size of a list or map is known.
      const bool is_known = node.name == "size" && !(*argument)->is_string();
      if (!is_known && !cost_.pay_value(**argument)) {
        return too_dear();
      }
    }
    if (node.pattern != nullptr && arguments[0]->is_string()) {
      return keep(node.pattern->matches(text_of(*arguments[0])));
    }
    auto result = node.function->apply(arguments, cost_);
    if (!result) {
      return tl::unexpected(result.error());
    }
    return keep(std::move(*result));
  }

  std::vector<std::pair<std::string_view, const Value*>> names_;
  std::deque<Value> made_;
  CelCost cost_;
};

}  // namespace

Result<std::shared_ptr<const CelProgram>> CelProgram::compile(std::string_view text) {
  auto root = parse_cel(text);
  if (!root) {
    return tl::unexpected(root.error());
  }
  auto program = std::make_shared<CelProgram>();
  program->uses_old_self_ = names_old_self(*root);
  program->root_ = std::move(*root);
  return std::shared_ptr<const CelProgram>(std::move(program));
}

Result<Value> CelProgram::evaluate(const Value& self, const Value* old_self, CelCost* shared) const {
  const std::array<std::pair<std::string_view, const Value*>, 2> names = {{{"self", &self}, {"oldSelf", old_self}}};
  return evaluate(std::span(names).first(old_self == nullptr ? 1 : 2), shared);
}

Result<Value> CelProgram::evaluate(std::span<const std::pair<std::string_view, const Value*>> names,
                                   CelCost* shared) const {
  const std::size_t most = shared == nullptr ? kMaxCost : std::min(kMaxCost, shared->left());
  Evaluation evaluation(names, most);
  const auto value = evaluation.eval(root_);
  if (shared != nullptr) {
    (void)shared->pay(most - evaluation.left());
  }
  if (!value) {
    return tl::unexpected(value.error());
  }
  return **value;
}

}  // namespace gantree::apiserver
