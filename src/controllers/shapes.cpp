#include "controllers/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/quantity.h"
#include "controllers/names.h"

namespace gantree::controllers {

namespace {

using apiserver::Array;
using apiserver::Object;
using apiserver::Value;

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::string_view kHostLabel = "kubernetes.io/hostname";
constexpr std::int64_t kMostOfOne = 100'000;

struct Count {
  std::string_view key;
  std::string_view about;
  std::int64_t Shape::* value;
  std::int64_t least;
};

constexpr std::array<Count, 6> kCounts = {{{"zones", "zones", &Shape::zones, 1},
                                           {"blocks", "blocks of each zone", &Shape::blocks, 1},
                                           {"racks", "racks of each block", &Shape::racks, 1},
                                           {"hosts", "hosts of each rack", &Shape::hosts, 1},
                                           {"gpus", "GPUs of each host", &Shape::gpus, 0},
                                           {"cpu", "CPUs of each host", &Shape::cpu, 1}}};

Shape with(std::int64_t blocks, std::int64_t racks, std::int64_t hosts, std::int64_t gpus, std::string_view gpu) {
  Shape shape;
  shape.blocks = blocks;
  shape.racks = racks;
  shape.hosts = hosts;
  shape.gpus = gpus;
  shape.gpu = gpu;
  return shape;
}

std::string known_keys() {
  std::vector<std::string_view> keys;
  for (const Count& count : kCounts) {
    keys.push_back(count.key);
  }
  return fmt::format("{}, memory, gpu, prefix", fmt::join(keys, ", "));
}

Result<> set_count(Shape& shape, const Count& count, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < count.least || value > kMostOfOne) {
    return invalid(fmt::format("--generate: {}={}: {} is a number from {} to {}", count.key, text, count.about,
                               count.least, kMostOfOne));
  }
  shape.*count.value = value;
  return {};
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 30 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }) &&
         text.front() != '-' && text.back() != '-';
}

Result<> set_key(Shape& shape, std::string_view key, std::string_view value) {
  for (const Count& count : kCounts) {
    if (count.key == key) {
      return set_count(shape, count, value);
    }
  }
  if (key == "memory") {
    const auto amount = parse_quantity(value, Unit::kOne, Round::kDown);
    if (!amount || *amount <= 0) {
      return invalid(fmt::format("--generate: memory={}: is no amount such as 2Ti", value));
    }
    shape.memory = value;
    return {};
  }
  if (key == "gpu" || key == "prefix") {
    if (!is_name(value)) {
      return invalid(fmt::format("--generate: {}={}: is to be small letters, digits and dashes", key, value));
    }
    (key == "gpu" ? shape.gpu : shape.prefix) = value;
    return {};
  }
  return invalid(fmt::format("--generate: there is no \"{}\" (there is {})", key, known_keys()));
}

Result<> apply(Shape& shape, std::string_view part, bool first) {
  const std::size_t equals = part.find('=');
  if (equals != std::string_view::npos) {
    return set_key(shape, part.substr(0, equals), part.substr(equals + 1));
  }
  const auto& all = presets();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == part; });
  if (at == all.end()) {
    std::vector<std::string_view> names;
    for (const Preset& preset : all) {
      names.push_back(preset.name);
    }
    return invalid(fmt::format("--generate: \"{}\" is neither KEY=NUMBER nor a preset (presets: {}; keys: {})", part,
                               fmt::join(names, ", "), known_keys()));
  }
  if (!first) {
    return invalid(fmt::format("--generate: the preset \"{}\" must come first", part));
  }
  shape = at->shape;
  return {};
}

Object condition(std::string_view type, std::string_view status, std::string_view reason, const std::string& time) {
  return Object{{"type", type},           {"status", status},          {"reason", reason},
                {"message", "simulated"}, {"lastHeartbeatTime", time}, {"lastTransitionTime", time}};
}

struct Place {
  std::int64_t zone, block, rack, host;
};

Place place_of(const Shape& shape, std::int64_t index) {
  Place place{};
  place.host = index % shape.hosts;
  index /= shape.hosts;
  place.rack = index % shape.racks;
  index /= shape.racks;
  place.block = index % shape.blocks;
  place.zone = index / shape.blocks;
  return place;
}

std::string host_name(const Shape& shape, const Place& place) {
  const std::string zone = shape.zones > 1 ? fmt::format("z{}-", place.zone + 1) : std::string();
  return fmt::format("{}-{}b{}-r{}-{:02}", shape.prefix, zone, place.block + 1, place.rack + 1, place.host + 1);
}

