// Whatever comes in whatever order: no host is overcommitted, and no gang stays half bound, however many of them a
// crash cut in two and whatever others took meanwhile.
#include <gtest/gtest.h>

#include <random>

#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

class Storm {
 public:
  explicit Storm(std::uint32_t seed) : random_(seed), api_(std::make_unique<FakeApi>()) {
    nodes_ = 2 + pick(4);
    for (int n = 0; n < nodes_; ++n) {
      add_node(n);
    }
  }

  void blow(int steps) {
    for (int i = 0; i < steps; ++i) {
      happen();
      ASSERT_LE(api_->fullest(), 8) << "after step " << i;
    }
  }

  // Lets all settle, with an API server that does what it is told.
  void calm() {
    for (int i = 0; i < 200; ++i) {
      api_->pass(std::chrono::seconds(i % 2 == 0 ? 2 : 61));
      api_->run();
      carry_out_evictions();
    }
    ASSERT_LE(api_->fullest(), 8);
    for (const auto& [gang, min] : gangs_) {
      const int bound = api_->bound(gang);
      EXPECT_TRUE(bound == 0 || bound >= min || broken_.contains(gang))
          << gang << " has " << bound << " pods bound, of at least " << min;
    }
  }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void add_node(int n) { api_->node("n" + std::to_string(n), R"("rack":"r)" + std::to_string(n % 2) + "\"", 8); }

  void happen() {
    switch (pick(9)) {
      case 0:
        add_gang();
        break;
      case 1:
      case 2:
        api_->decide();
        break;
      case 3:
      case 4:
      case 5:
        answer_one();
        break;
      case 6:
        remove_one();
        break;
      case 7:
        api_->pass(std::chrono::milliseconds(pick(40'000)));
        break;
      case 8:
        pick(4) == 0 ? restart() : other_scheduler();
        break;
    }
  }

  void add_gang() {
    const std::string name = "g" + std::to_string(gangs_.size());
    const int min = 1 + pick(5);
    gangs_[name] = min;
    api_->pod_group(name, min);
    api_->pods_of(name, min + pick(2), {.gpus = 1 + pick(8)});
  }

  // One binding comes to something, or to nothing that is known.
  void answer_one() {
    if (api_->binds.empty()) {
      return;
    }
    std::swap(api_->binds.front(), api_->binds[static_cast<std::size_t>(pick(static_cast<int>(api_->binds.size())))]);
    const Order order = api_->binds.front();
    const std::string name = order.write.object.name;
    switch (pick(6)) {
      case 0:  // refused
        api_->binds.pop_front();
        api_->scheduler.answered(order.id, Answer::kRefused, "refused", api_->now);
        return;
      case 1:  // cut off before it was done
        api_->binds.pop_front();
        api_->scheduler.answered(order.id, Answer::kUncertain, "cut off", api_->now);
        return;
      case 2: {  // cut off after it was done: the event comes all the same
        api_->binds.pop_front();
        api_->scheduler.answered(order.id, Answer::kUncertain, "cut off", api_->now);
        if (api_->pods.contains(name) && api_->pods[name].node.empty() && api_->uids[name] == order.write.object.uid) {
          PodSpec spec = api_->pods[name];
          spec.node = order.write.node;
          api_->pod(name, spec);
        }
        return;
      }
      default:
        api_->bind_next();
    }
  }

  void remove_one() {
    if (api_->pods.empty()) {
      return;
    }
    auto it = api_->pods.begin();
    std::advance(it, pick(static_cast<int>(api_->pods.size())));
    const std::string name = it->first;
    broken_.insert(it->second.gang);
    if (pick(3) == 0 && !it->second.node.empty()) {
      PodSpec spec = it->second;
      spec.phase = "Succeeded";
      api_->pod(name, spec);
    } else {
      api_->remove_pod(name);
    }
  }

  // Bound by others without asking; they do not overcommit either.
  void other_scheduler() {
    std::map<std::string, int> used;
    for (const auto& [name, spec] : api_->pods) {
      if (!spec.node.empty() && spec.phase == "Pending") {
        used[spec.node] += spec.gpus;
      }
    }
    // They do not know what is on its way to a node; here they are lucky.
    if (!api_->binds.empty()) {
      return;
    }
    const std::string node = "n" + std::to_string(pick(nodes_));
    if (used[node] + 1 <= 8 && !uncertain_anywhere()) {
      api_->pod("other" + std::to_string(others_++), {.gpus = 1, .scheduler = "default-scheduler", .node = node});
    }
  }

  bool uncertain_anywhere() {
    for (const auto& [name, spec] : api_->pods) {
      if (spec.node.empty() && !api_->scheduler.cluster().node_of("default/" + name).empty()) {
        return true;
      }
    }
    return false;
  }

  // Who makes the pods of a gang makes others in the place of those that were evicted.
  void carry_out_evictions() {
    for (const Order& order : std::exchange(api_->evictions, {})) {
      const std::string name = order.write.object.name;
      if (!api_->pods.contains(name) || api_->uids[name] != order.write.object.uid) {
        api_->scheduler.answered(order.id, Answer::kDone, "", api_->now);
      } else if (pick(3) == 0) {
        api_->scheduler.answered(order.id, Answer::kRefused, "a budget forbids it", api_->now);
      } else {
        api_->scheduler.answered(order.id, Answer::kDone, "", api_->now);
        PodSpec spec = api_->pods[name];
        api_->remove_pod(name);
        spec.node.clear();
        api_->uids[name] = "again-" + std::to_string(made_++);
        api_->pod(name, spec);
      }
    }
  }

  // Killed and started anew: bindings that were sent may still be carried out; those that were not are lost.
  void restart() {
    while (!api_->binds.empty()) {
      if (pick(2) == 0) {
        api_->binds.pop_front();
      } else {
        api_->bind_next();
      }
    }
    auto next = std::make_unique<FakeApi>();
    next->now = api_->now;
    std::swap(next, api_);
    for (int n = 0; n < nodes_; ++n) {
      add_node(n);
    }
    for (const auto& [name, min] : gangs_) {
      api_->pod_group(name, min);
    }
    api_->uids = next->uids;
    for (const auto& [name, spec] : next->pods) {
      api_->pod(name, spec);
    }
  }

  std::mt19937 random_;
  std::unique_ptr<FakeApi> api_;
  int nodes_ = 0;
  int others_ = 0;
  int made_ = 0;
  std::map<std::string, int> gangs_;
  std::set<std::string> broken_;  // lost a pod
};

TEST(LiveProperty, NoHostIsOvercommittedAndNoGangStaysHalfBound) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Storm storm(seed);
    storm.blow(120);
    storm.calm();
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

}  // namespace
}  // namespace gantree
