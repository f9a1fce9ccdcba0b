// Undo restores, and an engine that lived through changes equals a new one.
#include <algorithm>
#include <map>

#include "property/draw.h"

namespace gantree::test {
namespace {

std::vector<std::int64_t> rooms(World& world, const Instance& instance, const std::vector<NodeSpec>& nodes) {
  std::vector<std::int64_t> found;
  for (const NodeSpec& node : nodes) {
    const auto id = world.inventory().find(node.name);
    RC_ASSERT(id.has_value());
    for (const GangSpec& gang : instance.gangs) {
      for (const PodSetSpec* pod_set : pod_sets(gang.root)) {
        found.push_back(world.inventory().room(*id, world.amounts(pod_set->requests)));
        found.push_back(world.inventory().room_when_empty(*id, world.amounts(pod_set->requests)));
      }
    }
  }
  return found;
}

RC_GTEST_PROP(Undo, TakingAndGivingBackRestoresRoomAndAnswers, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  World world(instance);
  std::vector<Answer> before;
  for (const GangSpec& gang : instance.gangs) {
    before.push_back(ask(world, gang));
  }
  const auto rooms_before = rooms(world, instance, instance.nodes);
  std::vector<std::pair<Gang, Placement>> held;
  for (const GangSpec& spec : instance.gangs) {
    Gang gang = world.gang(spec);
    if (Outcome outcome = world.engine().place(gang); outcome.placement) {
      world.engine().take(gang, *outcome.placement);
      held.emplace_back(std::move(gang), std::move(*outcome.placement));
    }
  }
  while (!held.empty()) {
    const auto at = static_cast<std::size_t>(choices.up_to(static_cast<int>(held.size()) - 1));
    world.engine().give(held[at].first, held[at].second);
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
  }
  RC_ASSERT(rooms(world, instance, instance.nodes) == rooms_before);
  for (std::size_t g = 0; g < instance.gangs.size(); ++g) {
    RC_ASSERT(ask(world, instance.gangs[g]) == before[g]);
  }
}

// A world that changes, and the record from which it can be built anew.
class Life {
 public:
  Life(const Instance& instance, Choices& choices)
      : record_(instance), world_(without_pods(instance)), choices_(choices) {
    for (const NodeSpec& node : instance.nodes) {
      for (const AmountSpec& pod : node.pods) {
        bind(node.name, pod);
      }
    }
  }

  void step() {
    switch (choices_.up_to(9)) {
      case 0:
      case 1:
        return start_gang();
      case 2:
        return end_gang();
      case 3:
        return bind(pick().name, {{kGpu, choices_.between(1, 2)}, {"cpu", 500}, {"pods", 1}});
      case 4:
        return unbind();
      case 5:
        return add_node();
      case 6:
        return remove_node();
      case 7:
        return update(&Life::turn_eligibility);
      case 8:
        return update(&Life::change_size);
      default:
        return update(&Life::move);
    }
  }

  // Answers of the world that lived equal those of one built from the record.
  void check() {
    World fresh(without_pods(record_));
    for (const auto& [key, pod] : pods_) {
      fresh.cluster().upsert_pod({.key = key, .node = pod.first, .requests = fresh.amounts(pod.second)});
    }
    for (const auto& [spec, shares] : held_) {
      fresh.engine().take(fresh.gang(spec), fresh.unnamed(shares));
    }
    RC_ASSERT(rooms(world_, record_, record_.nodes) == rooms(fresh, record_, record_.nodes));
    for (const GangSpec& gang : record_.gangs) {
      const Answer lived = ask(world_, gang);
      const Answer anew = ask(fresh, gang);
      RC_LOG() << to_text(record_) << gang.name << "\nlived " << lived << "\nanew  " << anew << "\n";
      RC_ASSERT(lived == anew);
    }
  }

 private:
  using Held = std::pair<GangSpec, std::vector<NamedShares>>;

  static Instance without_pods(Instance instance) {
    for (NodeSpec& node : instance.nodes) {
      node.pods.clear();
    }
    return instance;
  }

