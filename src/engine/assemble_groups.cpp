#include "engine/assemble_groups.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gantree {

namespace {

// Pods on one host, or one group that has been put together already.
struct Item {
  Domain where;            // the lowest domain that holds it
  std::uint32_t host = 0;  // its first
  int count = 1;           // of pods
  std::size_t group = 0;   // of groups: its position
};
using Items = std::vector<Item>;

// What one group is made of, by child kind.
struct Assembled {
  std::vector<Items> items;
  Item own;
};
using Groups = std::vector<Assembled>;

Domain common(const DomainTree& tree, Domain a, Domain b) {
  const int level = std::min(a.level, b.level);
  Domain x{level, tree.ancestor(a.level, a.index, level)};
  Domain y{level, tree.ancestor(b.level, b.index, level)};
  while (x != y) {
    x = {x.level - 1, x.level > 0 ? tree.parent(x.level, x.index) : 0};
    y = {y.level - 1, y.level > 0 ? tree.parent(y.level, y.index) : 0};
  }
  return x;
}

class Assembly {
 public:
  Assembly(const GangPlan& plan, const GangPlan& merged, const std::vector<Shares>& shares, const DomainTree& tree)
      : plan_(plan), merged_(merged), shares_(shares), tree_(tree), found_(plan.parts.size()) {}

  std::optional<std::vector<Shares>> run(const AlikePlan::Kind& root) {
    if (!assemble(root)) {
      return std::nullopt;
    }
    hand_out(root, 0, groups_.at(&root).front());
    return std::move(found_);
  }

 private:
  using Pool = std::vector<Items>;  // by child kind

  bool assemble(const AlikePlan::Kind& kind);
  bool from_the_hosts_up(const AlikePlan::Kind& kind, const std::vector<int>& need, std::vector<Items> all);
  [[nodiscard]] Assembled take_group(const std::vector<int>& need, Pool& pool) const;
  static void take_items(int need, Items& from, const Assembled& group, Items& to);
  void settle(Assembled& group) const;
  void hand_out(const AlikePlan::Kind& kind, std::size_t node, const Assembled& group);

  const GangPlan& plan_;
  const GangPlan& merged_;
  const std::vector<Shares>& shares_;
  const DomainTree& tree_;
  std::map<const AlikePlan::Kind*, Groups> groups_;  // in the order of their hosts
  std::vector<Shares> found_;
};

bool Assembly::assemble(const AlikePlan::Kind& kind) {
  std::vector<int> need;
  std::vector<Items> all;
  for (const AlikePlan::Kind& child : kind.children) {
    Items& items = all.emplace_back();
    int sum = 0;
    if (child.leaf()) {
      for (const HostPods& share : shares_[child.part]) {
        items.push_back({{tree_.host_level(), share.host}, share.host, share.count, 0});
      }
      sum = merged_.parts[child.part].count;
    } else {
      if (!assemble(child)) {
        return false;
      }
      for (const Assembled& group : groups_.at(&child)) {
        items.push_back(group.own);
      }
      sum = static_cast<int>(child.nodes.size());
    }
    need.push_back(sum / static_cast<int>(kind.nodes.size()));
  }
  Groups& groups = groups_[&kind];
  if (kind.nodes.size() == 1) {
    settle(groups.emplace_back(Assembled{std::move(all), {}}));
  } else if (!from_the_hosts_up(kind, need, std::move(all))) {
    return false;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Assembled& a, const Assembled& b) { return a.own.host < b.own.host; });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].own.group = g;
  }
  return groups.size() == kind.nodes.size();
}

