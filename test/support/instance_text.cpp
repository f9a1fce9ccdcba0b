#include "support/instance_text.h"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gantree::test {
namespace {

constexpr std::array<std::pair<std::string_view, TaintEffect>, 3> kEffects{{
    {"NoSchedule", TaintEffect::kNoSchedule},
    {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
    {"NoExecute", TaintEffect::kNoExecute},
}};
constexpr std::array<std::pair<std::string_view, SelectorOperator>, 6> kOperators{{
    {"In", SelectorOperator::kIn},
    {"NotIn", SelectorOperator::kNotIn},
    {"Exists", SelectorOperator::kExists},
    {"DoesNotExist", SelectorOperator::kDoesNotExist},
    {"Gt", SelectorOperator::kGt},
    {"Lt", SelectorOperator::kLt},
}};
constexpr std::array<std::pair<std::string_view, Packing>, 5> kPackings{{
    {"pack", Packing::kPack},
    {"tightest", Packing::kTightest},
    {"spread", Packing::kSpread},
    {"balanced", Packing::kBalanced},
    {"nearest", Packing::kNearest},
}};

template <class Table, class Value>
std::string word_of(const Table& table, Value value) {
  for (const auto& [word, meaning] : table) {
    if (meaning == value) {
      return std::string(word);
    }
  }
  return "?";
}

template <class Table>
auto meaning_of(const Table& table, const std::string& text) {
  for (const auto& [word, meaning] : table) {
    if (word == text) {
      return meaning;
    }
  }
  throw std::invalid_argument("unknown word " + text);
}

// ---- writing ----

template <class Map>
std::string pairs(const Map& map) {
  std::string text;
  for (const auto& [key, value] : map) {
    text += fmt::format(" {}={}", key, value);
  }
  return text;
}

std::string constraint_text(const Constraint& constraint) {
  std::string text;
  if (constraint.required) {
    text += fmt::format(" | required {}", *constraint.required);
  }
  if (constraint.preferred) {
    text += fmt::format(" | preferred {}", *constraint.preferred);
  }
  for (const Slice& slice : constraint.slices) {
    text += fmt::format(" | slice {} {}", slice.level, slice.size);
  }
  if (constraint.exclusive) {
    text += fmt::format(" | exclusive {}", *constraint.exclusive);
  }
  if (constraint.balance) {
    text += fmt::format(" | balance {}", *constraint.balance);
  }
  if (constraint.packing != Packing::kTightest) {
    text += " | " + word_of(kPackings, constraint.packing);
  }
  return text;
}

// The constraint of a group and its minima.
std::string group_text(const GroupSpec& group) {
  std::string text = constraint_text(group.constraint);
  text += group.min_pods ? fmt::format(" | pods {}", *group.min_pods) : "";
  text += group.min_groups ? fmt::format(" | groups {}", *group.min_groups) : "";
  return text;
}

std::string term_text(const TermSpec& term) {
  std::string text;
  for (const RequirementSpec& requirement : term) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " & ", requirement.key, word_of(kOperators, requirement.op));
    if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
      text += fmt::format(" {}", requirement.bound);
    } else if (!requirement.values.empty()) {
      text += fmt::format(" {}", fmt::join(requirement.values, ","));
    }
  }
  return text;
}

std::string node_text(const NodeSpec& node) {
  auto labels = node.labels;
  const auto hostname = labels.extract(kHostnameLabel);
  std::string text = "node " + node.name + pairs(labels);
  text += hostname.empty() ? " | nohostname" : "";
  text += " | has" + pairs(node.allocatable);
  for (const AmountSpec& pod : node.pods) {
    text += " | pod" + pairs(pod);
  }
  for (const TaintSpec& taint : node.taints) {
    text += fmt::format(" | taint {} {} {}", taint.key, taint.value, word_of(kEffects, taint.effect));
  }
  text += node.cordoned ? " | cordoned" : "";
  text += node.ready ? "" : " | unready";
  return text + "\n";
}

