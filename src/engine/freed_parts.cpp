// All parts of a gang side by side: which of them there is memory for, and whom it may help to evict.
#include <algorithm>
#include <utility>

#include "engine/freed_slots.h"

namespace gantree {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{20} * 1024 * 1024;
// Every trial goes through all parts.
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kFewestParts = 4;        // where candidates hold so much that
constexpr std::size_t kMostLooks = 1'000'000;  // to go through it for more parts would take long

// The needs that are kept, by the trees that they are about.
struct Kept {
  TopologyId topology;
  const DomainTree* tree = nullptr;
  std::vector<ResourceId> resources;
  std::vector<const PartNeed*> needs;
};

}  // namespace

FreedParts::FreedParts(Engine& engine, const std::string& exclusive_kind, const Victims& victims,
                       std::span<const PartNeed> needs) {
  std::size_t holdings = 0;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    holdings += victims.gang(i).holdings.size();
  }
  const std::size_t most = std::clamp(kMostLooks / std::max<std::size_t>(1, holdings), kFewestParts, kMostParts);
  std::vector<Kept> kept;
  std::vector<std::pair<std::size_t, const PartNeed*>> order;  // (tree, need)
  std::size_t bytes = 0;
  for (const PartNeed& need : needs) {
    const TopologyId topology = need.part->topology;
    auto like = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.topology == topology; });
    const DomainTree& tree = engine.tree(topology);
    std::vector<ResourceId> more;
    for (const auto& [resource, amount] : need.part->shape->requests.entries()) {
      if (like == kept.end() ||
          std::find(like->resources.begin(), like->resources.end(), resource) == like->resources.end()) {
        more.push_back(resource);
      }
    }
    const std::size_t own = FreedSlots::bytes(tree, victims, need) + HeldRoom::bytes(tree, holdings, more.size());
    if (order.size() >= most || (!order.empty() && bytes + own > kMaxBytes)) {
      all_ = false;
      continue;
    }
    bytes += own;
    if (like == kept.end()) {
      kept.push_back({topology, &tree, {}, {}});
      like = kept.end() - 1;
    }
    like->resources.insert(like->resources.end(), more.begin(), more.end());
    order.emplace_back(static_cast<std::size_t>(like - kept.begin()), &need);
  }
  for (const Kept& one : kept) {
    trees_.push_back(
        {one.topology, std::make_unique<HeldRoom>(engine.inventory(), *one.tree, victims, one.resources, !all_), {}});
  }
  parts_.reserve(order.size());
  for (const auto& [tree, need] : order) {
    trees_[tree].parts.push_back(parts_.size());
    parts_.emplace_back(engine, exclusive_kind, victims, *need, *trees_[tree].room);
  }
}

void FreedParts::enter(Domain scope) {
  for (Tree& tree : trees_) {
    tree.room->enter(scope);
  }
  for (FreedSlots& part : parts_) {
    part.note_scope();
  }
}

std::int64_t FreedParts::evict(std::size_t candidate) {
  std::int64_t changed = 0;
  for (Tree& tree : trees_) {
    const HeldRoom::Entries entries = tree.room->in_scope(candidate);
    tree.room->evict(entries);
    changed += static_cast<std::int64_t>((entries.end - entries.begin) * tree.parts.size());
    for (const std::size_t part : tree.parts) {
      parts_[part].note_evicted(candidate, entries);
    }
  }
  return changed;
}

std::int64_t FreedParts::restore(std::size_t candidate) {
  std::int64_t changed = 0;
  for (Tree& tree : trees_) {
    const HeldRoom::Entries entries = tree.room->in_scope(candidate);
    tree.room->restore(entries);
    changed += static_cast<std::int64_t>((entries.end - entries.begin) * tree.parts.size());
    for (const std::size_t part : tree.parts) {
      parts_[part].note_restored(candidate, entries);
    }
  }
  return changed;
}

bool FreedParts::fit() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const FreedSlots& part) { return part.holds(); });
}

std::uint32_t FreedParts::home(std::size_t candidate, int level) const {
  const HeldRoom& room = *trees_.front().room;
  const HeldRoom::Entries entries = room.in_scope(candidate);
  return entries.begin == entries.end ? 0
                                      : room.tree().ancestor(room.tree().host_level(), room.host(entries.begin), level);
}

std::int64_t FreedParts::held(std::size_t candidate) const {
  const HeldRoom& room = *trees_.front().room;
  const HeldRoom::Entries entries = room.in_scope(candidate);
  std::int64_t sum = 0;
  for (std::size_t e = entries.begin; e < entries.end; ++e) {
    sum += room.held(e)[0];
  }
  return sum;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> FreedParts::helped(int level) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  const auto note = [&](std::uint32_t domain, std::size_t candidate) {
    const std::pair pair{domain, static_cast<std::uint32_t>(candidate)};
    if (found.empty() || found.back() != pair) {
      found.push_back(pair);
    }
  };
  const auto note_kept = [&](const FreedSlots& part, std::size_t candidate) {
    for (const std::uint32_t kept : part.kept(candidate)) {
      if (level <= part.exclusive()) {
        note(level < 0 ? 0 : part.tree().ancestor(part.exclusive(), kept, level), candidate);
        continue;
      }
      const Range range = part.tree().below({part.exclusive(), kept}, level);
      for (std::uint32_t d = range.begin; d < range.end; ++d) {
        note(d, candidate);
      }
    }
  };
  const auto tidy = [&] {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  };
  for (const Tree& tree : trees_) {
    const DomainTree& domains = tree.room->tree();
    for (std::size_t i = 0; i < tree.room->candidates(); ++i) {
      const HeldRoom::Entries entries = tree.room->entries(i);
      for (std::size_t e = entries.begin; e < entries.end; ++e) {
        const bool wanted = !all_ || std::any_of(tree.parts.begin(), tree.parts.end(),
                                                 [&](std::size_t part) { return parts_[part].wants(e); });
        if (wanted) {
          note(level < 0 ? 0 : domains.ancestor(domains.host_level(), tree.room->host(e), level), i);
        }
      }
    }
    tidy();
    for (const std::size_t part : tree.parts) {
      for (std::size_t i = 0; parts_[part].exclusive() >= 0 && i < tree.room->candidates(); ++i) {
        note_kept(parts_[part], i);
      }
      tidy();
    }
  }
  return found;
}

}  // namespace gantree
