#include "engine/freed_slots.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/slot_counts.h"

namespace gantree {

namespace {

std::size_t at(int level) {
  return static_cast<std::size_t>(level + 1);
}

}  // namespace

FreedSlots::FreedSlots(Engine& engine, const std::string& exclusive_kind, const Victims& victims, const PartNeed& need)
    : need_(need), tree_(&engine.tree(need.part->topology)) {
  for (const auto& [resource, amount] : need.part->shape->requests.entries()) {
    resources_.push_back(resource);
    request_.push_back(amount);
  }
  unit_.assign(at(tree_->levels()), 1);
  for (const Slice& slice : need.part->slices) {
    for (int level = -1; level <= slice.level; ++level) {
      unit_[at(level)] = std::lcm(unit_[at(level)], slice.size);
    }
  }
  read_hosts(engine);
  read_candidates(victims);
  keeps_.resize(victims.size());
  if (need.exclusive >= 0) {
    read_exclusives(engine, exclusive_kind, victims);
  }
  enter(kWholeTree);
}

void FreedSlots::read_hosts(Engine& engine) {
  const int host_level = tree_->host_level();
  const std::uint32_t hosts = tree_->size(host_level);
  const SlotCounts& now = engine.slots(need_.part->topology, *need_.part->shape);
  const Inventory& inventory = engine.inventory();
  free_.resize(hosts * request_.size());
  eligible_.resize(hosts);
  slots_.resize(hosts);
  upper_.resize(hosts);
  sum_.resize(at(host_level));
  for (int level = -1; level < host_level; ++level) {
    sum_[at(level)].assign(level < 0 ? 1 : tree_->size(level), 0);
  }
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (std::size_t r = 0; r < request_.size(); ++r) {
      free_[host * request_.size() + r] = inventory.free(tree_->node(host), resources_[r]);
    }
    eligible_[host] = now.ineligible(host) == Ineligible::kNo ? 1 : 0;
    slots_[host] = slots_of(host);
  }
  for (int level = host_level; level >= 0; --level) {
    for (std::uint32_t d = 0; d < tree_->size(level); ++d) {
      sum_[at(level - 1)][level == 0 ? 0 : tree_->parent(level, d)] += capacity({level, d});
    }
  }
}

void FreedSlots::read_candidates(const Victims& victims) {
  const std::size_t width = request_.size();
  std::vector<std::int64_t> amounts(width);
  std::vector<std::pair<std::uint32_t, const Holding*>> held;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    first_entry_.push_back(entry_host_.size());
    held.clear();
    for (const Holding& holding : victims.gang(i).holdings) {
      const std::uint32_t host = tree_->host_of(holding.node);
      if (host != DomainTree::kNowhere && eligible_[host] != 0) {
        held.emplace_back(host, &holding);
      }
    }
    std::sort(held.begin(), held.end());
    for (std::size_t h = 0; h < held.size();) {
      const std::uint32_t host = held[h].first;
      std::fill(amounts.begin(), amounts.end(), 0);
      for (; h < held.size() && held[h].first == host; ++h) {
        for (std::size_t r = 0; r < width; ++r) {
          amounts[r] += held[h].second->requests.get(resources_[r]) * held[h].second->count;
        }
      }
      if (std::any_of(amounts.begin(), amounts.end(), [](std::int64_t amount) { return amount > 0; })) {
        entry_host_.push_back(host);
        entry_amount_.insert(entry_amount_.end(), amounts.begin(), amounts.end());
      }
    }
  }
  first_entry_.push_back(entry_host_.size());
}

