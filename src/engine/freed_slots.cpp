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

FreedSlots::FreedSlots(Engine& engine, const std::string& exclusive_kind, const Victims& victims, const PartNeed& need,
                       HeldRoom& room)
    : need_(need), room_(&room), tree_(&room.tree()) {
  for (const auto& [resource, amount] : need.part->shape->requests.entries()) {
    column_.push_back(room.column(resource));
    request_.push_back(amount);
  }
  unit_.assign(at(tree_->levels()), 1);
  for (const Slice& slice : need.part->slices) {
    for (int level = -1; level <= slice.level; ++level) {
      unit_[at(level)] = std::lcm(unit_[at(level)], slice.size);
    }
  }
  read_hosts(engine);
  if (need.exclusive >= 0) {
    read_exclusives(engine, exclusive_kind, victims);
  }
  watched_ = need.groups > 1 ? need.exclusive : need.required;
  fits_.assign(watched_ < 0 ? 0 : tree_->size(watched_), 0);
  for (std::uint32_t d = 0; d < fits_.size(); ++d) {
    note_fitting(d);
  }
  note_scope();
}

std::size_t FreedSlots::bytes(const DomainTree& tree, const Victims& victims, const PartNeed& need) {
  const std::size_t hosts = tree.size(tree.host_level()) * (sizeof(char) + 2 * sizeof(std::int32_t));
  return need.exclusive < 0 ? hosts
                            : hosts + tree.size(need.exclusive) * sizeof(int) + victims.size() * sizeof(std::uint32_t);
}

void FreedSlots::read_hosts(Engine& engine) {
  const int host_level = tree_->host_level();
  const std::uint32_t hosts = tree_->size(host_level);
  const SlotCounts& now = engine.slots(need_.part->topology, *need_.part->shape);
  eligible_.resize(hosts);
  slots_.resize(hosts);
  upper_.resize(hosts);
  sum_.resize(at(host_level));
  for (int level = -1; level < host_level; ++level) {
    sum_[at(level)].assign(level < 0 ? 1 : tree_->size(level), 0);
  }
  for (std::uint32_t host = 0; host < hosts; ++host) {
    eligible_[host] = now.ineligible(host) == Ineligible::kNo ? 1 : 0;
    slots_[host] = slots_of(host);
  }
  for (int level = host_level; level >= 0; --level) {
    for (std::uint32_t d = 0; d < tree_->size(level); ++d) {
      sum_[at(level - 1)][level == 0 ? 0 : tree_->parent(level, d)] += capacity({level, d});
    }
  }
}

void FreedSlots::read_exclusives(const Engine& engine, const std::string& kind, const Victims& victims) {
  kept_by_.assign(tree_->size(need_.exclusive), 0);
  const auto each = [&](const ExclusiveHold& hold, auto note) {
    if (hold.kind != kind) {
      return;
    }
    // Every domain once, however many hosts of the gang are in it.
    std::vector<Range> ranges = held_domains(*tree_, need_.part->topology, hold, need_.exclusive);
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::uint32_t next = 0;
    for (const Range& range : ranges) {
      for (std::uint32_t d = std::max(next, range.begin); d < range.end; ++d) {
        note(d);
      }
      next = std::max(next, range.end);
    }
  };
  for (const auto& [hold, count] : engine.holds()) {
    each(hold, [&, by = count](std::uint32_t d) { kept_by_[d] += by; });
  }
  first_kept_.reserve(victims.size() + 1);
  for (std::size_t i = 0; i < victims.size(); ++i) {
    first_kept_.push_back(static_cast<std::uint32_t>(keeps_.size()));
    for (const ExclusiveHold& hold : victims.gang(i).exclusives) {
      each(hold, [&](std::uint32_t d) { keeps_.push_back(d); });
    }
  }
  first_kept_.push_back(static_cast<std::uint32_t>(keeps_.size()));
}

std::int32_t FreedSlots::slots_of(std::uint32_t host) const {
  if (eligible_[host] == 0) {
    return 0;
  }
  std::int64_t slots = std::numeric_limits<std::int32_t>::max();
  const std::int64_t* const columns = room_->free(host);
  for (std::size_t r = 0; r < request_.size(); ++r) {
    const std::int64_t free = columns[column_[r]];
    if (free < request_[r]) {
      return 0;
    }
    slots = std::min(slots, request_[r] == 1 ? free : free / request_[r]);
  }
  return static_cast<std::int32_t>(slots);
}

std::int64_t FreedSlots::capacity(Domain domain) const {
  const bool host = domain.level == tree_->host_level();
  return whole(domain.level, host ? slots_[domain.index] : sum_[at(domain.level)][domain.index]);
}

bool FreedSlots::vacant(Domain domain) const {
  return need_.exclusive < 0 || domain.level < need_.exclusive ||
         kept_by_[tree_->ancestor(domain.level, domain.index, need_.exclusive)] == 0;
}

void FreedSlots::recount(std::size_t candidate, HeldRoom::Entries entries, int sign) {
  for (std::size_t e = entries.begin; e < entries.end; ++e) {
    recount_host(room_->host(e));
  }
  for (const std::uint32_t domain : kept(candidate)) {
    kept_by_[domain] -= sign;
    if (watched_ >= need_.exclusive) {
      const Range below = tree_->below({need_.exclusive, domain}, watched_);
      for (std::uint32_t d = below.begin; d < below.end; ++d) {
        note_fitting(d);
      }
    }
  }
}

