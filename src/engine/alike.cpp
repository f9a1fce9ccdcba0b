#include "engine/alike.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "engine/assemble_groups.h"

namespace gantree {

namespace {

constexpr std::ptrdiff_t kMostKindsCompared = 64;  // a gang of very many kinds has little that is alike

// Groups around a part, of which each wants one domain of a level.
struct Layer {
  int level = 0;
  int groups = 1;
};

// As people count: w-2 before w-10.
bool before_by_name(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const auto number = [&](std::string_view text, std::size_t& at) {
        while (at + 1 < text.size() && text[at] == '0' && digit(text[at + 1])) {
          ++at;
        }
        const std::size_t begin = at;
        while (at < text.size() && digit(text[at])) {
          ++at;
        }
        return text.substr(begin, at - begin);
      };
      const std::string_view in_a = number(a, i);
      const std::string_view in_b = number(b, j);
      if (in_a != in_b) {
        return std::pair(in_a.size(), in_a) < std::pair(in_b.size(), in_b);
      }
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return std::pair(a.size() - i, a) < std::pair(b.size() - j, b);
}

bool says_nothing(const PlanNode& node) {
  return !node.leaf() && !node.unit && node.required < 0 && node.exclusive < 0;
}

// Its children, where those that say nothing themselves stand back behind theirs.
void collect_children(const PlanNode& node, std::vector<const PlanNode*>& out) {
  for (const PlanNode& child : node.children) {
    if (says_nothing(child)) {
      collect_children(child, out);
    } else {
      out.push_back(&child);
    }
  }
}

std::vector<const PlanNode*> children_of(const PlanNode& node) {
  std::vector<const PlanNode*> children;
  collect_children(node, children);
  return children;
}

// Whether pods of both may stand for each other, however many they are.
bool interchangeable(const Part& a, const Part& b) {
  return a.topology == b.topology && a.packing == b.packing && a.level == b.level && a.slices == b.slices &&
         a.packing != Packing::kSpread && a.packing != Packing::kBalanced &&
         (a.shape == b.shape || *a.shape == *b.shape);
}

bool alike(const GangPlan& plan, const PlanNode& a, const PlanNode& b) {
  if (a.leaf() || b.leaf()) {
    return a.leaf() && b.leaf() && plan.parts[a.part].count == plan.parts[b.part].count &&
           interchangeable(plan.parts[a.part], plan.parts[b.part]);
  }
  if (a.required != b.required || a.exclusive != b.exclusive || a.unit != b.unit || a.depth != b.depth) {
    return false;
  }
  const std::vector<const PlanNode*> in_a = children_of(a);
  const std::vector<const PlanNode*> in_b = children_of(b);
  return std::equal(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                    [&](const PlanNode* x, const PlanNode* y) { return alike(plan, *x, *y); });
}

}  // namespace

class AlikePlanner {
 public:
  explicit AlikePlanner(const GangPlan& plan) : plan_(plan), found_(plan) {}

  std::optional<AlikePlan> run() {
    found_.root_.nodes = {&plan_.root};
    found_.merged_.root = merge(found_.root_, {});
    if (found_.merged_.parts.size() == plan_.parts.size()) {
      return std::nullopt;
    }
    return std::move(found_);
  }

 private:
  // The merged node of a kind, below groups that each want one domain of a level.
  PlanNode merge(AlikePlan::Kind& kind, std::vector<Layer> above);
  PlanNode merge_leaves(AlikePlan::Kind& kind, std::size_t parents, const std::vector<Layer>& above);
  [[nodiscard]] std::string_view name(const PlanNode& node) const;

