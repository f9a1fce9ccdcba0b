#include "engine/inventory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace gantree {

namespace {

constexpr std::size_t kMinLog = 4096;

}  // namespace

NodeId Inventory::upsert(Node node) {
  for (const auto& [resource, amount] : node.allocatable.entries()) {
    GANTREE_CHECK(resource.index() < resources_.size());
  }
  const NodeId id = reserve(node.name);
  Node& old = nodes_[id.index()];
  if (!alive_[id.index()] || old.labels != node.labels) {
    ++structure_;
  }
  old = std::move(node);
  alive_[id.index()] = true;
  const Amounts& allocatable = old.allocatable;
  for (std::size_t r = 0; r < allocatable_.size(); ++r) {
    const std::int64_t now = allocatable.get(make_id<ResourceTag>(r));
    free_[r][id.index()] += now - allocatable_[r][id.index()];
    allocatable_[r][id.index()] = now;
  }
  note({id, true});
  return id;
}

NodeId Inventory::reserve(std::string_view name) {
  grow_columns();
  const auto [it, fresh] = by_name_.try_emplace(strings_.intern(name), make_id<NodeTag>(nodes_.size()));
  if (fresh) {
    nodes_.emplace_back().name = name;
    alive_.push_back(false);
    for (std::size_t r = 0; r < allocatable_.size(); ++r) {
      allocatable_[r].push_back(0);
      free_[r].push_back(0);
    }
  }
  return it->second;
}

void Inventory::remove(NodeId id) {
  if (alive_[id.index()]) {
    alive_[id.index()] = false;
    ++structure_;
    note({id, true});
  }
}

std::optional<NodeId> Inventory::find(std::string_view name) const {
  const auto key = strings_.find(name);
  const auto it = key ? by_name_.find(*key) : by_name_.end();
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

std::int64_t Inventory::allocatable(NodeId id, ResourceId resource) const {
  return resource.index() < allocatable_.size() ? allocatable_[resource.index()][id.index()] : 0;
}

std::int64_t Inventory::free(NodeId id, ResourceId resource) const {
  return resource.index() < free_.size() ? free_[resource.index()][id.index()] : 0;
}

void Inventory::take(NodeId id, const Amounts& request, std::int64_t count) {
  for (const auto& [resource, amount] : request.entries()) {
    if (resource.index() >= free_.size()) {
      grow_columns();
    }
    free_[resource.index()][id.index()] -= amount * count;
  }
  note({id, false});
}

void Inventory::give(NodeId id, const Amounts& request, std::int64_t count) {
  take(id, request, -count);
}

std::int64_t Inventory::room(NodeId id, const Amounts& request) const {
  return room_in(free_, id, request);
}

std::int64_t Inventory::room_when_empty(NodeId id, const Amounts& request) const {
  return room_in(allocatable_, id, request);
}

std::int64_t Inventory::room_in(const std::vector<std::vector<std::int64_t>>& columns, NodeId id,
                                const Amounts& request) const {
  std::int64_t room = std::numeric_limits<std::int32_t>::max();
  for (const auto& [resource, amount] : request.entries()) {
    const std::int64_t have = resource.index() < columns.size() ? columns[resource.index()][id.index()] : 0;
    if (have < amount) {
      return 0;
    }
    room = std::min(room, amount == 1 ? have : have / amount);
  }
  return room;
}

std::optional<std::span<const Inventory::Change>> Inventory::changed_since(std::uint64_t position) const {
  if (position < log_base_) {
    return std::nullopt;
  }
  return std::span(log_).subspan(static_cast<std::size_t>(position - log_base_));
}

void Inventory::note(Change change) {
  // Whoever is further behind than the whole cluster recounts from scratch
  // sooner than it reads the log; the others read on.
  if (log_.size() >= std::max(kMinLog, 2 * nodes_.size())) {
    const std::size_t half = log_.size() / 2;
    log_base_ += half;
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(half));
  }
  log_.push_back(change);
}

void Inventory::grow_columns() {
  while (allocatable_.size() < resources_.size()) {
    allocatable_.emplace_back(nodes_.size(), 0);
    free_.emplace_back(nodes_.size(), 0);
  }
}

}  // namespace gantree
