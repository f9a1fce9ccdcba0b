#include "apiserver/json_path.h"

#include <fmt/format.h>

#include <charconv>

namespace gantree::apiserver {

namespace {

tl::unexpected<Error> bad_path(std::string_view text) {
  return invalid(fmt::format("\"{}\" is no JSONPath that a column can have", text));
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

Result<std::string_view> JsonPath::parse_bracket(std::string_view text) {
  const bool filter = text.starts_with("[?(");
  const std::size_t end = text.find(filter ? ")]" : "]");
  if (end == std::string_view::npos) {
    return bad_path(text);
  }
  Step step;
  if (filter) {
    const std::string_view inside = text.substr(3, end - 3);
    const std::size_t equals = inside.find("==");
    const std::string_view left = trimmed(inside.substr(0, equals));
    if (equals == std::string_view::npos || !left.starts_with("@.")) {
      return bad_path(text);
    }
    step.kind = StepKind::kFilter;
    step.name = left.substr(2);
    step.text = without_quotes(trimmed(inside.substr(equals + 2)));
    steps_.push_back(std::move(step));
    return text.substr(end + 2);
  }
  const std::string_view inside = text.substr(1, end - 1);
  if (inside == "*") {
    step.kind = StepKind::kAll;
  } else if (without_quotes(inside).size() != inside.size()) {
    step.name = without_quotes(inside);
  } else {
    const auto read = std::from_chars(inside.data(), inside.data() + inside.size(), step.index);
    if (read.ec != std::errc{} || read.ptr != inside.data() + inside.size()) {
      return bad_path(text);
    }
    step.kind = StepKind::kIndex;
  }
  steps_.push_back(std::move(step));
  return text.substr(end + 1);
}

Result<JsonPath> JsonPath::parse(std::string_view text) {
  JsonPath path;
  std::string_view rest = text.starts_with('$') ? text.substr(1) : text;
  while (!rest.empty()) {
    if (rest[0] == '[') {
      auto after = path.parse_bracket(rest);
      if (!after) {
        return tl::unexpected(after.error());
      }
      rest = *after;
      continue;
    }
    if (rest[0] != '.') {
      return bad_path(text);
    }
    rest.remove_prefix(1);
    Step step;
    while (!rest.empty() && rest[0] != '.' && rest[0] != '[') {
      if (rest[0] == '\\' && rest.size() > 1) {
        rest.remove_prefix(1);
      }
      step.name += rest[0];
      rest.remove_prefix(1);
    }
    if (step.name == "*") {
      step.kind = StepKind::kAll;
    }
    if (!step.name.empty()) {
      path.steps_.push_back(std::move(step));
    }
  }
  return path;
}

const Value* JsonPath::walk(const Value& value, std::size_t at) const {
  if (at == steps_.size()) {
    return &value;
  }
  const Step& step = steps_[at];
  if (step.kind == StepKind::kField) {
    const Value* member = value.is_object() ? value.get_object().if_contains(step.name) : nullptr;
    return member == nullptr ? nullptr : walk(*member, at + 1);
  }
  if (step.kind == StepKind::kAll && value.is_object()) {
    for (const auto& member : value.get_object()) {
      if (const Value* found = walk(member.value(), at + 1); found != nullptr) {
        return found;
      }
    }
    return nullptr;
  }
  const Array* array = value.if_array();
  if (array == nullptr) {
    return nullptr;
  }
  if (step.kind == StepKind::kIndex) {
    const auto size = static_cast<std::int64_t>(array->size());
    const std::int64_t index = step.index < 0 ? size + step.index : step.index;
    return index < 0 || index >= size ? nullptr : walk((*array)[static_cast<std::size_t>(index)], at + 1);
  }
  for (const Value& item : *array) {
    if (step.kind == StepKind::kFilter) {
      const Value* member = find(item, {step.name});
      const bool equal =
          member != nullptr && (member->is_string() ? std::string(text_of(*member)) : to_json(*member)) == step.text;
      if (!equal) {
        continue;
      }
    }
    if (const Value* found = walk(item, at + 1); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

const Value* JsonPath::first(const Value& root) const {
  return walk(root, 0);
}

}  // namespace gantree::apiserver
