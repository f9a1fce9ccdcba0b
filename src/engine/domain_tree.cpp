#include "engine/domain_tree.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"

namespace gantree {

namespace {

struct Entry {
  NodeId node;
  std::vector<StringId> values;
  bool lone = false;  // alone in its domain above the hosts, whatever others are called
};

// The labels of one level that some node may carry, in the order in which they count.
struct LevelKeys {
  std::vector<StringId> keys;
  bool skip_empty = false;
};

std::vector<LevelKeys> keys_of(const Topology& topology, const Interner& strings) {
  std::vector<LevelKeys> levels;
  for (std::size_t l = 0; l < topology.levels.size(); ++l) {
    LevelKeys& level = levels.emplace_back();
    const auto add = [&](const std::string& label) {
      if (const auto key = strings.find(label)) {
        level.keys.push_back(*key);
      }
    };
    add(topology.levels[l]);
    if (l < topology.alternatives.size()) {
      std::for_each(topology.alternatives[l].begin(), topology.alternatives[l].end(), add);
      level.skip_empty = !topology.alternatives[l].empty();
    }
  }
  levels[static_cast<std::size_t>(topology.lowest_above_hosts())].skip_empty |= topology.lone_nodes;
  return levels;
}

std::optional<StringId> value_at(const Node& node, const LevelKeys& level, const Interner& strings) {
  for (const StringId key : level.keys) {
    const StringId* value = label_value(node.labels, key);
    if (value != nullptr && !(level.skip_empty && strings.text(*value).empty())) {
      return *value;
    }
  }
  return std::nullopt;
}

std::vector<Entry> labelled_nodes(const Inventory& inventory, const Topology& topology) {
  const Interner& strings = inventory.strings();
  const std::vector<LevelKeys> levels = keys_of(topology, strings);
  const auto lowest = static_cast<std::size_t>(topology.lowest_above_hosts());
  std::vector<Entry> entries;
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    const auto id = make_id<NodeTag>(n);
    if (!inventory.alive(id)) {
      continue;
    }
    const Node& node = inventory.node(id);
    Entry entry{id, {}};
    entry.values.reserve(levels.size());
    for (const LevelKeys& level : levels) {
      auto value = value_at(node, level, strings);
      if (!value && topology.lone_nodes && &level == &levels[lowest]) {
        value = strings.find(node.name);
        entry.lone = true;
      }
      if (!value) {
        break;
      }
      entry.values.push_back(*value);
    }
    if (entry.values.size() == levels.size()) {
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

// The rank of every value that occurs, in byte order, so that sorting paths
// compares integers.
std::vector<std::uint32_t> ranks(const std::vector<Entry>& entries, const Interner& strings) {
  std::vector<StringId> used;
  for (const Entry& entry : entries) {
    used.insert(used.end(), entry.values.begin(), entry.values.end());
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::sort(used.begin(), used.end(), [&](StringId a, StringId b) { return strings.text(a) < strings.text(b); });
  std::vector<std::uint32_t> rank(strings.size(), 0);
  for (std::size_t i = 0; i < used.size(); ++i) {
    rank[used[i].index()] = static_cast<std::uint32_t>(i);
  }
  return rank;
}

void sort_by_path(std::vector<Entry>& entries, const Inventory& inventory, const Topology& topology) {
  const std::vector<std::uint32_t> rank = ranks(entries, inventory.strings());
  const auto lowest = static_cast<std::size_t>(topology.lowest_above_hosts());
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    for (std::size_t l = 0; l < a.values.size(); ++l) {
      if (a.values[l] != b.values[l]) {
        return rank[a.values[l].index()] < rank[b.values[l].index()];
      }
      if (l == lowest && a.lone != b.lone) {
        return b.lone;
      }
    }
    return inventory.node(a.node).name < inventory.node(b.node).name;
  });
}

// Whether every lowest-level domain is one host, so that it can be the host level.
bool hosts_are_lowest_level(const std::vector<Entry>& entries, const Topology& topology) {
  if (topology.levels.back() != kHostnameLabel) {
    return false;
  }
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].values == entries[i - 1].values && entries[i].lone == entries[i - 1].lone) {
      return false;
    }
  }
  return true;
}

}  // namespace

