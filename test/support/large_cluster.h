// A cluster of thousands of hosts: blocks of racks of hosts of 8 GPUs, and what runs there by the roll of the dice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/preempt.h"
#include "support/choices.h"

namespace gantree::test {

struct LargeScale {
  int hosts = 10'000;
  int hosts_per_rack = 32;
  int racks_per_block = 16;
};

class LargeCluster {
 public:
  static constexpr int kBlock = 0;
  static constexpr int kRack = 1;
  static constexpr int kHost = 2;
  static constexpr int kGpus = 8;
  static constexpr int kCpus = 96;

  explicit LargeCluster(const LargeScale& scale);

  // Every GPU that is free is taken with so many percent, and with it its share of the other resources.
  void fill(int percent, Choices& choices);
  // Gangs of one to four hosts each, until no GPU is free.
  [[nodiscard]] std::vector<RunningGang> fill_with_gangs(Choices& choices);

  [[nodiscard]] PodShape shape(int gpus, int cpus) const;
  [[nodiscard]] PodSet pods(const std::string& name, int count, int gpus, int cpus) const;
  [[nodiscard]] Gang gang(Group root) const;

  [[nodiscard]] int hosts() const { return static_cast<int>(inventory_.size()); }
  [[nodiscard]] static NodeId host(int index) { return make_id<NodeTag>(static_cast<std::size_t>(index)); }
  [[nodiscard]] const LargeScale& scale() const { return scale_; }
  Inventory& inventory() { return inventory_; }
  Engine& engine() { return engine_; }

 private:
  LargeScale scale_;
  Inventory inventory_;
  Engine engine_;
  ResourceId gpu_;
  TopologyId topology_;
};

// What a group asks for, all of it in one domain of a level.
[[nodiscard]] Constraint in_one(int level);
[[nodiscard]] Constraint alone_in_one(int level);

}  // namespace gantree::test