Object labels_of(const Shape& shape, const Place& place, const std::string& name) {
  Object labels{{"kubernetes.io/arch", "amd64"}, {"kubernetes.io/os", "linux"}, {kHostLabel, name}};
  labels[kZoneLabel] = fmt::format("zone-{}", place.zone + 1);
  labels[shape.block_label] = fmt::format("b{}", place.block + 1);
  labels[shape.rack_label] = fmt::format("r{}", place.rack + 1);
  labels["cloud.provider.com/node-group"] = shape.gpu;
  labels["node.kubernetes.io/instance-type"] = fmt::format("gpu-{}x-{}", shape.gpus, shape.gpu);
  if (shape.nvlink_racks) {
    labels["nvidia.com/gpu.clique"] = fmt::format("{}-{}.{}", place.zone + 1, place.block + 1, place.rack + 1);
  }
  return labels;
}

// Coarse to fine, with the word of each.
std::vector<std::pair<std::string, std::string>> levels_of(const Shape& shape) {
  std::vector<std::pair<std::string, std::string>> levels;
  if (shape.zones > 1) {
    levels.emplace_back(kZoneLabel, "zone");
  }
  levels.emplace_back(shape.block_label, "block");
  levels.emplace_back(shape.rack_label, "rack");
  return levels;
}

Object named(std::string_view api_version, std::string_view kind, std::string_view name) {
  return Object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", Object{{"name", name}}}};
}

Object kueue_topology(const Shape& shape) {
  Array levels;
  for (const auto& [label, word] : levels_of(shape)) {
    levels.push_back(Object{{"nodeLabel", label}});
  }
  levels.push_back(Object{{"nodeLabel", kHostLabel}});
  Object topology = named("kueue.x-k8s.io/v1beta2", "Topology", "network");
  topology["spec"] = Object{{"levels", std::move(levels)}};
  return topology;
}

Object kai_topology(const Shape& shape) {
  Array levels;
  for (const auto& [label, word] : levels_of(shape)) {
    levels.push_back(Object{{"nodeLabel", label}, {"alias", word}});
  }
  levels.push_back(Object{{"nodeLabel", kHostLabel}, {"alias", "host"}});
  Object topology = named("kai.scheduler/v1alpha1", "Topology", "network");
  topology["spec"] = Object{{"levels", std::move(levels)}};
  return topology;
}

Object koordinator_topology(const Shape& shape) {
  Array layers;
  std::string parent;
  const auto add = [&](const std::string& layer, const std::string& label) {
    Object made{{"topologyLayer", layer}};
    if (!parent.empty()) {
      made["parentTopologyLayer"] = parent;
    }
    if (!label.empty()) {
      made["labelKey"] = Array{Value(label)};
    }
    layers.push_back(std::move(made));
    parent = layer;
  };
  for (const auto& [label, word] : levels_of(shape)) {
    std::string name = word + "Layer";
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
    add(name, label);
  }
  add("NodeTopologyLayer", "");
  Object topology = named("scheduling.koordinator.sh/v1alpha1", "ClusterNetworkTopology", "default");
  topology["spec"] = Object{{"networkTopologySpec", std::move(layers)}};
  return topology;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets = [] {
    std::vector<Preset> all;
    all.push_back({"demo", "4 blocks of 8 racks of 16 hosts of 8 H100: 512 hosts", with(4, 8, 16, 8, "h100")});
    all.push_back({"small", "2 blocks of 2 racks of 4 hosts of 8 H100: 16 hosts", with(2, 2, 4, 8, "h100")});
    all.push_back({"h100-pod",
                   "rail-optimised: 4 scalable units of 8 racks of 4 hosts of 8 H100; a unit's rails meet in one leaf",
                   with(4, 8, 4, 8, "h100")});
    Shape nvl = with(2, 8, 18, 4, "gb200");
    nvl.cpu = 144;
    nvl.memory = "960Gi";
    nvl.nvlink_racks = true;
    all.push_back(
        {"nvl72", "2 blocks of 8 NVL72 racks: 18 trays of 4 GB200, 72 GPUs a rack in one NVLink domain", nvl});
    Shape gce = with(4, 8, 16, 8, "h100");
    gce.block_label = "cloud.google.com/gce-topology-block";
    gce.rack_label = "cloud.google.com/gce-topology-subblock";
    all.push_back({"gce", "a cloud's blocks and sub-blocks: 4 of 8 of 16 hosts of 8 H100, labelled as on GKE", gce});
    Shape aws = with(4, 8, 16, 8, "h100");
    aws.block_label = "topology.k8s.aws/network-node-layer-2";
    aws.rack_label = "topology.k8s.aws/network-node-layer-3";
    all.push_back({"aws", "a cloud's network layers: 4 of 8 of 16 hosts of 8 H100, labelled as on EKS", aws});
    all.push_back({"large", "40 blocks of 32 racks of 16 hosts of 8 H100: 20,480 hosts", with(40, 32, 16, 8, "h100")});
    return all;
  }();
  return kPresets;
}

