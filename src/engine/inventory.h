// The hosts and what is free on them: one column a resource.
//
// Every change of a host is noted in a log. Counts kept elsewhere read on from
// where they stopped, so that keeping them costs what changed, not what there
// is. Undoing a change is the opposite change: sums are exact integers.
//
// One thread owns an Inventory. Nothing here fails: unknown ids are programmer
// errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/interner.h"
#include "model/node.h"
#include "model/resources.h"

namespace gantree {

class Inventory {
 public:
  Interner& strings() { return strings_; }
  [[nodiscard]] const Interner& strings() const { return strings_; }
  ResourceNames& resources() { return resources_; }
  [[nodiscard]] const ResourceNames& resources() const { return resources_; }

  // Adds a node, or brings a known one (by name) up to date; what runs on it
  // stays counted.
  NodeId upsert(Node node);
  void remove(NodeId id);
  // The id of a name that may not be known yet; not alive until its upsert, but
  // pods can be booked on it.
  NodeId reserve(std::string_view name);
  [[nodiscard]] std::optional<NodeId> find(std::string_view name) const;

  // Ids run from 0 to size(); removed ones are not alive.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool alive(NodeId id) const { return alive_[id.index()]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }

  [[nodiscard]] std::int64_t allocatable(NodeId id, ResourceId resource) const;
  [[nodiscard]] std::int64_t free(NodeId id, ResourceId resource) const;

  // Books `count` pods of that request on a node, or gives them back. Free may
  // become negative: others may have overcommitted the host.
  void take(NodeId id, const Amounts& request, std::int64_t count);
  void give(NodeId id, const Amounts& request, std::int64_t count);

  // How many more pods of that request fit, by resources alone.
  [[nodiscard]] std::int64_t room(NodeId id, const Amounts& request) const;
  [[nodiscard]] std::int64_t room_when_empty(NodeId id, const Amounts& request) const;

  // Grows whenever a node comes, goes, or changes its labels.
  [[nodiscard]] std::uint64_t structure() const { return structure_; }
  // A change of a host. What it offers changes with every pod; who may run there only where the node itself
  // does (allocatable, taints, readiness).
  struct Change {
    NodeId node;
    bool itself = false;
  };
  // The changes since a position of the log; nullopt where the log no longer reaches back that far.
  [[nodiscard]] std::uint64_t position() const { return log_base_ + log_.size(); }
  [[nodiscard]] std::optional<std::span<const Change>> changed_since(std::uint64_t position) const;

 private:
  void note(Change change);
  void grow_columns();
  [[nodiscard]] std::int64_t room_in(const std::vector<std::vector<std::int64_t>>& columns, NodeId id,
                                     const Amounts& request) const;

  Interner strings_;
  ResourceNames resources_;
  std::vector<Node> nodes_;
  std::vector<bool> alive_;
  std::unordered_map<StringId, NodeId> by_name_;
  std::vector<std::vector<std::int64_t>> allocatable_;  // [resource][node]
  std::vector<std::vector<std::int64_t>> free_;         // [resource][node]
  std::uint64_t structure_ = 0;
  std::uint64_t log_base_ = 0;
  std::vector<Change> log_;
};

}  // namespace gantree