std::string pod_set_text(const PodSetSpec& pod_set, const std::string& indent) {
  std::string text = fmt::format("{}set {} {}", indent, pod_set.name, pod_set.count);
  if (pod_set.min_count != pod_set.count) {
    text += fmt::format(" min {}", pod_set.min_count);
  }
  text += " | asks" + pairs(pod_set.requests);
  if (!pod_set.selector.empty()) {
    text += " | selects" + pairs(pod_set.selector);
  }
  for (const TolerationSpec& toleration : pod_set.tolerations) {
    text += fmt::format(" | tolerates {} {} {}", toleration.key.empty() ? "*" : toleration.key,
                        toleration.value.empty() ? "*" : toleration.value,
                        toleration.effect ? word_of(kEffects, *toleration.effect) : "*");
  }
  if (pod_set.affinity && pod_set.affinity->empty()) {
    text += " | affinity never";
  }
  for (const TermSpec& term : pod_set.affinity.value_or(std::vector<TermSpec>{})) {
    text += " | affinity " + term_text(term);
  }
  return text + constraint_text(pod_set.constraint) + "\n";
}

std::string group_body(const GroupSpec& group, const std::string& indent) {
  std::string text;
  for (const PodSetSpec& pod_set : group.pod_sets) {
    text += pod_set_text(pod_set, indent);
  }
  for (const GroupSpec& nested : group.groups) {
    text += fmt::format("{}group {}{}\n", indent, nested.name, group_text(nested));
    text += group_body(nested, indent + "  ") + indent + "end\n";
  }
  return text;
}

// ---- reading ----

