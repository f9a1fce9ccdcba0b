#include "apiserver/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apiserver/names.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

using Operator = Requirement::Operator;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Cut at commas that stand in no parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

// "a in (b, c)" and "a notin (b)".
std::optional<Requirement> set_requirement(std::string_view text) {
  const std::size_t blank = text.find_first_of(" \t");
  const std::size_t open = text.find('(');
  if (blank == std::string_view::npos || open == std::string_view::npos || !text.ends_with(')')) {
    return std::nullopt;
  }
  const std::string_view word = trim(text.substr(blank, open - blank));
  if (word != "in" && word != "notin") {
    return std::nullopt;
  }
  Requirement result{std::string(text.substr(0, blank)), word == "in" ? Operator::kIn : Operator::kNotIn, {}};
  for (const std::string_view value : split(text.substr(open + 1, text.size() - open - 2))) {
    result.values.emplace_back(value);
  }
  return result;
}

std::optional<Requirement> plain_requirement(std::string_view text) {
  if (text.starts_with('!')) {
    return Requirement{std::string(trim(text.substr(1))), Operator::kDoesNotExist, {}};
  }
  static constexpr std::pair<std::string_view, Operator> kOperators[] = {{"!=", Operator::kNotIn},
                                                                         {"==", Operator::kIn},
                                                                         {"=", Operator::kIn},
                                                                         {">", Operator::kGreater},
                                                                         {"<", Operator::kLess}};
  for (const auto& [sign, op] : kOperators) {
    if (const std::size_t at = text.find(sign); at != std::string_view::npos) {
      return Requirement{std::string(trim(text.substr(0, at))), op, {std::string(trim(text.substr(at + sign.size())))}};
    }
  }
  return Requirement{std::string(text), Operator::kExists, {}};
}

bool sound(const Requirement& requirement) {
  const bool compares = requirement.op == Operator::kGreater || requirement.op == Operator::kLess;
  return !not_qualified_name(requirement.key) &&
         std::all_of(requirement.values.begin(), requirement.values.end(), [&](const std::string& value) {
           return compares ? whole_number<std::int64_t>(value).has_value() : !not_label_value(value);
         });
}

bool compare(const Requirement& requirement, const std::string* label) {
  if (label == nullptr) {
    return false;
  }
  const auto have = whole_number<std::int64_t>(*label);
  const auto limit = whole_number<std::int64_t>(requirement.values.front());
  return have && limit && (requirement.op == Operator::kGreater ? *have > *limit : *have < *limit);
}

bool holds(const Requirement& requirement, const Pairs& labels) {
  const std::string* label = find_pair(labels, requirement.key);
  const auto among = [&] {
    return label != nullptr &&
           std::find(requirement.values.begin(), requirement.values.end(), *label) != requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return among();
    case Operator::kNotIn:
      return !among();
    case Operator::kExists:
      return label != nullptr;
    case Operator::kDoesNotExist:
      return label == nullptr;
    case Operator::kGreater:
    case Operator::kLess:
      return compare(requirement, label);
  }
  return false;
}

Result<Requirement> expression(const Value& value) {
  const std::string_view op = text_at(value, {"operator"});
  Requirement result;
  result.key = text_at(value, {"key"});
  if (op == "In" || op == "NotIn") {
    result.op = op == "In" ? Operator::kIn : Operator::kNotIn;
  } else if (op == "Exists" || op == "DoesNotExist") {
    result.op = op == "Exists" ? Operator::kExists : Operator::kDoesNotExist;
  } else {
    return invalid(fmt::format("\"{}\" is not a valid label selector operator", op));
  }
  if (const Array* values = array_at(value, {"values"})) {
    for (const Value& item : *values) {
      result.values.emplace_back(text_of(item));
    }
  }
  return result;
}

// Up to the next comma; "\" takes the sign of what follows it.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
    }
    result += text[i];
  }
  return result;
}

}  // namespace

const std::string* find_pair(const Pairs& pairs, std::string_view name) {
  const auto it = std::lower_bound(pairs.begin(), pairs.end(), name,
                                   [](const auto& pair, std::string_view wanted) { return pair.first < wanted; });
  return it != pairs.end() && it->first == name ? &it->second : nullptr;
}

Pairs pairs_of(const Object* object) {
  Pairs pairs;
  if (object != nullptr) {
    for (const auto& member : *object) {
      if (member.value().is_string()) {
        pairs.emplace_back(std::string(member.key()), std::string(text_of(member.value())));
      }
    }
    std::sort(pairs.begin(), pairs.end());
  }
  return pairs;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  if (trim(text).empty()) {
    return selector;
  }
  for (const std::string_view part : split(text)) {
    auto requirement = set_requirement(part);
    if (!requirement) {
      requirement = plain_requirement(part);
    }
    if (!sound(*requirement)) {
      return invalid(fmt::format("unable to parse requirement: \"{}\" is no selector of labels", part));
    }
    selector.requirements_.push_back(std::move(*requirement));
  }
  return selector;
}

Result<LabelSelector> LabelSelector::from_object(const Value* value) {
  LabelSelector selector;
  if (value == nullptr || !value->is_object()) {
    selector.nothing_ = true;
    return selector;
  }
  for (auto& [key, label] : pairs_of(object_at(*value, {"matchLabels"}))) {
    selector.requirements_.push_back({key, Operator::kIn, {label}});
  }
  if (const Array* expressions = array_at(*value, {"matchExpressions"})) {
    for (const Value& item : *expressions) {
      auto requirement = expression(item);
      if (!requirement) {
        return tl::unexpected(requirement.error());
      }
      selector.requirements_.push_back(std::move(*requirement));
    }
  }
  return selector;
}

bool LabelSelector::matches(const Pairs& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&](const Requirement& requirement) { return holds(requirement, labels); });
}

Result<FieldSelector> FieldSelector::parse(std::string_view text) {
  FieldSelector selector;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && text[end] != ',') {
      end += text[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) {
      continue;
    }
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos || sign == 0) {
      return invalid(fmt::format("invalid field selector: \"{}\"; can't understand '{}'", text, part));
    }
    const bool unequal = part[sign - 1] == '!';
    const std::size_t value = sign + (part.substr(sign + 1).starts_with('=') ? 2 : 1);
    selector.terms_.push_back(
        {std::string(part.substr(0, unequal ? sign - 1 : sign)), unescaped(part.substr(value)), !unequal});
  }
  return selector;
}

const std::string* FieldSelector::exact(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) {
      return &term.value;
    }
  }
  return nullptr;
}

}  // namespace gantree::apiserver
