#include "dialects/koordinator/topology_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "dialects/koordinator/names.h"
#include "dialects/koordinator/network_topology.h"
#include "engine/domain_tree.h"
#include "json/copy.h"

namespace gantree::koordinator {

namespace {

// "cloud.provider.com/topology-rack" makes RackLayer.
std::string layer_name(std::string_view label) {
  std::string_view word = label.substr(label.rfind('/') + 1);
  word.remove_prefix(word.find_last_of("-._") + 1);
  std::string name(word);
  if (name.front() >= 'a' && name.front() <= 'z') {
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
  }
  return name + "Layer";
}

// A topology of another family in the words of this one.
NetworkTopology translated(const Topology& topology) {
  NetworkTopology network;
  network.name = kTopologyName;
  for (const std::string& label : topology.levels) {
    if (label == kHostnameLabel) {
      break;
    }
    std::string name = layer_name(label);
    if (network.level(name)) {
      name = label;
    }
    network.layers.push_back({.name = std::move(name), .keys = {label}});
  }
  return network;
}

json::Out spec_of(const NetworkTopology& network) {
  if (network.spec) {
    return json::copy(network.spec);
  }
  json::Out layers = json::Out::array();
  std::string parent;
  for (const Layer& layer : network.layers) {
    json::Out entry = json::Out::object();
    entry.add("labelKey", json::Out::Array{json::Out(layer.keys.front())});
    if (!parent.empty()) {
      entry.add("parentTopologyLayer", parent);
    }
    parent = layer.name;
    layers.push(std::move(entry.add("topologyLayer", layer.name)));
  }
  json::Out nodes = json::Out::object();
  if (!parent.empty()) {
    nodes.add("parentTopologyLayer", parent);
  }
  layers.push(std::move(nodes.add("topologyLayer", kNodeLayer)));
  json::Out spec = json::Out::object();
  spec.add("networkTopologySpec", std::move(layers));
  return spec;
}

class StatusWriter {
 public:
  StatusWriter(const NetworkTopology& network, const DomainTree& tree) : network_(network), tree_(tree) {}

  json::Out write() {
    add(kWholeTree);
    return std::move(entries_);
  }

 private:
  [[nodiscard]] int lowest() const { return static_cast<int>(network_.layers.size()) - 1; }

  [[nodiscard]] std::string_view layer(int level) const {
    if (level < 0) {
      return kClusterLayer;
    }
    return level > lowest() ? kNodeLayer : std::string_view(network_.layers[static_cast<std::size_t>(level)].name);
  }

  [[nodiscard]] json::Out info(Domain domain) const {
    json::Out out = json::Out::object();
    out.add("topologyLayer", layer(domain.level));
    out.add("topologyName", domain.level < 0 ? std::string_view() : std::string_view(tree_.name(domain)));
    return out;
  }

  void add(Domain domain) {
    json::Out entry = json::Out::object();
    const Range hosts = tree_.hosts(domain);
    const Range children = domain.level < lowest() ? tree_.children(domain) : Range{};
    if (hosts.size() > 0) {
      entry.add("childTopologyLayer", layer(domain.level + 1));
    }
    if (children.size() > 0) {
      json::Out names = json::Out::array();
      for (std::uint32_t child = children.begin; child < children.end; ++child) {
        names.push(tree_.name({domain.level + 1, child}));
      }
      entry.add("childTopologyNames", std::move(names));
    }
    entry.add("nodeNum", hosts.size());
    if (domain.level >= 0) {
      entry.add("parentTopologyInfo",
                info({domain.level - 1, tree_.ancestor(domain.level, domain.index, domain.level - 1)}));
    }
    entry.add("topologyInfo", info(domain));
    entries_.push(std::move(entry));
    for (std::uint32_t child = children.begin; child < children.end; ++child) {
      add({domain.level + 1, child});
    }
  }

  const NetworkTopology& network_;
  const DomainTree& tree_;
  json::Out entries_ = json::Out::array();
};

Result<std::optional<NetworkTopology>> find_in(const std::vector<json::Document>& documents) {
  std::optional<NetworkTopology> found;
  auto looked = for_each_object(documents, [&](const Object& object) -> Result<> {
    const json::Value name = object.metadata()["name"];
    if (object.kind != kTopologyKind || object.group != kSchedulingGroup || !name ||
        name.kind() != json::Kind::kString || name.text() != kTopologyName) {
      return {};
    }
    auto network = read_network_topology({object, "", name.text()});
    if (!network) {
      return tl::unexpected(network.error());
    }
    found = std::move(*network);
    return {};
  });
  if (!looked) {
    return tl::unexpected(looked.error());
  }
  return found;
}

}  // namespace

Result<json::Out> cluster_network_topology(const std::vector<json::Document>& documents, Cluster& cluster) {
  auto found = find_in(documents);
  if (!found) {
    return tl::unexpected(found.error());
  }
  const Engine& engine = cluster.engine();
  if (!*found && engine.topologies() > 0) {
    *found = translated(engine.topology(make_id<TopologyTag>(0)));
  }
  if (!*found || (*found)->layers.empty()) {
    return fail(Errc::kNotFound, fmt::format("gantree: there is no {} in the input, and neither another topology nor "
                                             "--levels to make one of",
                                             kTopologyKind));
  }
  const NetworkTopology& network = **found;
  const auto topology = model_of(network, cluster.inventory());
  if (!topology) {
    return tl::unexpected(topology.error());
  }
  const DomainTree tree(cluster.inventory(), *topology);
  json::Out metadata = json::Out::object();
  metadata.add("name", network.name);
  json::Out status = json::Out::object();
  status.add("detailStatus", StatusWriter(network, tree).write());
  json::Out out = json::Out::object();
  out.add("apiVersion", fmt::format("{}/v1alpha1", kSchedulingGroup)).add("kind", kTopologyKind);
  out.add("metadata", std::move(metadata)).add("spec", spec_of(network)).add("status", std::move(status));
  return out;
}

std::optional<Write> network_topology_status(const NamedObject& named, Cluster& cluster) {
  const auto network = read_network_topology(named);
  if (!network) {
    return std::nullopt;
  }
  const auto topology = model_of(*network, cluster.inventory());
  if (!topology) {
    return std::nullopt;
  }
  const DomainTree tree(cluster.inventory(), *topology);
  json::Out entries = StatusWriter(*network, tree).write();
  const json::Value old = named.object.value["status"];
  const json::Value written = old ? old["detailStatus"] : json::Value();
  // Keys are in alphabetical order here as in what the API server hands out.
  if (written && json::copy(written).to_json(false) == entries.to_json(false)) {
    return std::nullopt;
  }
  json::Out status = json::Out::object();
  status.add("detailStatus", std::move(entries));
  const json::Value uid = named.object.metadata()["uid"];
  const std::string id(uid && uid.kind() == json::Kind::kString ? uid.text() : std::string_view());
  json::Out patch = json::Out::object();
  patch.add("metadata", json::Out::object().add("uid", id));
  patch.add("status", std::move(status));
  return Write{.verb = WriteVerb::kPatchStatus,
               .object = {.group = std::string(kSchedulingGroup),
                          .version = "v1alpha1",
                          .kind = std::string(kTopologyKind),
                          .ns = "",
                          .name = std::string(named.name),
                          .uid = id},
               .body = patch.to_json(false)};
}

}  // namespace gantree::koordinator
