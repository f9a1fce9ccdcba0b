#include "model/pod_shape.h"

#include <algorithm>

#include "base/whole_number.h"

namespace gantree {

namespace {

bool contains(const std::vector<StringId>& sorted, StringId value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// As Kubernetes does: NotIn holds where the label is missing; Gt and Lt need an
// integer on both sides.
bool holds(const SelectorRequirement& requirement, const StringId* value, const Interner& strings) {
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return value != nullptr && contains(requirement.values, *value);
    case SelectorOperator::kNotIn:
      return value == nullptr || !contains(requirement.values, *value);
    case SelectorOperator::kExists:
      return value != nullptr;
    case SelectorOperator::kDoesNotExist:
      return value == nullptr;
    case SelectorOperator::kGt:
    case SelectorOperator::kLt: {
      const auto number = value == nullptr ? std::nullopt : whole_number<std::int64_t>(strings.text(*value));
      if (!number) {
        return false;
      }
      return requirement.op == SelectorOperator::kGt ? *number > requirement.bound : *number < requirement.bound;
    }
  }
  return false;
}

}  // namespace

const char* to_string(Ineligible reason) {
  switch (reason) {
    case Ineligible::kNotReady:
      return "not ready";
    case Ineligible::kCordoned:
      return "cordoned";
    case Ineligible::kTainted:
      return "tainted";
    case Ineligible::kSelector:
      return "not matching the node selector";
    case Ineligible::kFlavor:
      return "without the flavor's node labels";
    case Ineligible::kAffinity:
      return "not matching the node affinity";
    case Ineligible::kNo:
      break;
  }
  return "";
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    if (toleration.effect && *toleration.effect != taint.effect) {
      return false;
    }
    if (toleration.key && *toleration.key != taint.key) {
      return false;
    }
    return toleration.op == TolerationOperator::kExists || (toleration.key && toleration.value == taint.value);
  });
}

bool matches(const SelectorTerm& term, const Node& node, const Interner& strings) {
  if (term.labels.empty() && term.fields.empty()) {
    return false;
  }
  for (const SelectorRequirement& requirement : term.labels) {
    if (!holds(requirement, label_value(node.labels, requirement.key), strings)) {
      return false;
    }
  }
  if (term.fields.empty()) {
    return true;
  }
  const auto name = strings.find(node.name);
  return std::all_of(term.fields.begin(), term.fields.end(), [&](const SelectorRequirement& requirement) {
    // A name that was never interned can be in no list of values, but it exists.
    if (!name) {
      return requirement.op == SelectorOperator::kNotIn || requirement.op == SelectorOperator::kExists;
    }
    return holds(requirement, &*name, strings);
  });
}

Ineligible eligibility(const PodShape& shape, const Node& node, const Interner& strings) {
  if (!node.ready) {
    return Ineligible::kNotReady;
  }
  if (node.unschedulable) {
    return Ineligible::kCordoned;
  }
  const auto lacks = [&](const Label& wanted) {
    const StringId* value = label_value(node.labels, wanted.key);
    return value == nullptr || *value != wanted.value;
  };
  if (std::any_of(shape.node_selector.begin(), shape.node_selector.end(), lacks)) {
    return Ineligible::kSelector;
  }
  if (std::any_of(shape.flavor_labels.begin(), shape.flavor_labels.end(), lacks)) {
    return Ineligible::kFlavor;
  }
  for (const Taint& taint : node.taints) {
    if (taint.effect != TaintEffect::kPreferNoSchedule && !tolerates(shape.tolerations, taint)) {
      return Ineligible::kTainted;
    }
  }
  if (shape.affinity) {
    const bool any = std::any_of(shape.affinity->begin(), shape.affinity->end(),
                                 [&](const SelectorTerm& term) { return matches(term, node, strings); });
    if (!any) {
      return Ineligible::kAffinity;
    }
  }
  return Ineligible::kNo;
}

int preference(const PodShape& shape, const Node& node, const Interner& strings) {
  int score = 0;
  for (const PreferredTerm& preferred : shape.preferred) {
    if (matches(preferred.term, node, strings)) {
      score += preferred.weight;
    }
  }
  for (const Taint& taint : node.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule && !tolerates(shape.tolerations, taint)) {
      --score;
    }
  }
  return score;
}

}  // namespace gantree