using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words parts;
  std::string part;
  for (std::istringstream in(text); std::getline(in, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

std::pair<std::string, std::string> pair_of(const std::string& word) {
  const auto at = word.find('=');
  if (at == std::string::npos) {
    throw std::invalid_argument("no = in " + word);
  }
  return {word.substr(0, at), word.substr(at + 1)};
}

AmountSpec amounts_of(const Words& words) {
  AmountSpec amounts;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto [name, amount] = pair_of(words[i]);
    amounts[name] = std::stoll(amount);
  }
  return amounts;
}

// One line: segments divided by '|', each a list of words.
struct Line {
  std::vector<Words> segments;

  explicit Line(const std::string& text) {
    for (const std::string& segment : split(text, '|')) {
      segments.push_back(words_of(segment));
      if (segments.back().empty()) {
        throw std::invalid_argument("empty segment");
      }
    }
  }
  [[nodiscard]] const Words& head() const { return segments.front(); }
};

bool read_constraint(const Words& words, Constraint& constraint) {
  const std::string& what = words[0];
  if (what == "required") {
    constraint.required = std::stoi(words.at(1));
  } else if (what == "preferred") {
    constraint.preferred = std::stoi(words.at(1));
  } else if (what == "slice") {
    constraint.slices.push_back({.level = std::stoi(words.at(1)), .size = std::stoi(words.at(2))});
  } else if (what == "exclusive") {
    constraint.exclusive = std::stoi(words.at(1));
  } else if (what == "balance") {
    constraint.balance = std::stoi(words.at(1));
  } else if (words.size() == 1) {
    constraint.packing = meaning_of(kPackings, what);
  } else {
    return false;
  }
  return true;
}

void read_group(const Line& line, GroupSpec& group) {
  for (std::size_t i = 1; i < line.segments.size(); ++i) {
    const Words& words = line.segments[i];
    if (words[0] == "pods") {
      group.min_pods = std::stoi(words.at(1));
    } else if (words[0] == "groups") {
      group.min_groups = std::stoi(words.at(1));
    } else if (!read_constraint(words, group.constraint)) {
      throw std::invalid_argument("unknown word " + words[0]);
    }
  }
}

TermSpec term_of(const Words& words) {
  TermSpec term;
  for (std::size_t i = 1; i < words.size();) {
    RequirementSpec requirement{.key = words[i], .op = meaning_of(kOperators, words.at(i + 1)), .values = {}};
    i += 2;
    if (i < words.size() && words[i] != "&") {
      if (requirement.op == SelectorOperator::kGt || requirement.op == SelectorOperator::kLt) {
        requirement.bound = std::stoll(words[i]);
      } else {
        requirement.values = split(words[i], ',');
      }
      ++i;
    }
    ++i;  // the '&'
    term.push_back(std::move(requirement));
  }
  return term;
}

NodeSpec node_of(const Line& line) {
  NodeSpec node = make_node(line.head().at(1));
  for (std::size_t i = 2; i < line.head().size(); ++i) {
    node.labels.insert(pair_of(line.head()[i]));
  }
  for (std::size_t i = 1; i < line.segments.size(); ++i) {
    const Words& words = line.segments[i];
    if (words[0] == "has") {
      node.allocatable = amounts_of(words);
    } else if (words[0] == "pod") {
      node.pods.push_back(amounts_of(words));
    } else if (words[0] == "taint") {
      node.taint(words.at(1), words.at(2), meaning_of(kEffects, words.at(3)));
    } else if (words[0] == "cordoned") {
      node.cordoned = true;
    } else if (words[0] == "unready") {
      node.ready = false;
    } else if (words[0] == "nohostname") {
      node.labels.erase(kHostnameLabel);
    } else {
      throw std::invalid_argument("unknown word " + words[0]);
    }
  }
  return node;
}

TolerationSpec toleration_of(const Words& words) {
  auto any = [&](std::size_t i) { return words.at(i) == "*"; };
  TolerationSpec toleration;
  toleration.key = any(1) ? "" : words[1];
  toleration.value = any(2) ? "" : words[2];
  if (!any(3)) {
    toleration.effect = meaning_of(kEffects, words[3]);
  }
  return toleration;
}

PodSetSpec pod_set_of(const Line& line) {
  const Words& head = line.head();
  PodSetSpec pod_set = make_pod_set(head.at(1), std::stoi(head.at(2)));
  if (head.size() == 5 && head[3] == "min") {
    pod_set.min_count = std::stoi(head[4]);
  }
  for (std::size_t i = 1; i < line.segments.size(); ++i) {
    const Words& words = line.segments[i];
    if (words[0] == "asks") {
      pod_set.requests = amounts_of(words);
    } else if (words[0] == "selects") {
      for (std::size_t k = 1; k < words.size(); ++k) {
        pod_set.selector.insert(pair_of(words[k]));
      }
    } else if (words[0] == "tolerates") {
      pod_set.tolerations.push_back(toleration_of(words));
    } else if (words[0] == "affinity") {
      auto& terms = pod_set.affinity ? *pod_set.affinity : pod_set.affinity.emplace();
      if (words.size() != 2 || words[1] != "never") {
        terms.push_back(term_of(words));
      }
    } else if (!read_constraint(words, pod_set.constraint)) {
      throw std::invalid_argument("unknown word " + words[0]);
    }
  }
  return pod_set;
}

class Reader {
 public:
  void read(const std::string& text) {
    const Line line(text);
    const std::string& what = line.head()[0];
    if (what == "levels" && open_.empty()) {
      instance.levels.assign(line.head().begin() + 1, line.head().end());
    } else if (what == "node" && open_.empty()) {
      instance.nodes.push_back(node_of(line));
    } else if (what == "gang" && open_.empty()) {
      const std::string& kind = line.head().at(2);
      instance.gangs.push_back({.name = line.head().at(1), .exclusive_kind = kind == "-" ? "" : kind, .root = {}});
      read_group(line, instance.gangs.back().root);
      open_.push_back(&instance.gangs.back().root);
    } else if (what == "set" && !open_.empty()) {
      open_.back()->pod_sets.push_back(pod_set_of(line));
    } else if (what == "group" && !open_.empty()) {
      GroupSpec& group = open_.back()->groups.emplace_back();
      group.name = line.head().at(1);
      read_group(line, group);
      open_.push_back(&group);
    } else if (what == "end" && !open_.empty()) {
      open_.pop_back();
    } else {
      throw std::invalid_argument("unexpected " + what);
    }
  }

  Instance instance;

 private:
  std::vector<GroupSpec*> open_;  // innermost last; a parent is not touched while it is open
};

}  // namespace

std::string to_text(const Instance& instance) {
  std::string text = fmt::format("levels {}\n", fmt::join(instance.levels, " "));
  for (const NodeSpec& node : instance.nodes) {
    text += node_text(node);
  }
  for (const GangSpec& gang : instance.gangs) {
    text += fmt::format("gang {} {}{}\n", gang.name, gang.exclusive_kind.empty() ? "-" : gang.exclusive_kind,
                        group_text(gang.root));
    text += group_body(gang.root, "  ") + "end\n";
  }
  return text;
}

Instance parse_instance(const std::string& text) {
  Reader reader;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (const Words words = words_of(line); words.empty() || words[0].starts_with('#')) {
      continue;
    }
    try {
      reader.read(line);
    } catch (const std::exception& error) {
      throw std::invalid_argument(fmt::format("line {}: {}: {}", number, error.what(), line));
    }
  }
  return reader.instance;
}

}  // namespace gantree::test