void FreedSlots::read_exclusives(const Engine& engine, const std::string& kind, const Victims& victims) {
  kept_by_.assign(tree_->size(need_.exclusive), 0);
  const auto each = [&](const ExclusiveHold& hold, auto note) {
    if (hold.kind != kind) {
      return;
    }
    for (const Range& range : held_domains(*tree_, need_.part->topology, hold, need_.exclusive)) {
      for (std::uint32_t d = range.begin; d < range.end; ++d) {
        note(d);
      }
    }
  };
  for (const auto& [hold, count] : engine.holds()) {
    each(hold, [&, by = count](std::uint32_t d) { kept_by_[d] += by; });
  }
  for (std::size_t i = 0; i < victims.size(); ++i) {
    for (const ExclusiveHold& hold : victims.gang(i).exclusives) {
      each(hold, [&](std::uint32_t d) { keeps_[i].push_back(d); });
    }
  }
}

std::int64_t FreedSlots::slots_of(std::uint32_t host) const {
  if (eligible_[host] == 0) {
    return 0;
  }
  std::int64_t slots = std::numeric_limits<std::int32_t>::max();
  for (std::size_t r = 0; r < request_.size(); ++r) {
    const std::int64_t free = free_[host * request_.size() + r];
    if (free < request_[r]) {
      return 0;
    }
    slots = std::min(slots, request_[r] == 1 ? free : free / request_[r]);
  }
  return slots;
}

std::int64_t FreedSlots::capacity(Domain domain) const {
  const bool host = domain.level == tree_->host_level();
  return whole(domain.level, host ? slots_[domain.index] : sum_[at(domain.level)][domain.index]);
}

bool FreedSlots::vacant(Domain domain) const {
  return need_.exclusive < 0 || domain.level < need_.exclusive ||
         kept_by_[tree_->ancestor(domain.level, domain.index, need_.exclusive)] == 0;
}

void FreedSlots::enter(Domain scope) {
  scope_ = scope;
  scope_hosts_ = tree_->hosts(scope);
}

FreedSlots::Entries FreedSlots::in_scope(std::size_t candidate) const {
  const auto begin = entry_host_.begin() + static_cast<std::ptrdiff_t>(first_entry_[candidate]);
  const auto end = entry_host_.begin() + static_cast<std::ptrdiff_t>(first_entry_[candidate + 1]);
  const auto first = scope_.level < 0 ? begin : std::lower_bound(begin, end, scope_hosts_.begin);
  const auto last = scope_.level < 0 ? end : std::lower_bound(first, end, scope_hosts_.end);
  return {static_cast<std::size_t>(first - entry_host_.begin()), static_cast<std::size_t>(last - entry_host_.begin())};
}

std::size_t FreedSlots::size(std::size_t candidate) const {
  const Entries entries = in_scope(candidate);
  return entries.end - entries.begin;
}

void FreedSlots::change(std::size_t candidate, std::int64_t sign) {
  const std::size_t width = request_.size();
  const Entries entries = in_scope(candidate);
  for (std::size_t e = entries.begin; e < entries.end; ++e) {
    const std::uint32_t host = entry_host_[e];
    for (std::size_t r = 0; r < width; ++r) {
      free_[host * width + r] += sign * entry_amount_[e * width + r];
    }
    recount(host);
  }
  for (const std::uint32_t domain : keeps_[candidate]) {
    kept_by_[domain] -= static_cast<int>(sign);
  }
}

void FreedSlots::recount(std::uint32_t host) {
  int level = tree_->host_level();
  const std::int64_t before = whole(level, slots_[host]);
  slots_[host] = slots_of(host);
  std::int64_t change = whole(level, slots_[host]) - before;
  for (std::uint32_t index = host; change != 0 && level > scope_.level;) {
    index = level == 0 ? 0 : tree_->parent(level, index);
    std::int64_t& sum = sum_[at(--level)][index];
    const std::int64_t old = whole(level, sum);
    sum += change;
    change = whole(level, sum) - old;
  }
}

