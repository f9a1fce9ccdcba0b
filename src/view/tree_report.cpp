#include "view/tree_report.h"

#include <algorithm>
#include <numeric>

#include "engine/slot_counts.h"
#include "view/words.h"

namespace gantree::view {

namespace {

// The resource to count: what is asked for, if that is an extended one.
ResourceId counted_resource(const Inventory& inventory, const Amounts& request) {
  for (const auto& [resource, amount] : request.entries()) {
    if (inventory.resources().name(resource).find('/') != std::string_view::npos) {
      return resource;
    }
  }
  return request.empty() ? main_resource(inventory, {}) : request.entries().front().first;
}

PodShape shape_of(const TreeReport& report, Interner& strings) {
  PodShape shape;
  shape.requests = report.request;
  shape.requests.set(ResourceNames::kPods, 1);
  for (const std::string& key : report.tolerated) {
    Toleration toleration;
    toleration.op = TolerationOperator::kExists;
    if (key != "*") {
      toleration.key = strings.intern(key);
    }
    shape.tolerations.push_back(toleration);
  }
  return shape;
}

class Counting {
 public:
  Counting(const Scene& scene, const SlotCounts& now, const SlotCounts& when_empty)
      : scene_(scene), tree_(*scene.tree), now_(now), when_empty_(when_empty) {
    empty_before_.push_back(0);
    eligible_before_.push_back(0);
    free_before_.push_back(0);
    for (std::uint32_t host = 0; host < scene.hosts.size(); ++host) {
      const bool eligible = now.ineligible(host) == Ineligible::kNo;
      const bool empty = eligible && scene.hosts[host].state() == HostState::kFree;
      eligible_before_.push_back(eligible_before_.back() + (eligible ? 1 : 0));
      empty_before_.push_back(empty_before_.back() + (empty ? 1 : 0));
      free_before_.push_back(plus(free_before_.back(), eligible ? scene.hosts[host].free : 0));
    }
  }

  [[nodiscard]] LevelRoom level(int level) const {
    LevelRoom room;
    room.level = level;
    bool first = true;
    for (const std::uint32_t index : in_order(level, 0, tree_.size(level))) {
      const Domain domain{level, level < 0 ? 0 : index};
      if (const int pods = now_.capacity(domain); first || pods > room.pods) {
        room.pods = pods;
        room.pods_in = domain;
      }
      if (const std::int64_t empty = within(empty_before_, domain); first || empty > room.empty) {
        room.empty = empty;
        room.empty_in = domain;
      }
      room.pods_when_empty = std::max(room.pods_when_empty, when_empty_.capacity(domain));
      first = false;
    }
    return room;
  }

  [[nodiscard]] DomainRoom domain(Domain domain, int deepest) const {
    DomainRoom room;
    room.domain = domain;
    room.totals = totals(scene_, tree_.hosts(domain));
    room.eligible = within(eligible_before_, domain);
    room.empty = within(empty_before_, domain);
    room.free = within(free_before_, domain);
    room.pods = now_.capacity(domain);
    if (domain.level < deepest) {
      const Range children = tree_.children(domain);
      for (const std::uint32_t index : in_order(domain.level + 1, children.begin, children.end)) {
        room.domains.push_back(this->domain({domain.level + 1, index}, deepest));
      }
    }
    return room;
  }

 private:
  [[nodiscard]] std::int64_t within(const std::vector<std::int64_t>& before, Domain domain) const {
    const Range hosts = tree_.hosts(domain);
    return before[hosts.end] - before[hosts.begin];
  }

  // By parent, then by name, so that r2 comes before r10.
  [[nodiscard]] std::vector<std::uint32_t> in_order(int level, std::uint32_t begin, std::uint32_t end) const {
    std::vector<std::uint32_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    if (level >= 0) {
      std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return before(level, a, b); });
    }
    return order;
  }
  [[nodiscard]] bool before(int level, std::uint32_t a, std::uint32_t b) const {
    if (level > 0 && tree_.parent(level, a) != tree_.parent(level, b)) {
      return before(level - 1, tree_.parent(level, a), tree_.parent(level, b));
    }
    const std::string& name_a = tree_.name({level, a});
    const std::string& name_b = tree_.name({level, b});
    return name_a == name_b ? a < b : natural_less(name_a, name_b);
  }

  const Scene& scene_;
  const DomainTree& tree_;
  const SlotCounts& now_;
  const SlotCounts& when_empty_;
  std::vector<std::int64_t> eligible_before_;  // by host: how many before it
  std::vector<std::int64_t> empty_before_;
  std::vector<std::int64_t> free_before_;
};

}  // namespace

TreeReport report_tree(Cluster& cluster, const TreeQuestion& question) {
  Inventory& inventory = cluster.inventory();
  TreeReport report;
  const ResourceId resource = counted_resource(inventory, question.request);
  report.scene = make_scene(cluster, question.topology, resource, {});
  report.request = question.request;
  if (report.request.empty()) {
    report.request.set(resource, ResourceNames::unit(resource) == Unit::kMilli ? 1000 : 1);
  }
  report.tolerated = question.tolerated;
  for (const StringId key : common_taints(inventory, *report.scene.tree)) {
    report.tolerated.emplace_back(inventory.strings().text(key));
  }
  std::sort(report.tolerated.begin(), report.tolerated.end());
  report.tolerated.erase(std::unique(report.tolerated.begin(), report.tolerated.end()), report.tolerated.end());

  const PodShape shape = shape_of(report, inventory.strings());
  const SlotCounts& now = cluster.engine().slots(question.topology, shape);
  const SlotCounts when_empty(inventory, *report.scene.tree, shape, {}, Fill::kEmpty);
  const Counting counting(report.scene, now, when_empty);
  for (int level = -1; level < report.scene.tree->levels(); ++level) {
    report.levels.push_back(counting.level(level));
  }
  const DomainTree& tree = *report.scene.tree;
  report.root = counting.domain(kWholeTree, std::min(question.levels.value_or(tree.host_level()), tree.levels()) - 1);
  return report;
}

}  // namespace gantree::view