DomainTree::DomainTree(const Inventory& inventory, const Topology& topology) : structure_(inventory.structure()) {
  GANTREE_CHECK(!topology.levels.empty());
  std::vector<Entry> entries = labelled_nodes(inventory, topology);
  sort_by_path(entries, inventory, topology);
  topology_levels_ = static_cast<int>(topology.levels.size());
  const bool merged = hosts_are_lowest_level(entries, topology);
  levels_.resize(to(topology_levels_ + (merged ? 0 : 1)));

  host_of_.assign(inventory.size(), kNowhere);
  for (std::uint32_t host = 0; host < entries.size(); ++host) {
    const Entry& entry = entries[host];
    nodes_.push_back(entry.node);
    host_of_[entry.node.index()] = host;
    // The first level whose value differs from the host before starts a new
    // domain there and on every level below.
    int fresh = 0;
    if (host > 0) {
      const auto& before = entries[host - 1].values;
      const auto [a, b] = std::mismatch(before.begin(), before.end(), entry.values.begin());
      fresh = static_cast<int>(a - before.begin());
      if (entry.lone) {  // it sorts behind a domain that happens to have its name
        fresh = std::min(fresh, topology.lowest_above_hosts());
      }
    }
    for (int l = fresh; l < levels(); ++l) {
      Level& level = levels_[to(l)];
      level.parent.push_back(l == 0 ? 0 : static_cast<std::uint32_t>(levels_[to(l - 1)].parent.size() - 1));
      level.first_host.push_back(host);
      level.name.emplace_back(l < topology_levels_ ? inventory.strings().text(entry.values[to(l)])
                                                   : std::string_view(inventory.node(entry.node).name));
      if (l > 0) {
        Level& above = levels_[to(l - 1)];
        if (above.first_child.size() < above.parent.size()) {
          above.first_child.push_back(static_cast<std::uint32_t>(level.parent.size() - 1));
        }
      }
    }
  }
  for (int l = 0; l < levels(); ++l) {
    Level& level = levels_[to(l)];
    level.first_host.push_back(static_cast<std::uint32_t>(nodes_.size()));
    if (l < host_level()) {
      level.first_child.push_back(static_cast<std::uint32_t>(levels_[to(l + 1)].parent.size()));
    }
  }
}

std::uint32_t DomainTree::size(int level) const {
  return level < 0 ? 1 : static_cast<std::uint32_t>(levels_[to(level)].parent.size());
}

Range DomainTree::children(Domain domain) const {
  if (domain.level < 0) {
    return {0, size(0)};
  }
  const auto& first = levels_[to(domain.level)].first_child;
  return {first[domain.index], first[domain.index + 1]};
}

Range DomainTree::hosts(Domain domain) const {
  if (domain.level < 0) {
    return {0, static_cast<std::uint32_t>(nodes_.size())};
  }
  const auto& first = levels_[to(domain.level)].first_host;
  return {first[domain.index], first[domain.index + 1]};
}

Range DomainTree::below(Domain domain, int level) const {
  GANTREE_CHECK(level >= domain.level);
  if (level == domain.level) {
    return {domain.index, domain.index + 1};
  }
  Range range = children(domain);
  for (int l = domain.level + 1; l < level; ++l) {
    const auto& first = levels_[to(l)].first_child;
    range = {first[range.begin], first[range.end]};
  }
  return range;
}

std::uint32_t DomainTree::ancestor(int level, std::uint32_t index, int at) const {
  if (at < 0) {
    return 0;
  }
  for (; level > at; --level) {
    index = parent(level, index);
  }
  return index;
}

std::vector<std::string> DomainTree::path(Domain domain) const {
  std::vector<std::string> values;
  for (int l = 0; l <= domain.level && l < topology_levels_; ++l) {
    values.push_back(name({l, ancestor(domain.level, domain.index, l)}));
  }
  return values;
}

const std::string& DomainTree::name(Domain domain) const {
  return levels_[to(domain.level)].name[domain.index];
}

}  // namespace gantree