bool FreedSlots::holds() const {
  const int level = std::max(need_.required, scope_.level);
  if (level == scope_.level) {
    return capacity(scope_) >= need_.part->count && vacant(scope_);
  }
  const Range range = tree_->below(scope_, level);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    if (capacity({level, d}) >= need_.part->count && vacant({level, d})) {
      return true;
    }
  }
  return false;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> FreedSlots::helped(int level) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  const auto note = [&](std::uint32_t domain, std::size_t candidate) {
    const std::pair pair{domain, static_cast<std::uint32_t>(candidate)};
    if (found.empty() || found.back() != pair) {
      found.push_back(pair);
    }
  };
  for (std::size_t i = 0; i + 1 < first_entry_.size(); ++i) {
    for (std::size_t e = first_entry_[i]; e < first_entry_[i + 1]; ++e) {
      note(level < 0 ? 0 : tree_->ancestor(tree_->host_level(), entry_host_[e], level), i);
    }
    for (const std::uint32_t kept : keeps_[i]) {
      if (level <= need_.exclusive) {
        note(level < 0 ? 0 : tree_->ancestor(need_.exclusive, kept, level), i);
        continue;
      }
      const Range range = tree_->below({need_.exclusive, kept}, level);
      for (std::uint32_t d = range.begin; d < range.end; ++d) {
        note(d, i);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool FreedSlots::keeps_out(std::size_t candidate) const {
  if (need_.exclusive < 0 || scope_.level < need_.exclusive) {
    return false;
  }
  const std::uint32_t domain = tree_->ancestor(scope_.level, scope_.index, need_.exclusive);
  return std::find(keeps_[candidate].begin(), keeps_[candidate].end(), domain) != keeps_[candidate].end();
}

// The resource that limits a host now.
std::size_t FreedSlots::scarcest(std::uint32_t host) const {
  const std::size_t width = request_.size();
  std::size_t best = 0;
  for (std::size_t r = 1; r < width; ++r) {
    if (free_[host * width + r] / request_[r] < free_[host * width + best] / request_[best]) {
      best = r;
    }
  }
  return best;
}

// Whether a host's slots grow by exactly what the entry frees of its scarcest resource, divided by the
// request, whoever else goes.
bool FreedSlots::adds_up(std::uint32_t host, std::size_t resource, std::size_t entry) const {
  const std::size_t width = request_.size();
  const std::int64_t* free = &free_[host * width];
  const std::int64_t* amount = &entry_amount_[entry * width];
  if (free[resource] < 0 || free[resource] % request_[resource] != 0 || amount[resource] % request_[resource] != 0) {
    return false;
  }
  for (std::size_t r = 0; r < width; ++r) {
    if (amount[r] / request_[r] < amount[resource] / request_[resource]) {
      return false;
    }
  }
  return true;
}

Gains FreedSlots::gains(std::span<const std::size_t> pool) {
  Gains found;
  const std::size_t width = request_.size();
  found.additive = need_.required <= scope_.level && need_.exclusive < 0 && unit_.front() == 1;
  found.missing = need_.part->count;
  for (std::uint32_t host = scope_hosts_.begin; host < scope_hosts_.end; ++host) {
    found.missing -= slots_[host];
  }
  for (const std::size_t i : pool) {
    evict(i);
  }
  for (const std::size_t i : pool) {
    const Entries entries = in_scope(i);
    for (std::size_t e = entries.begin; e < entries.end; ++e) {
      upper_[entry_host_[e]] = slots_[entry_host_[e]];
    }
  }
  for (const std::size_t i : pool) {
    restore(i);
  }
  for (const std::size_t i : pool) {
    std::int64_t most = 0;
    bool helps = keeps_out(i);
    const Entries entries = in_scope(i);
    for (std::size_t e = entries.begin; e < entries.end; ++e) {
      const std::uint32_t host = entry_host_[e];
      const std::size_t r = scarcest(host);
      const std::int64_t spare = std::max<std::int64_t>(0, free_[host * width + r] - slots_[host] * request_[r]);
      const std::int64_t share = (spare + entry_amount_[e * width + r] + request_[r] - 1) / request_[r];
      helps = helps || upper_[host] > slots_[host];
      most += std::min(share, upper_[host] - slots_[host]);
      found.additive = found.additive && adds_up(host, r, e);
    }
    found.most.push_back(most);
    found.helps.push_back(helps ? 1 : 0);
  }
  return found;
}

}  // namespace gantree
