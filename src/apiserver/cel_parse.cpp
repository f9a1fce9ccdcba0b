#include "apiserver/cel_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace gantree::apiserver {

namespace {

constexpr std::size_t kMaxLength = 100'000;
constexpr int kMaxNesting = 60;
// Evaluation goes as deep as chains are long.
constexpr int kMaxSteps = 1000;

constexpr auto kMacros =
    std::to_array<std::string_view>({"all", "exists", "exists_one", "filter", "map", "optMap", "optFlatMap"});
// Weakest first; all bind to the left.
constexpr auto kOperators = std::to_array<std::array<std::string_view, 7>>({
    {"||"},
    {"&&"},
    {"==", "!=", "<=", ">=", "<", ">", "in"},
    {"+", "-"},
    {"*", "/", "%"},
});

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Fields whose names are no CEL names are written with their odd characters spelled out.
std::string plain_name(std::string_view name) {
  static constexpr auto kSpelled = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"__underscores__", "__"}, {"__dot__", "."}, {"__dash__", "-"}, {"__slash__", "/"}});
  std::string plain;
  for (std::size_t i = 0; i < name.size();) {
    const auto spelled = std::find_if(kSpelled.begin(), kSpelled.end(),
                                      [&](const auto& one) { return name.substr(i).starts_with(one.first); });
    plain += spelled == kSpelled.end() ? name.substr(i, 1) : spelled->second;
    i += spelled == kSpelled.end() ? 1 : spelled->first.size();
  }
  const bool keyword = plain.size() > 4 && plain.starts_with("__") && plain.ends_with("__");
  return keyword ? plain.substr(2, plain.size() - 4) : plain;
}

class CelParser {
 public:
  explicit CelParser(std::string_view text) : text_(text) {}

  Result<CelNode> parse() {
    auto whole = choice();
    skip_blanks();
    if (whole && at_ != text_.size()) {
      return complain("the end");
    }
    return whole;
  }