  const GangPlan& plan_;
  AlikePlan found_;
};

std::string_view AlikePlanner::name(const PlanNode& node) const {
  std::vector<std::size_t> parts;
  collect_parts(node, parts);
  std::string_view least = plan_.parts[parts.front()].name;
  for (const std::size_t part : parts) {
    least = std::min(least, plan_.parts[part].name);
  }
  return least;
}

PlanNode AlikePlanner::merge_leaves(AlikePlan::Kind& kind, std::size_t parents, const std::vector<Layer>& above) {
  Part part = plan_.parts[kind.nodes.front()->part];
  part.count = 0;
  for (const PlanNode* leaf : kind.nodes) {
    const Part& own = plan_.parts[leaf->part];
    part.count += own.count;
    part.name = std::min(part.name, own.name);
  }
  // The groups around it come whole: as a slice does in every domain of their level.
  std::vector<Slice> slices;
  for (const Layer& layer : above) {
    const int size = part.count / layer.groups;
    if (size > 1 && (slices.empty() || slices.back().level < layer.level)) {
      slices.push_back({layer.level, size});
    }
  }
  for (const Slice& layer : part.slices) {
    if (slices.empty() || slices.back().level < layer.level) {
      slices.push_back(layer);
    }
  }
  part.slices = std::move(slices);
  PlanNode leaf;
  leaf.groups = static_cast<int>(parents);
  leaf.part = kind.part = found_.merged_.parts.size();
  found_.merged_.parts.push_back(std::move(part));
  return leaf;
}

PlanNode AlikePlanner::merge(AlikePlan::Kind& kind, std::vector<Layer> above) {
  const PlanNode& first = *kind.nodes.front();
  PlanNode node;
  node.required = first.required;
  node.exclusive = first.exclusive;
  node.unit = first.unit;
  node.depth = first.depth;
  node.groups = static_cast<int>(kind.nodes.size());
  if (node.groups > 1 && node.required >= 0) {
    above.push_back({node.required, node.groups});
  }
  // Which children of the first are alike holds for all.
  const std::vector<const PlanNode*> children = children_of(first);
  std::vector<std::vector<std::size_t>> classes;
  for (std::size_t c = 0; c < children.size(); ++c) {
    const auto from = classes.end() - std::min<std::ptrdiff_t>(kMostKindsCompared, std::ssize(classes));
    const auto like = std::find_if(from, classes.end(), [&](const auto& members) {
      const PlanNode& other = *children[members.front()];
      return children[c]->leaf() && other.leaf()
                 ? interchangeable(plan_.parts[children[c]->part], plan_.parts[other.part])
                 : alike(plan_, *children[c], other);
    });
    (like == classes.end() ? classes.emplace_back() : *like).push_back(c);
  }
  std::vector<std::vector<const PlanNode*>> own;
  for (const PlanNode* parent : kind.nodes) {
    own.push_back(children_of(*parent));
  }
  for (const std::vector<std::size_t>& members : classes) {
    AlikePlan::Kind& child = kind.children.emplace_back();
    for (const std::vector<const PlanNode*>& siblings : own) {
      const std::size_t begin = child.nodes.size();
      for (const std::size_t c : members) {
        child.nodes.push_back(siblings[c]);
      }
      std::stable_sort(child.nodes.begin() + static_cast<std::ptrdiff_t>(begin), child.nodes.end(),
                       [&](const PlanNode* a, const PlanNode* b) { return before_by_name(name(*a), name(*b)); });
    }
    node.children.push_back(child.nodes.front()->leaf() ? merge_leaves(child, kind.nodes.size(), above)
                                                        : merge(child, above));
  }
  return node;
}

std::optional<AlikePlan> AlikePlan::of(const GangPlan& plan) {
  const bool one_tree = std::all_of(plan.parts.begin(), plan.parts.end(),
                                    [&](const Part& part) { return part.topology == plan.parts.front().topology; });
  return plan.parts.size() < 2 || !one_tree ? std::nullopt : AlikePlanner(plan).run();
}

std::optional<std::vector<Shares>> AlikePlan::apart(const std::vector<Shares>& shares, const DomainTree& tree) const {
  return assemble_groups(*plan_, merged_, root_, shares, tree);
}

}  // namespace gantree
