#include "apiserver/cel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>

#include "apiserver/cel_parse.h"

namespace gantree::apiserver {

namespace {

// What one evaluation may cost.
constexpr std::size_t kMaxCost = 2'000'000;
// A pattern that is not known beforehand has to be read each time.
constexpr std::size_t kCompilation = 5'000;

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
  static tl::unexpected<Error> no_overload() { return invalid("no such overload"); }
  static tl::unexpected<Error> too_dear() { return fail(Errc::kLimit, "the rule takes too long"); }

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
    return found == names_.rend() ? Got(invalid(fmt::format("undeclared reference to '{}'", wanted)))
                                  : Got(found->second);
  }

  Got field(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    if (!parent) {
      return parent;
    }
    const Value* value = (*parent)->is_object() ? (*parent)->get_object().if_contains(node.name) : nullptr;
    return value == nullptr ? Got(invalid("no such key: " + node.name)) : Got(value);
  }

  Got has(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    if (!parent) {
      return parent;
    }
    return keep((*parent)->is_object() && (*parent)->get_object().if_contains(node.name) != nullptr);
  }

  Got index(const CelNode& node) {
    const Got parent = eval(node.parts[0]);
    const Got key = parent ? eval(node.parts[1]) : parent;
    if (!key) {
      return key;
    }
    if (const Object* object = (*parent)->if_object(); object != nullptr && (*key)->is_string()) {
      const Value* value = cost_.pay_text(text_of(**key)) ? object->if_contains(text_of(**key)) : nullptr;
      return cost_.spent()      ? Got(too_dear())
             : value == nullptr ? Got(invalid("no such key: " + std::string(text_of(**key))))
                                : Got(value);
    }
    const Array* array = (*parent)->if_array();
    if (array == nullptr || !(*key)->is_int64()) {
      return no_overload();
    }
    const std::int64_t at = (*key)->get_int64();
    if (at < 0 || at >= static_cast<std::int64_t>(array->size())) {
      return invalid(fmt::format("index out of bounds: {}", at));
    }
    return &(*array)[static_cast<std::size_t>(at)];
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
      return keep(same(**left, **right) == (node.name == "=="));
    }
    // All that is done with them is done once.
    if (!cost_.pay_value(**right) || (node.name == "+" && !cost_.pay_value(**left))) {
      return too_dear();
    }
    if (node.name == "in") {
      return contains(**right, **left);
    }
    if ((*left)->is_string() && (*right)->is_string()) {
      return texts(node.name, text_of(**left), text_of(**right));
    }
    if (node.name == "+" && (*left)->is_array() && (*right)->is_array()) {
      Array joined = (*left)->get_array();
      joined.insert(joined.end(), (*right)->get_array().begin(), (*right)->get_array().end());
      return keep(std::move(joined));
    }
    if (!(*left)->is_number() || !(*right)->is_number()) {
      return no_overload();
    }
    return (*left)->is_int64() && (*right)->is_int64()
               ? integers(node.name, (*left)->get_int64(), (*right)->get_int64())
               : doubles(node.name, (*left)->to_number<double>(), (*right)->to_number<double>());
  }

  Got contains(const Value& where, const Value& what) {
    if (const Object* object = where.if_object(); object != nullptr) {
      return keep(what.is_string() && object->if_contains(text_of(what)) != nullptr);
    }
    const Array* array = where.if_array();
    if (array == nullptr) {
      return no_overload();
    }
    return keep(std::any_of(array->begin(), array->end(), [&](const Value& item) { return same(item, what); }));
  }

  template <class T>
  static std::optional<bool> compared(std::string_view relation, const T& a, const T& b) {
    if (relation == "<") {
      return a < b;
    }
    if (relation == "<=") {
      return a <= b;
    }
    if (relation == ">") {
      return a > b;
    }
    return relation == ">=" ? std::optional(a >= b) : std::nullopt;
  }

  Got texts(std::string_view relation, std::string_view a, std::string_view b) {
    if (relation == "+") {
      return keep(Value(std::string(a) + std::string(b)));
    }
    const auto result = compared(relation, a, b);
    return result ? keep(*result) : Got(no_overload());
  }

  Got integers(std::string_view relation, std::int64_t a, std::int64_t b) {
    if (const auto result = compared(relation, a, b)) {
      return keep(*result);
    }
    std::int64_t result = 0;
    const bool divides = relation == "/" || relation == "%";
    if (divides && b == 0) {
      return invalid("division by zero");
    }
    const bool overflow = relation == "+"   ? __builtin_add_overflow(a, b, &result)
                          : relation == "-" ? __builtin_sub_overflow(a, b, &result)
                          : relation == "*" ? __builtin_mul_overflow(a, b, &result)
                                            : a == std::numeric_limits<std::int64_t>::min() && b == -1;
    if (overflow) {
      return invalid("integer overflow");
    }
    return keep(relation == "/" ? a / b : relation == "%" ? a % b : result);
  }

  Got doubles(std::string_view relation, double a, double b) {
    if (const auto result = compared(relation, a, b)) {
      return keep(*result);
    }
    if (relation == "%") {
      return no_overload();
    }
    return keep(relation == "+" ? a + b : relation == "-" ? a - b : relation == "*" ? a * b : a / b);
  }

  Got macro(const CelNode& node) {
    const Got range = eval(node.parts[0]);
    if (!range) {
      return range;
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

  Got over_items(const CelNode& node, const Array& items) {
    const bool transforms = node.name == "map";
    const bool collects = transforms || node.name == "filter";
    Array collected;
    std::size_t held = 0;
    std::optional<Error> trouble;
    for (const Value& item : items) {
      names_.emplace_back(node.variable, &item);
      Got got = eval(node.parts[1]);
      names_.pop_back();
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
    const Value& first = *arguments[0];
    if (node.name == "size") {
      return size(first);
    }
    if (node.name == "int" || node.name == "double" || node.name == "string") {
      return converted(node.name, first);
    }
    if (node.name == "isSorted" && first.is_array()) {
      const Array& array = first.get_array();
      return keep(std::is_sorted(array.begin(), array.end(), [](const Value& a, const Value& b) {
        return a.is_number() && b.is_number() ? a.to_number<double>() < b.to_number<double>() : text_of(a) < text_of(b);
      }));
    }
    if (node.name == "join" && first.is_array()) {
      return joined(first.get_array(), arguments.size() > 1 ? text_of(*arguments[1]) : "");
    }
    if (!first.is_string() || (arguments.size() > 1 && !arguments[1]->is_string())) {
      return no_overload();
    }
    const std::string_view second = arguments.size() > 1 ? text_of(*arguments[1]) : std::string_view();
    return node.name == "matches" ? matches(node, text_of(first), second) : on_text(node.name, text_of(first), second);
  }

  Got size(const Value& value) {
    if (value.is_string()) {
      const std::string_view text = text_of(value);
      return keep(std::count_if(text.begin(), text.end(),
                                [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    }
    if (!value.is_array() && !value.is_object()) {
      return no_overload();
    }
    return keep(static_cast<std::int64_t>(value.is_array() ? value.get_array().size() : value.get_object().size()));
  }

  Got converted(std::string_view to, const Value& value) {
    if (to == "string") {
      return keep(Value(value.is_string() ? std::string(text_of(value)) : to_json(value)));
    }
    double number = 0;
    if (value.is_number()) {
      number = value.to_number<double>();
    } else {
      const std::string_view text = text_of(value);
      const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
      if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
        return invalid("type conversion error");
      }
    }
    if (to == "double") {
      return keep(number);
    }
    if (value.is_int64()) {
      return &made_.emplace_back(value);
    }
    return std::abs(number) < 9.2e18 ? keep(static_cast<std::int64_t>(number)) : Got(invalid("integer overflow"));
  }

  Got joined(const Array& array, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (!cost_.pay_text(between)) {
        return too_dear();
      }
      text += i == 0 ? "" : between;
      text += text_of(array[i]);
    }
    return keep(Value(text));
  }

  Got matches(const CelNode& node, std::string_view text, std::string_view expression) {
    if (node.pattern != nullptr) {
      return keep(node.pattern->matches(text));
    }
    if (!cost_.pay(kCompilation)) {
      return too_dear();
    }
    const auto pattern = Pattern::compile(expression);
    return pattern ? keep((*pattern)->matches(text)) : Got(tl::unexpected(pattern.error()));
  }

  Got on_text(std::string_view function, std::string_view text, std::string_view other) {
    if (!cost_.pay_search(text, other)) {
      return too_dear();
    }
    if (function == "startsWith") {
      return keep(text.starts_with(other));
    }
    if (function == "endsWith") {
      return keep(text.ends_with(other));
    }
    if (function == "contains") {
      return keep(text.find(other) != std::string_view::npos);
    }
    if (function == "lowerAscii") {
      std::string lower(text);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
      return keep(Value(lower));
    }
    if (function != "split" || other.empty()) {
      return no_overload();
    }
    Array parts;
    for (std::size_t end = text.find(other); end != std::string_view::npos; end = text.find(other)) {
      if (!cost_.pay(1)) {
        return too_dear();
      }
      parts.push_back(Value(text.substr(0, end)));
      text.remove_prefix(end + other.size());
    }
    parts.push_back(Value(text));
    return keep(std::move(parts));
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
