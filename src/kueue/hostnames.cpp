#include "kueue/hostnames.h"

#include "dialects/gangs.h"

namespace gantree::kueue {

std::string Hostnames::hostname_of(NodeId node) const {
  const auto key = inventory_.strings().find(kHostnameLabel);
  const StringId* label = key ? label_value(inventory_.node(node).labels, *key) : nullptr;
  return label == nullptr ? inventory_.node(node).name : std::string(inventory_.strings().text(*label));
}

std::string Hostnames::node_named(const std::string& hostname) const {
  if (const auto id = inventory_.find(hostname); id && inventory_.alive(*id) && hostname_of(*id) == hostname) {
    return hostname;
  }
  if (structure_ != inventory_.structure()) {
    structure_ = inventory_.structure();
    renamed_.clear();
    for (std::uint32_t i = 0; i < inventory_.size(); ++i) {
      const NodeId id{i};
      if (inventory_.alive(id) && hostname_of(id) != inventory_.node(id).name) {
        renamed_.try_emplace(hostname_of(id), inventory_.node(id).name);
      }
    }
  }
  const auto it = renamed_.find(hostname);
  return it == renamed_.end() ? hostname : it->second;  // it is gone: its pods hold nothing
}

}  // namespace gantree::kueue
