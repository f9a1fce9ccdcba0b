#include "engine/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gantree {

namespace {

// One word: the form is divided by blanks.
std::string word(std::string_view text) {
  std::string one(text.empty() ? "-" : text);
  std::replace_if(one.begin(), one.end(), [](unsigned char c) { return std::isspace(c) != 0 || c == '|'; }, '_');
  return one;
}

std::string_view effect_word(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
  }
  return "?";
}

std::string_view packing_word(Packing packing) {
  switch (packing) {
    case Packing::kPack:
      return "pack";
    case Packing::kTightest:
      return "tightest";
    case Packing::kSpread:
      return "spread";
    case Packing::kBalanced:
      return "balanced";
    case Packing::kNearest:
      return "nearest";
  }
  return "?";
}

std::string_view operator_word(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return "In";
    case SelectorOperator::kNotIn:
      return "NotIn";
    case SelectorOperator::kExists:
      return "Exists";
    case SelectorOperator::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOperator::kGt:
      return "Gt";
    case SelectorOperator::kLt:
      return "Lt";
  }
  return "?";
}

class ReplayWriter {
 public:
  ReplayWriter(const Inventory& inventory, std::span<const Topology> topologies)
      : inventory_(inventory), topologies_(topologies) {}

  void node(NodeId id);
  void group(const Group& group, const std::string& indent);
  void constraint(const Constraint& constraint);
  void line(std::string_view text) { text_.append(text) += '\n'; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string string(StringId id) const { return word(inventory_.strings().text(id)); }
  void amounts(const Amounts& amounts) {
    for (const auto& [resource, amount] : amounts.entries()) {
      add(" {}={}", inventory_.resources().name(resource), amount);
    }
  }
  void labels(const std::vector<Label>& labels) {
    for (const Label& label : labels) {
      add(" {}={}", string(label.key), string(label.value));
    }
  }
  void pod_set(const PodSet& set, const std::string& indent);
  void affinity(const std::vector<SelectorTerm>& terms);

  const Inventory& inventory_;
  std::span<const Topology> topologies_;
  std::string text_;
};

void ReplayWriter::node(NodeId id) {
  const Node& node = inventory_.node(id);
  add("node {}", word(node.name));
  labels(node.labels);
  const auto hostname = inventory_.strings().find(kHostnameLabel);
  if (!hostname || label_value(node.labels, *hostname) == nullptr) {
    text_ += " | nohostname";
  }
  text_ += " | has";
  amounts(node.allocatable);
  Amounts used;
  for (const auto& [resource, amount] : node.allocatable.entries()) {
    used.set(resource, amount - inventory_.free(id, resource));
  }
  if (!used.empty()) {
    text_ += " | pod";
    amounts(used);
  }
  for (const Taint& taint : node.taints) {
    add(" | taint {} {} {}", string(taint.key), string(taint.value), effect_word(taint.effect));
  }
  text_ += node.unschedulable ? " | cordoned" : "";
  text_ += node.ready ? "\n" : " | unready\n";
}

void ReplayWriter::constraint(const Constraint& constraint) {
  if (constraint.required) {
    add(" | required {}", *constraint.required);
  }
  if (constraint.preferred) {
    add(" | preferred {}", *constraint.preferred);
  }
  for (const Slice& slice : constraint.slices) {
    add(" | slice {} {}", slice.level, slice.size);
  }
  if (constraint.exclusive) {
    add(" | exclusive {}", *constraint.exclusive);
  }
  if (constraint.balance) {
    add(" | balance {}", *constraint.balance);
  }
  if (constraint.packing != Packing::kTightest) {
    add(" | {}", packing_word(constraint.packing));
  }
  text_ += '\n';
  if (constraint.topology) {
    add("# of topology {}\n", word(topologies_[constraint.topology->index()].name));
  }
}

void ReplayWriter::affinity(const std::vector<SelectorTerm>& terms) {
  for (const SelectorTerm& term : terms) {
    text_ += " | affinity";
    const char* between = " ";
    for (const SelectorRequirement& requirement : term.labels) {
      add("{}{} {}", between, string(requirement.key), operator_word(requirement.op));
      if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
        add(" {}", requirement.bound);
      }
      for (std::size_t i = 0; i < requirement.values.size(); ++i) {
        add("{}{}", i == 0 ? " " : ",", string(requirement.values[i]));
      }
      between = " & ";
    }
  }
  text_ += terms.empty() ? " | affinity never" : "";
}

void ReplayWriter::pod_set(const PodSet& set, const std::string& indent) {
  add("{}set {} {} min {} | asks", indent, word(set.name), set.count, set.min_count);
  amounts(set.shape.requests);
  if (!set.shape.node_selector.empty() || !set.shape.flavor_labels.empty()) {
    text_ += " | selects";
    labels(set.shape.node_selector);
    labels(set.shape.flavor_labels);
  }
  for (const Toleration& toleration : set.shape.tolerations) {
    add(" | tolerates {} {} {}", toleration.key ? string(*toleration.key) : "*",
        toleration.op == TolerationOperator::kExists ? "*" : string(toleration.value),
        toleration.effect ? effect_word(*toleration.effect) : "*");
  }
  if (set.shape.affinity) {
    affinity(*set.shape.affinity);
  }
  constraint(set.constraint);
}

void ReplayWriter::group(const Group& group, const std::string& indent) {
  if (group.min_pods || group.min_groups) {
    add("# minima of the group: {} pods, {} groups\n", group.min_pods.value_or(-1), group.min_groups.value_or(-1));
  }
  for (const PodSet& set : group.pod_sets) {
    pod_set(set, indent);
  }
  for (const Group& nested : group.groups) {
    add("{}group {}", indent, word(nested.name));
    constraint(nested.constraint);
    this->group(nested, indent + "  ");
    add("{}end\n", indent);
  }
}

}  // namespace

std::string replay_text(const Gang& gang, const Inventory& inventory, std::span<const Topology> topologies,
                        const std::map<ExclusiveHold, int>& holds) {
  ReplayWriter writer(inventory, topologies);
  writer.line(fmt::format("levels {}", fmt::join(topologies[gang.topology.index()].levels, " ")));
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    if (const auto id = make_id<NodeTag>(n); inventory.alive(id)) {
      writer.node(id);
    }
  }
  for (const auto& [hold, groups] : holds) {
    if (hold.kind == gang.exclusive_kind) {
      std::string line = fmt::format("# held, level {} of {}:", hold.level, topologies[hold.topology.index()].name);
      for (const NodeId node : hold.hosts) {
        line += " " + word(inventory.node(node).name);
      }
      writer.line(line);
    }
  }
  writer.line(fmt::format("# {} {}/{}", gang.key.kind, gang.key.ns, gang.key.name));
  std::string head = fmt::format("gang {} {}", word(gang.key.name), word(gang.exclusive_kind));
  ReplayWriter root(inventory, topologies);
  root.constraint(gang.root.constraint);
  root.group(gang.root, "  ");
  root.line("end");
  return writer.take() + head + root.take();
}

}  // namespace gantree
