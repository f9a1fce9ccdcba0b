#include "dialects/koordinator/network_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dialects/koordinator/names.h"

namespace gantree::koordinator {

namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// An entry of networkTopologySpec.
struct Entry {
  Layer layer;
  std::string_view parent;  // "" for the cluster
  json::Value at;
  json::Value parent_at;
};

class TopologyReader {
 public:
  explicit TopologyReader(const NamedObject& named)
      : read_(named.object.file, named.object.value, fmt::format("{} \"{}\"", kTopologyKind, named.name)) {}

  json::Reader& read() { return read_; }

  void read_entries(json::Value spec) {
    const json::Value list = read_.require_array(spec, "networkTopologySpec");
    if (!list) {
      return;
    }
    list_ = list;
    for (const json::NodeData& item : list.items()) {
      const json::Value value = read_.as_object(json::Value(&item), "a layer");
      if (!read_.ok()) {
        return;
      }
      read_entry(value);
    }
    if (entries_.empty()) {
      read_.complain(list, "spec.networkTopologySpec lists no layer but the nodes");
    }
  }

  // The layers in order from the root, checked to be one chain.
  std::vector<Layer> chain() {
    check_parents();
    std::vector<Layer> layers;
    std::string_view parent;
    while (read_.ok()) {
      const Entry* next = child_of(parent);
      if (next == nullptr) {
        break;
      }
      layers.push_back(next->layer);
      parent = next->layer.name;
    }
    if (read_.ok() && layers.size() != entries_.size()) {
      complain_of_loop(layers);
    }
    if (read_.ok() && node_at_ && !same_layer(node_parent_, parent)) {
      read_.complain(node_at_, fmt::format("{}: the parent of {} is \"{}\", but the lowest layer is \"{}\"",
                                           read_.path(node_at_), kNodeLayer, node_parent_, parent));
    }
    return layers;
  }

 private:
  void read_entry(json::Value value) {
    Entry entry;
    entry.at = value;
    entry.layer.name = read_.require_text(value, "topologyLayer");
    entry.parent = read_.text(value, "parentTopologyLayer").value_or("");
    entry.parent_at = value["parentTopologyLayer"];
    if (same_layer(entry.parent, kClusterLayer)) {
      entry.parent = {};
    }
    if (const json::Value keys = read_.array(value, "labelKey")) {
      for (const json::NodeData& item : keys.items()) {
        read_key(json::Value(&item), entry.layer);
      }
    }
    if (!read_.ok()) {
      return;
    }
    const auto same = [&](const Entry& other) { return same_layer(other.layer.name, entry.layer.name); };
    if (same_layer(entry.layer.name, kClusterLayer)) {
      read_.complain(value, fmt::format("{}.topologyLayer: {} is the cluster itself and may not be listed",
                                        read_.path(value), kClusterLayer));
    } else if (std::any_of(entries_.begin(), entries_.end(), same) ||
               (node_at_ && same_layer(entry.layer.name, kNodeLayer))) {
      read_.complain(value, fmt::format("{}.topologyLayer: the layer \"{}\" is listed twice (letter case does not "
                                        "count)",
                                        read_.path(value), entry.layer.name));
    } else if (same_layer(entry.layer.name, kNodeLayer)) {
      node_at_ = value;
      node_parent_ = entry.parent;
    } else if (entry.layer.keys.empty()) {
      read_.complain(value, fmt::format("{}.labelKey: the layer \"{}\" needs at least one label key", read_.path(value),
                                        entry.layer.name));
    } else {
      entries_.push_back(std::move(entry));
    }
  }

  void read_key(json::Value at, Layer& layer) {
    const std::string_view key = read_.as_text(at, "a label key");
    if (read_.ok() && !is_label_key(key)) {
      read_.complain(at, fmt::format("{}: \"{}\" is not a label key", read_.path(at), key));
    }
    layer.keys.emplace_back(key);
  }

