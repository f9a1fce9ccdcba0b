#include "dialects/core/label_selector.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "model/topology.h"

namespace gantree {

namespace {

LabelRequirement read_requirement(json::Reader& read, json::Value value) {
  LabelRequirement requirement;
  requirement.key = read.require_text(value, "key");
  if (const json::Value values = read.array(value, "values")) {
    for (const json::NodeData& item : values.items()) {
      requirement.values.emplace_back(read.as_text(json::Value(&item), "a value"));
    }
  }
  const std::string_view op = read.require_text(value, "operator");
  if (op == "In") {
    requirement.op = LabelOperator::kIn;
  } else if (op == "NotIn") {
    requirement.op = LabelOperator::kNotIn;
  } else if (op == "Exists") {
    requirement.op = LabelOperator::kExists;
  } else if (op == "DoesNotExist") {
    requirement.op = LabelOperator::kDoesNotExist;
  } else {
    read.complain(value, fmt::format("operator \"{}\" is not known", op));
  }
  return requirement;
}

}  // namespace

bool LabelRequirement::holds(const LabelMap& labels) const {
  const auto it = labels.find(key);
  const bool present = it != labels.end();
  const bool listed = present && std::find(values.begin(), values.end(), it->second) != values.end();
  switch (op) {
    case LabelOperator::kIn:
      return listed;
    case LabelOperator::kNotIn:
      return !listed;
    case LabelOperator::kExists:
      return present;
    case LabelOperator::kDoesNotExist:
      return !present;
  }
  return false;
}

bool matches(const LabelSelector& selector, const LabelMap& labels) {
  return std::all_of(selector.begin(), selector.end(),
                     [&](const LabelRequirement& requirement) { return requirement.holds(labels); });
}

LabelSelector read_label_selector(json::Reader& read, json::Value parent, std::string_view key) {
  LabelSelector selector;
  const json::Value value = read.object(parent, key);
  if (!value) {
    return selector;
  }
  for (auto& [label, wanted] : read_labels(read, value, "matchLabels")) {
    selector.push_back({.key = label, .op = LabelOperator::kIn, .values = {wanted}});
  }
  if (const json::Value expressions = read.array(value, "matchExpressions")) {
    for (const json::NodeData& item : expressions.items()) {
      selector.push_back(read_requirement(read, json::Value(&item)));
    }
  }
  return selector;
}

bool is_label_value(std::string_view value) {
  return value.empty() || (value.find('/') == std::string_view::npos && is_label_key(value));
}

void check_labels(json::Reader& read, json::Value labels) {
  if (!labels || labels.kind() != json::Kind::kObject) {
    return;
  }
  for (const json::MemberData& member : labels.members()) {
    const json::Value value(&member.value);
    if (!is_label_key(member.key)) {
      read.complain(value, fmt::format("{}: \"{}\" is not a label key", read.path(labels), member.key));
    } else if (value.kind() == json::Kind::kString && !is_label_value(value.text())) {
      read.complain(value, fmt::format("{}: \"{}\" is not a label value", read.path(labels), value.text()));
    }
  }
}

void check_label_selector(json::Reader& read, json::Value selector) {
  check_labels(read, map_at(selector, "matchLabels"));
  for (const json::NodeData& item : items_of(selector["matchExpressions"])) {
    const json::Value expression(&item);
    const std::string_view key = read.require_text(expression, "key");
    const std::string_view op = read.require_text(expression, "operator");
    const auto values = items_of(expression["values"]);
    const bool lists = op == "In" || op == "NotIn";
    if (!is_label_key(key)) {
      read.complain(expression, fmt::format("{}.key: \"{}\" is not a label key", read.path(expression), key));
    }
    if (lists == values.empty()) {
      read.complain(expression, fmt::format("{}.values must {}be empty with operator {}", read.path(expression),
                                            lists ? "not " : "", op));
    }
    for (const json::NodeData& value : values) {
      if (value.kind == json::Kind::kString && !is_label_value(json::Value(&value).text())) {
        read.complain(json::Value(&value), fmt::format("{}.values: \"{}\" is not a label value", read.path(expression),
                                                       json::Value(&value).text()));
      }
    }
  }
}

}  // namespace gantree