void FreedSlots::recount_host(std::uint32_t host) {
  int level = tree_->host_level();
  const std::int64_t before = whole(level, slots_[host]);
  slots_[host] = slots_of(host);
  std::int64_t change = whole(level, slots_[host]) - before;
  for (std::uint32_t index = host; change != 0 && level > room_->scope().level;) {
    index = level == 0 ? 0 : tree_->parent(level, index);
    std::int64_t& sum = sum_[at(--level)][index];
    const std::int64_t old = whole(level, sum);
    sum += change;
    change = whole(level, sum) - old;
  }
  if (watched_ > room_->scope().level) {
    note_fitting(tree_->ancestor(tree_->host_level(), host, watched_));
  }
}

void FreedSlots::note_fitting(std::uint32_t domain) {
  const Domain at{watched_, domain};
  const char now = capacity(at) >= need_.part->count / need_.groups && vacant(at) ? 1 : 0;
  if (domain >= watched_range_.begin && domain < watched_range_.end) {
    fitting_ += now - fits_[domain];
  }
  fits_[domain] = now;
}

void FreedSlots::note_scope() {
  const Domain scope = room_->scope();
  watched_range_ = watched_ > scope.level ? tree_->below(scope, watched_) : Range{};
  fitting_ = 0;
  for (std::uint32_t d = watched_range_.begin; d < watched_range_.end; ++d) {
    fitting_ += fits_[d];
  }
}

bool FreedSlots::holds() const {
  const Domain scope = room_->scope();
  if (watched_ > scope.level) {
    // Of several groups each wants one that nobody has to himself.
    return fitting_ >= need_.groups;
  }
  return need_.groups == 1 && capacity(scope) >= need_.part->count && vacant(scope);
}

bool FreedSlots::wants(std::size_t entry) const {
  if (eligible_[room_->host(entry)] == 0) {
    return false;
  }
  for (std::size_t r = 0; r < request_.size(); ++r) {
    if (held(entry, r) > 0) {
      return true;
    }
  }
  return false;
}

bool FreedSlots::keeps_out(std::size_t candidate) const {
  const Domain scope = room_->scope();
  if (need_.exclusive < 0 || scope.level < need_.exclusive) {
    return false;
  }
  const std::uint32_t domain = tree_->ancestor(scope.level, scope.index, need_.exclusive);
  const std::span<const std::uint32_t> own = kept(candidate);
  return std::find(own.begin(), own.end(), domain) != own.end();
}

// The resource that limits a host now.
std::size_t FreedSlots::scarcest(std::uint32_t host) const {
  std::size_t best = 0;
  for (std::size_t r = 1; r < request_.size(); ++r) {
    if (free(host, r) / request_[r] < free(host, best) / request_[best]) {
      best = r;
    }
  }
  return best;
}

// Whether a host's slots grow by exactly what the entry frees of its scarcest resource, divided by the
// request, whoever else goes.
bool FreedSlots::adds_up(std::uint32_t host, std::size_t resource, std::size_t entry) const {
  const std::int64_t here = free(host, resource);
  const std::int64_t amount = held(entry, resource);
  if (here < 0 || here % request_[resource] != 0 || amount % request_[resource] != 0) {
    return false;
  }
  for (std::size_t r = 0; r < request_.size(); ++r) {
    if (held(entry, r) / request_[r] < amount / request_[resource]) {
      return false;
    }
  }
  return true;
}

Gains FreedSlots::gains(std::span<const std::size_t> pool) {
  Gains found;
  const Domain scope = room_->scope();
  const Range hosts = room_->scope_hosts();
  found.additive = need_.required <= scope.level && need_.exclusive < 0 && unit_.front() == 1;
  found.missing = need_.part->count;
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    found.missing -= slots_[host];
  }
  std::vector<HeldRoom::Entries> held_there;
  held_there.reserve(pool.size());
  for (const std::size_t i : pool) {
    held_there.push_back(room_->in_scope(i));
    room_->evict(held_there.back());
    found.looks += static_cast<std::int64_t>(held_there.back().end - held_there.back().begin);
  }
  for (const HeldRoom::Entries& entries : held_there) {
    for (std::size_t e = entries.begin; e < entries.end; ++e) {
      upper_[room_->host(e)] = slots_of(room_->host(e));
    }
  }
  for (const HeldRoom::Entries& entries : held_there) {
    room_->restore(entries);
  }
  found.most.reserve(pool.size());
  found.helps.reserve(pool.size());
  for (std::size_t at = 0; at < pool.size(); ++at) {
    std::int64_t most = 0;
    bool helps = keeps_out(pool[at]);
    for (std::size_t e = held_there[at].begin; e < held_there[at].end; ++e) {
      if (!wants(e)) {
        continue;
      }
      const std::uint32_t host = room_->host(e);
      const std::size_t r = scarcest(host);
      const std::int64_t spare = std::max<std::int64_t>(0, free(host, r) - slots_[host] * request_[r]);
      const std::int64_t share = (spare + held(e, r) + request_[r] - 1) / request_[r];
      helps = helps || upper_[host] > slots_[host];
      most += std::min<std::int64_t>(share, upper_[host] - slots_[host]);
      found.additive = found.additive && adds_up(host, r, e);
    }
    found.most.push_back(most);
    found.helps.push_back(helps ? 1 : 0);
  }
  return found;
}

}  // namespace gantree