  NodeSpec& pick() {
    return record_.nodes[static_cast<std::size_t>(choices_.up_to(static_cast<int>(record_.nodes.size()) - 1))];
  }

  void start_gang() {
    GangSpec spec = choices_.of(record_.gangs);
    spec.name += "-" + std::to_string(++names_);
    const Gang gang = world_.gang(spec);
    if (const Outcome outcome = world_.engine().place(gang); outcome.placement) {
      world_.engine().take(gang, *outcome.placement);
      held_.emplace_back(spec, world_.named(*outcome.placement));
    }
  }

  void end_gang() {
    if (!held_.empty()) {
      const auto at = choices_.up_to(static_cast<int>(held_.size()) - 1);
      const auto& [spec, shares] = held_[static_cast<std::size_t>(at)];
      world_.engine().give(world_.gang(spec), world_.unnamed(shares));
      held_.erase(held_.begin() + at);
    }
  }

  void bind(const std::string& node, const AmountSpec& request) {
    const std::string key = "default/p" + std::to_string(++names_);
    pods_[key] = {node, request};
    world_.cluster().upsert_pod({.key = key, .node = node, .requests = world_.amounts(request)});
  }

  void unbind() {
    if (!pods_.empty()) {
      const auto at = std::next(pods_.begin(), choices_.up_to(static_cast<int>(pods_.size()) - 1));
      world_.cluster().remove_pod(at->first);
      pods_.erase(at);
    }
  }

  void add_node() {
    // A pod may be there before its node.
    const std::string name = "m" + std::to_string(++names_);
    if (choices_.one_in(3)) {
      bind(name, {{kGpu, 1}, {"pods", 1}});
    }
    record_.nodes.push_back(random_node(choices_, record_, name, kPropertyScale));
    world_.upsert_node(record_.nodes.back());
  }

  // Only where no gang's pods are assumed; bound pods wait for its return.
  void remove_node() {
    const std::string name = pick().name;
    for (const auto& [spec, all] : held_) {
      for (const NamedShares& shares : all) {
        if (std::ranges::any_of(shares, [&](const auto& share) { return share.first == name; })) {
          return;
        }
      }
    }
    if (record_.nodes.size() > 1) {
      const auto node = std::ranges::find(record_.nodes, name, &NodeSpec::name);
      const NodeSpec gone = *node;
      world_.cluster().remove_node(name);
      record_.nodes.erase(node);
      if (choices_.one_in(2)) {
        record_.nodes.push_back(gone);
        world_.upsert_node(gone);
      }
    }
  }

  void update(void (Life::*change)(NodeSpec&)) {
    NodeSpec& node = pick();
    (this->*change)(node);
    world_.upsert_node(node);
  }

  void turn_eligibility(NodeSpec& node) {
    switch (choices_.up_to(2)) {
      case 0:
        node.cordoned = !node.cordoned;
        break;
      case 1:
        node.ready = !node.ready;
        break;
      default:
        if (node.taints.empty()) {
          node.taint("dedicated", "x", TaintEffect::kNoSchedule);
        } else {
          node.taints.clear();
        }
    }
  }

  void change_size(NodeSpec& node) { node.gpus(choices_.up_to(kPropertyScale.max_gpus)); }

  void move(NodeSpec& node) { node.labels = random_node(choices_, record_, node.name, kPropertyScale).labels; }

  Instance record_;
  World world_;
  Choices& choices_;
  std::map<std::string, std::pair<std::string, AmountSpec>> pods_;
  std::vector<Held> held_;
  int names_ = 0;
};

RC_GTEST_PROP(Change, AnEngineThatLivedThroughChangesAnswersAsANewOne, ()) {
  Choices choices = draw_choices();
  Life life(draw_instance(choices), choices);
  for (int steps = choices.up_to(20); steps > 0; --steps) {
    life.step();
    if (choices.one_in(6)) {
      life.check();
    }
  }
  life.check();
}

}  // namespace
}  // namespace gantree::test
