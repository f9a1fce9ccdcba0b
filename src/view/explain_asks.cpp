#include "view/explain_asks.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/words.h"

namespace gantree::view {

namespace {

constexpr std::size_t kMostLines = 12;

// Lines without the name at the start, so that siblings can be compared.
struct Asked {
  std::string name;
  std::vector<AskLine> lines;  // the first is headed by the name
  friend bool same(const Asked& a, const Asked& b) {
    return std::equal(a.lines.begin(), a.lines.end(), b.lines.begin(), b.lines.end(),
                      [](const AskLine& x, const AskLine& y) { return x.depth == y.depth && x.text == y.text; });
  }
};

class Asks {
 public:
  Asks(const ExplainWords& words, const ResourceNames& names, bool unicode)
      : words_(words), names_(names), unicode_(unicode) {}

  [[nodiscard]] Asked pod_set(const PodSet& set, TopologyId inherited) const {
    const TopologyId topology = set.constraint.topology.value_or(inherited);
    std::string text = counted(set.count, "pod");
    if (set.min_count > 0 && set.min_count < set.count) {
      text += fmt::format(" (at least {})", set.min_count);
    }
    Amounts request = set.shape.requests;
    request.set(ResourceNames::kPods, 0);
    if (!request.empty()) {
      text += fmt::format(" of {}", printable(amounts_text(request, names_), unicode_));
    }
    for (const std::string& constraint : words_.constraint(set.constraint, topology)) {
      text += ", " + constraint;
    }
    return {set.name, {{0, text}}};
  }

  [[nodiscard]] Asked group(const Group& group, TopologyId inherited) const {
    const TopologyId topology = group.constraint.topology.value_or(inherited);
    std::vector<std::string> texts = words_.constraint(group.constraint, topology);
    if (group.min_pods) {
      texts.push_back(fmt::format("at least {} together", counted(*group.min_pods, "pod")));
    }
    if (group.min_groups) {
      texts.push_back(fmt::format("at least {}", counted(*group.min_groups, "group")));
    }
    Asked asked{group.name, {{0, fmt::format("{}", fmt::join(texts, ", "))}}};
    std::vector<Asked> parts;
    for (const PodSet& set : group.pod_sets) {
      parts.push_back(pod_set(set, topology));
    }
    for (const Group& nested : group.groups) {
      parts.push_back(this->group(nested, topology));
    }
    for (std::size_t i = 0, end = 0; i < parts.size(); i = end) {
      while (end < parts.size() && same(parts[i], parts[end])) {
        ++end;
      }
      add(asked, parts[i], end - i, parts[end - 1].name);
    }
    return asked;
  }

 private:
  // Adds a part, or several alike, below a group.
  void add(Asked& above, const Asked& part, std::size_t alike, const std::string& last) const {
    std::string name = part.name;
    if (alike > 1) {
      name = fmt::format("{} to {} ({} alike)", part.name, last, alike);
    }
    name = printable(name, unicode_);
    for (std::size_t i = 0; i < part.lines.size(); ++i) {
      const AskLine& line = part.lines[i];
      const std::string text = i > 0               ? line.text
                               : name.empty()      ? line.text
                               : line.text.empty() ? name
                                                   : fmt::format("{}: {}", name, line.text);
      above.lines.push_back({line.depth + 1, text});
    }
  }

  const ExplainWords& words_;
  const ResourceNames& names_;
  const bool unicode_;
};

}  // namespace

std::vector<AskLine> ask_lines(const Gang& gang, const ExplainWords& words, const ResourceNames& names, bool unicode) {
  std::vector<AskLine> lines = Asks(words, names, unicode).group(gang.root, gang.topology).lines;
  // A root that asks for nothing itself is no line, and what is in it stands at the margin.
  if (lines.front().text.empty()) {
    lines.erase(lines.begin());
    for (AskLine& line : lines) {
      --line.depth;
    }
  }
  if (lines.size() > kMostLines) {
    const auto more = static_cast<std::int64_t>(lines.size() - kMostLines);
    lines.resize(kMostLines);
    lines.push_back({0, fmt::format("and {}", counted(more, "more line"))});
  }
  return lines;
}

}  // namespace gantree::view