  [[nodiscard]] const Entry* find(std::string_view name) const {
    const auto it = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return same_layer(entry.layer.name, name); });
    return it == entries_.end() ? nullptr : &*it;
  }

  [[nodiscard]] const Entry* child_of(std::string_view parent) const {
    const auto it = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return same_layer(entry.parent, parent); });
    return it == entries_.end() ? nullptr : &*it;
  }

  void check_parents() {
    for (const Entry& entry : entries_) {
      if (same_layer(entry.parent, kNodeLayer)) {
        read_.complain(entry.parent_at,
                       fmt::format("{}: nothing may lie below {}", read_.path(entry.parent_at), kNodeLayer));
      }
      check_known(entry.parent, entry.parent_at);
      const Entry* first = child_of(entry.parent);
      if (first != &entry && entry.parent.empty()) {
        read_.complain(entry.at, fmt::format("{}: \"{}\" and \"{}\" both have no parent, but one layer is the root",
                                             read_.path(entry.at), first->layer.name, entry.layer.name));
      } else if (first != &entry) {
        read_.complain(entry.at,
                       fmt::format("{}: \"{}\" and \"{}\" are both children of \"{}\", but layers form one chain",
                                   read_.path(entry.at), first->layer.name, entry.layer.name, entry.parent));
      }
    }
    if (node_at_) {
      check_known(node_parent_, node_at_["parentTopologyLayer"]);
    }
    if (read_.ok() && child_of({}) == nullptr) {
      read_.complain(list_, "spec.networkTopologySpec has no root: every layer has a parent");
    }
  }

  void check_known(std::string_view parent, json::Value at) {
    if (!parent.empty() && find(parent) == nullptr && !same_layer(parent, kNodeLayer)) {
      read_.complain(at, fmt::format("{}: the layer \"{}\" is not listed", read_.path(at), parent));
    }
  }

  // Parents are known and have one child each, so what the root does not reach goes round in a circle.
  void complain_of_loop(const std::vector<Layer>& reached) {
    for (const Entry& entry : entries_) {
      const auto same = [&](const Layer& layer) { return layer.name == entry.layer.name; };
      if (std::none_of(reached.begin(), reached.end(), same)) {
        read_.complain(entry.at, fmt::format("{}: the parents of \"{}\" go round in a circle", read_.path(entry.at),
                                             entry.layer.name));
        return;
      }
    }
  }

  json::Reader read_;
  json::Value list_;
  std::vector<Entry> entries_;
  json::Value node_at_;  // the entry of the nodes, where there is one
  std::string_view node_parent_;
};

bool all_have_hostname(const Inventory& inventory) {
  const auto key = inventory.strings().find(kHostnameLabel);
  for (std::size_t i = 0; i < inventory.size(); ++i) {
    const NodeId id = make_id<NodeTag>(i);
    if (inventory.alive(id) && (!key || label_value(inventory.node(id).labels, *key) == nullptr)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool same_layer(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<int> NetworkTopology::level(std::string_view layer) const {
  if (same_layer(layer, kClusterLayer)) {
    return -1;
  }
  if (same_layer(layer, kNodeLayer)) {
    return static_cast<int>(layers.size());
  }
  const auto it =
      std::find_if(layers.begin(), layers.end(), [&](const Layer& one) { return same_layer(one.name, layer); });
  return it == layers.end() ? std::nullopt : std::optional(static_cast<int>(it - layers.begin()));
}

std::string NetworkTopology::known_layers() const {
  std::string names(kClusterLayer);
  for (const Layer& layer : layers) {
    names += ", " + layer.name;
  }
  return names + ", " + std::string(kNodeLayer);
}

Result<NetworkTopology> read_network_topology(const NamedObject& named) {
  NetworkTopology network;
  network.name = named.name;
  network.file = named.object.file;
  TopologyReader reader(named);
  network.spec = reader.read().require_object(named.object.value, "spec");
  reader.read_entries(network.spec);
  network.layers = reader.chain();
  if (!reader.read().ok()) {
    return reader.read().error();
  }
  return network;
}

Result<Topology> model_of(const NetworkTopology& network, const Inventory& inventory) {
  Topology topology{.name = network.name, .levels = {}, .alternatives = {}, .lone_nodes = true};
  for (const Layer& layer : network.layers) {
    topology.levels.push_back(layer.keys.front());
    topology.alternatives.emplace_back(layer.keys.begin() + 1, layer.keys.end());
  }
  if (all_have_hostname(inventory) && topology.levels.back() != kHostnameLabel) {
    topology.levels.emplace_back(kHostnameLabel);
  }
  if (auto valid = validate(topology); !valid) {
    return invalid(fmt::format("{}: {} \"{}\": {}", json::to_string({network.file, network.spec.line()}), kTopologyKind,
                               network.name, valid.error().message));
  }
  return topology;
}

}  // namespace gantree::koordinator
