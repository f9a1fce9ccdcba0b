// Made-up GPU clusters: hosts in racks in blocks in zones, as `--generate` describes them, and well-known shapes of
// that kind by name.
//
//   "zones=1,blocks=4,racks=8,hosts=16,gpus=8"      counts are of each: 8 racks a block, 16 hosts a rack
//   "nvl72"                                         a preset
//   "nvl72,blocks=4"                                a preset, changed
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "base/error.h"
#include "base/time.h"

namespace gantree::controllers {

struct Shape {
  std::int64_t zones = 1;
  std::int64_t blocks = 4;
  std::int64_t racks = 8;
  std::int64_t hosts = 16;
  std::int64_t gpus = 8;
  std::int64_t cpu = 192;
  std::string memory = "2Ti";
  std::string gpu = "h100";    // the model, as node group and instance type
  std::string prefix = "gpu";  // of names of hosts
  std::string block_label = "cloud.provider.com/topology-block";
  std::string rack_label = "cloud.provider.com/topology-rack";
  bool nvlink_racks = false;  // a rack is one NVLink domain

  [[nodiscard]] std::int64_t host_count() const { return zones * blocks * racks * hosts; }
};

struct Preset {
  std::string_view name;
  std::string_view about;
  Shape shape;
};

[[nodiscard]] const std::vector<Preset>& presets();
// Presets and keys as a list for people: of --help, and of messages.
[[nodiscard]] std::string presets_text();

// At most so many hosts are made.
inline constexpr std::int64_t kMostHosts = 200'000;

[[nodiscard]] Result<Shape> parse_shape(std::string_view text);

// The hosts, in order of their names: ready, marked as simulated.
[[nodiscard]] apiserver::Object make_host(const Shape& shape, std::int64_t index, Time now);
// The network of these hosts in every family's words: Kueue's Topology "network", Koordinator's ClusterNetworkTopology
// "default" and KAI's Topology "network", with the levels zone, block, rack and host.
[[nodiscard]] std::vector<apiserver::Object> make_topologies(const Shape& shape);

}  // namespace gantree::controllers