std::string presets_text() {
  std::string text = "Presets:\n";
  for (const Preset& preset : presets()) {
    text += fmt::format("  {:<10}{}\n", preset.name, preset.about);
  }
  text += "Keys, also after a preset:\n";
  for (const Count& count : kCounts) {
    text += fmt::format("  {:<10}{}\n", count.key, count.about);
  }
  return text +
         "  memory    of each host, as in 2Ti\n  gpu       the model: node group and instance type\n"
         "  prefix    of the hosts' names\n";
}

Result<Shape> parse_shape(std::string_view text) {
  Shape shape;
  bool first = true;
  if (text.empty()) {
    return invalid("--generate: is empty; try \"blocks=4,racks=8,hosts=16,gpus=8\" or a preset such as nvl72");
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    while (part.starts_with(' ')) {
      part.remove_prefix(1);
    }
    if (auto applied = apply(shape, part, first); !applied) {
      return tl::unexpected(applied.error());
    }
    first = false;
  }
  // Products of four numbers up to 100,000 do not fit 64 bits: compare by division.
  std::int64_t left = kMostHosts;
  for (const std::int64_t count : {shape.zones, shape.blocks, shape.racks, shape.hosts}) {
    left /= count;
  }
  if (left < 1) {
    return fail(Errc::kLimit,
                fmt::format("--generate: {} zones of {} blocks of {} racks of {} hosts are more than {} hosts",
                            shape.zones, shape.blocks, shape.racks, shape.hosts, kMostHosts));
  }
  return shape;
}

Object make_host(const Shape& shape, std::int64_t index, Time now) {
  const Place place = place_of(shape, index);
  const std::string name = host_name(shape, place);
  Object metadata{{"name", name}};
  metadata["labels"] = labels_of(shape, place, name);
  metadata["annotations"] = Object{{kSimulated, "true"}};
  Object capacity{{"cpu", std::to_string(shape.cpu)}, {"memory", shape.memory}, {"pods", "110"}};
  if (shape.gpus > 0) {
    capacity["nvidia.com/gpu"] = std::to_string(shape.gpus);
  }
  Object status;
  status["capacity"] = capacity;
  status["allocatable"] = std::move(capacity);
  const std::string time = rfc3339(now);
  Array conditions;
  conditions.push_back(condition("MemoryPressure", "False", "KubeletHasSufficientMemory", time));
  conditions.push_back(condition("DiskPressure", "False", "KubeletHasNoDiskPressure", time));
  conditions.push_back(condition("PIDPressure", "False", "KubeletHasSufficientPID", time));
  conditions.push_back(condition("Ready", "True", "KubeletReady", time));
  status["conditions"] = std::move(conditions);
  Array addresses;
  addresses.push_back(
      Object{{"type", "InternalIP"},
             {"address", fmt::format("10.{}.{}.{}", 192 + index / 65536, index / 256 % 256, index % 256)}});
  addresses.push_back(Object{{"type", "Hostname"}, {"address", name}});
  status["addresses"] = std::move(addresses);
  status["nodeInfo"] = Object{{"kubeletVersion", "v1.36.3-simulated"},
                              {"operatingSystem", "linux"},
                              {"architecture", "amd64"},
                              {"osImage", "simulated"},
                              {"kernelVersion", "simulated"},
                              {"containerRuntimeVersion", "simulated://1"}};
  return Object{{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", std::move(metadata)},
                {"spec", Object{{"providerID", fmt::format("simulated:///{}", name)}}},
                {"status", std::move(status)}};
}

std::vector<Object> make_topologies(const Shape& shape) {
  std::vector<Object> all;
  all.push_back(kueue_topology(shape));
  all.push_back(koordinator_topology(shape));
  all.push_back(kai_topology(shape));
  return all;
}

}  // namespace gantree::controllers
