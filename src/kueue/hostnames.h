// Nodes by the hostname that they carry, which is what assignments call them.
//
// Nearly everywhere that is the node's own name. The others are listed when a node comes, goes or changes its labels,
// not whenever one is looked for. One thread owns it: the inventory's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "engine/inventory.h"

namespace gantree::kueue {

class Hostnames {
 public:
  // The inventory must outlive it.
  explicit Hostnames(const Inventory& inventory) : inventory_(inventory) {}

  // The node that carries a hostname; the hostname itself where there is none.
  [[nodiscard]] std::string node_named(const std::string& hostname) const;
  // The hostname that a node carries; its name where it carries none.
  [[nodiscard]] std::string hostname_of(NodeId node) const;

 private:
  const Inventory& inventory_;
  mutable std::optional<std::uint64_t> structure_;                // of the inventory when they were listed
  mutable std::unordered_map<std::string, std::string> renamed_;  // nodes that carry another hostname than their name
};

}  // namespace gantree::kueue