 private:
  tl::unexpected<Error> complain(std::string_view expected) const {
    return invalid(fmt::format("\"{}\": {} is expected at character {}", text_, expected, at_ + 1));
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      ++at_;
    }
  }
  bool next_is(std::string_view token) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    const bool word = is_name_start(token[0]);
    return rest.starts_with(token) && (!word || rest.size() == token.size() || !is_name_part(rest[token.size()]));
  }
  bool take(std::string_view token) {
    const bool there = next_is(token);
    at_ += there ? token.size() : 0;
    return there;
  }

  Result<CelNode> choice() {
    if (++nesting_ > kMaxNesting) {
      return fail(Errc::kLimit, "the expression is nested too deep");
    }
    auto condition = binary(0);
    if (condition && take("?")) {
      auto yes = choice();
      if (yes && !take(":")) {
        return complain("\":\"");
      }
      auto no = yes ? choice() : yes;
      if (!no) {
        return no;
      }
      CelNode node;
      node.kind = CelKind::kChoice;
      node.parts = {std::move(*condition), std::move(*yes), std::move(*no)};
      condition = std::move(node);
    }
    --nesting_;
    return condition;
  }

  std::string_view operator_of(std::size_t level) {
    for (const std::string_view name : kOperators[level]) {
      if (!name.empty() && take(name)) {
        return name;
      }
    }
    return {};
  }

  Result<CelNode> binary(std::size_t level) {
    if (level == kOperators.size()) {
      return unary();
    }
    auto left = binary(level + 1);
    while (left) {
      const std::string_view name = operator_of(level);
      if (name.empty()) {
        break;
      }
      auto right = binary(level + 1);
      if (!right) {
        return right;
      }
      CelNode node;
      node.kind = CelKind::kBinary;
      node.name = name;
      node.parts = {std::move(*left), std::move(*right)};
      left = std::move(node);
    }
    return left;
  }

  Result<CelNode> unary() {
    std::string signs;
    while (next_is("!") || next_is("-")) {
      if (++steps_ > kMaxSteps) {
        return fail(Errc::kLimit, "the expression is too long");
      }
      signs += text_[at_++];
    }
    auto inner = primary();
    for (; inner && !signs.empty(); signs.pop_back()) {
      CelNode node;
      node.kind = CelKind::kUnary;
      node.name = signs.back();
      node.parts.push_back(std::move(*inner));
      inner = std::move(node);
    }
    return inner;
  }

  Result<CelNode> primary() {
    auto node = atom();
    while (node) {
      if (++steps_ > kMaxSteps) {
        return fail(Errc::kLimit, "the expression is too long");
      }
      if (take(".")) {
        const bool optional = take("?");
        node = member(std::move(*node), optional);
      } else if (take("[")) {
        const bool optional = take("?");
        auto index = choice();
        if (!index) {
          return index;
        }
        if (!take("]")) {
          return complain("\"]\"");
        }
        CelNode step;
        step.kind = CelKind::kIndex;
        step.parts = {std::move(*node), std::move(*index)};
        step.optional = optional;
        node = std::move(step);
      } else {
        break;
      }
    }
    return node;
  }

  std::string name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (at_ == begin ? is_name_start(text_[at_]) : is_name_part(text_[at_]))) {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<CelNode> member(CelNode receiver, bool optional) {
    const std::string field = name();
    if (field.empty()) {
      return complain("the name of a field");
    }
    if (take("(")) {
      return call(field, &receiver);
    }
    CelNode node;
    node.kind = CelKind::kField;
    node.name = plain_name(field);
    node.parts.push_back(std::move(receiver));
    node.optional = optional;
    return node;
  }

  // What stands between commas, up to the closing token.
  Result<std::vector<CelNode>> list_until(std::string_view end) {
    std::vector<CelNode> items;
    while (!take(end)) {
      if (!items.empty() && !take(",")) {
        return complain("\",\"");
      }
      auto item = choice();
      if (!item) {
        return tl::unexpected(item.error());
      }
      items.push_back(std::move(*item));
    }
    return items;
  }

  Result<CelNode> call(std::string function, CelNode* receiver) {
    auto arguments = list_until(")");
    if (!arguments) {
      return tl::unexpected(arguments.error());
    }
    if (receiver == nullptr && function == "has") {
      return presence(std::move(*arguments));
    }
    if (receiver != nullptr && receiver->kind == CelKind::kName && is_cel_library(receiver->name)) {
      function = receiver->name + "." + function;
      receiver = nullptr;
    }
    if (receiver != nullptr && std::find(kMacros.begin(), kMacros.end(), function) != kMacros.end()) {
      return macro(function, std::move(*receiver), std::move(*arguments));
    }
    CelNode node;
    node.kind = CelKind::kCall;
    node.name = function;
    if (receiver != nullptr) {
      node.parts.push_back(std::move(*receiver));
    }
    for (CelNode& argument : *arguments) {
      node.parts.push_back(std::move(argument));
    }
    node.function = find_cel_function(function, node.parts.size());
    if (node.function == nullptr) {
      return fail(Errc::kNotFound, fmt::format("\"{}\": the function {}() is not known here", text_, function));
    }
    if (function == "matches" && node.parts[1].kind == CelKind::kLiteral) {
      node.pattern = Pattern::compile(text_of(node.parts[1].literal)).value_or(nullptr);
    }
    return node;
  }

  Result<CelNode> presence(std::vector<CelNode> arguments) const {
    if (arguments.size() != 1 || arguments.front().kind != CelKind::kField) {
      return complain("a field in has()");
    }
    CelNode node = std::move(arguments.front());
    node.kind = CelKind::kHas;
    return node;
  }

  // Of map() a condition may come first: it is kept as the last part.
  Result<CelNode> macro(const std::string& function, CelNode receiver, std::vector<CelNode> arguments) const {
    const bool chooses = function == "map" && arguments.size() == 3;
    if ((arguments.size() != 2 && !chooses) || arguments.front().kind != CelKind::kName) {
      return complain("a variable and an expression");
    }
    CelNode node;
    node.kind = CelKind::kMacro;
    node.name = function;
    node.variable = arguments.front().name;
    node.parts.push_back(std::move(receiver));
    node.parts.push_back(std::move(arguments.back()));
    if (chooses) {
      node.parts.push_back(std::move(arguments[1]));
    }
    return node;
  }

  Result<CelNode> atom() {
    skip_blanks();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (take("(")) {
      auto inner = choice();
      if (inner && !take(")")) {
        return complain("\")\"");
      }
      return inner;
    }
    if (take("[")) {
      auto items = list_until("]");
      if (!items) {
        return tl::unexpected(items.error());
      }
      CelNode node;
      node.kind = CelKind::kList;
      node.parts = std::move(*items);
      return node;
    }
    if (take("{")) {
      return map();
    }
    if (c == '"' || c == '\'') {
      return text(false);
    }
    if ((c == 'r' || c == 'R') && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\'')) {
      ++at_;
      return text(true);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      return number();
    }
    return named();
  }

  Result<CelNode> map() {
    CelNode node;
    node.kind = CelKind::kMap;
    while (!take("}")) {
      if (!node.parts.empty() && !take(",")) {
        return complain("\",\"");
      }
      for (const std::string_view behind : {":", ""}) {
        auto part = choice();
        if (!part) {
          return part;
        }
        if (!behind.empty() && !take(behind)) {
          return complain("\":\"");
        }
        node.parts.push_back(std::move(*part));
      }
    }
    return node;
  }

  Result<CelNode> text(bool raw) {
    const char quote = text_[at_++];
    std::string value;
    while (at_ < text_.size() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\\' && !raw && at_ < text_.size()) {
        c = text_[at_++];
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
      value += c;
    }
    if (at_ == text_.size()) {
      return complain("the end of the text");
    }
    ++at_;
    CelNode node;
    node.literal = value;
    return node;
  }

  Result<CelNode> number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  (text_[at_] == '.' && at_ + 1 < text_.size() &&
                                   std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0))) {
      ++at_;
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    CelNode node;
    if (digits.find('.') != std::string_view::npos) {
      double value = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      node.literal = value;
      return node;
    }
    std::int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
      return complain("a number of 64 bits");
    }
    if (at_ < text_.size() && (text_[at_] == 'u' || text_[at_] == 'U')) {
      ++at_;
    }
    node.literal = value;
    return node;
  }

  Result<CelNode> named() {
    const std::string word = name();
    if (word.empty()) {
      return complain("a value");
    }
    if (take("(")) {
      return call(word, nullptr);
    }
    CelNode node;
    if (word == "true" || word == "false") {
      node.literal = word == "true";
    } else if (word != "null") {
      node.kind = CelKind::kName;
      node.name = word;
    }
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  int steps_ = 0;
};

}  // namespace

Result<CelNode> parse_cel(std::string_view text) {
  if (text.size() > kMaxLength) {
    return fail(Errc::kLimit, "the expression is too long");
  }
  return CelParser(text).parse();
}

}  // namespace gantree::apiserver