bool Assembly::from_the_hosts_up(const AlikePlan::Kind& kind, const std::vector<int>& need, std::vector<Items> all) {
  Groups& groups = groups_[&kind];
  std::map<std::uint32_t, Pool> below;
  for (int level = tree_.host_level(); level >= -1; --level) {
    std::map<std::uint32_t, Pool> pools;
    const auto pool_at = [&](std::uint32_t index) -> Pool& {
      return pools.try_emplace(index, Pool(need.size())).first->second;
    };
    for (auto& [index, pool] : below) {
      Pool& here = pool_at(level < 0 ? 0 : tree_.parent(level + 1, index));
      for (std::size_t k = 0; k < need.size(); ++k) {
        here[k].insert(here[k].end(), pool[k].begin(), pool[k].end());
      }
    }
    for (std::size_t k = 0; k < need.size(); ++k) {
      for (const Item& item : all[k]) {
        if (item.where.level == level) {
          pool_at(item.where.index)[k].push_back(item);
        }
      }
    }
    for (auto& [index, pool] : pools) {
      for (;;) {
        std::size_t k = 0;
        for (; k < need.size(); ++k) {
          int pods = 0;
          for (const Item& item : pool[k]) {
            pods += item.count;
          }
          if (pods < need[k]) {
            break;
          }
        }
        if (k < need.size()) {
          break;
        }
        groups.push_back(take_group(need, pool));
      }
      const bool left = std::any_of(pool.begin(), pool.end(), [](const Items& items) { return !items.empty(); });
      if (left && level <= kind.nodes.front()->required) {
        return false;
      }
    }
    std::erase_if(pools, [](const auto& entry) {
      return std::all_of(entry.second.begin(), entry.second.end(), [](const Items& items) { return items.empty(); });
    });
    below = std::move(pools);
  }
  return below.empty();
}

// The kind of which most are needed first; the others where that is, if they can.
Assembled Assembly::take_group(const std::vector<int>& need, Pool& pool) const {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < need.size(); ++k) {
    order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return need[a] > need[b]; });
  Assembled group{std::vector<Items>(need.size()), {}};
  for (const std::size_t k : order) {
    take_items(need[k], pool[k], group, group.items[k]);
  }
  settle(group);
  return group;
}

// From as few hosts as can be: one that just holds what is left, or else the one that holds most.
void Assembly::take_items(int need, Items& from, const Assembled& group, Items& to) {
  const auto known = [&](const Item& item) {
    return std::any_of(group.items.begin(), group.items.end(), [&](const Items& items) {
      return std::any_of(items.begin(), items.end(), [&](const Item& other) { return other.host == item.host; });
    });
  };
  while (need > 0) {
    const auto rank = [&](const Item& item) {
      const bool enough = item.count >= need;
      return std::tuple(!known(item), !enough, enough ? item.count : -item.count, item.host);
    };
    const auto best =
        std::min_element(from.begin(), from.end(), [&](const Item& a, const Item& b) { return rank(a) < rank(b); });
    const int count = std::min(need, best->count);
    to.push_back(*best);
    to.back().count = count;
    need -= count;
    if ((best->count -= count) == 0) {
      from.erase(best);
    }
  }
}

void Assembly::settle(Assembled& group) const {
  bool first = true;
  for (Items& items : group.items) {
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return std::pair(a.host, a.group) < std::pair(b.host, b.group); });
    for (const Item& item : items) {
      group.own.where = first ? item.where : common(tree_, group.own.where, item.where);
      group.own.host = first ? item.host : std::min(group.own.host, item.host);
      first = false;
    }
  }
  group.own.count = 1;
}

// The pods of a group to the parts below one node that it stands for.
void Assembly::hand_out(const AlikePlan::Kind& kind, std::size_t node, const Assembled& group) {
  for (std::size_t k = 0; k < kind.children.size(); ++k) {
    const AlikePlan::Kind& child = kind.children[k];
    const std::size_t each = child.nodes.size() / kind.nodes.size();
    if (!child.leaf()) {
      for (std::size_t i = 0; i < each; ++i) {
        hand_out(child, node * each + i, groups_.at(&child)[group.items[k][i].group]);
      }
      continue;
    }
    std::size_t next = 0;
    int used = 0;
    for (std::size_t i = 0; i < each; ++i) {
      const std::size_t part = child.nodes[node * each + i]->part;
      for (int left = plan_.parts[part].count; left > 0;) {
        const Item& item = group.items[k][next];
        const int count = std::min(left, item.count - used);
        found_[part].push_back({item.host, count});
        left -= count;
        used += count;
        if (used == item.count) {
          ++next;
          used = 0;
        }
      }
    }
  }
}

}  // namespace

std::optional<std::vector<Shares>> assemble_groups(const GangPlan& plan, const GangPlan& merged,
                                                   const AlikePlan::Kind& root, const std::vector<Shares>& shares,
                                                   const DomainTree& tree) {
  return Assembly(plan, merged, shares, tree).run(root);
}

}  // namespace gantree
