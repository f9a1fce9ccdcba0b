// What must not change an answer, and what may only change it for the better.
#include <algorithm>

#include "engine/replay.h"
#include "property/draw.h"
#include "support/instance_text.h"

namespace gantree::test {
namespace {

template <class T>
void permute(Choices& choices, std::vector<T>& list) {
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1], list[static_cast<std::size_t>(choices.up_to(static_cast<int>(i) - 1))]);
  }
}

void permute_group(Choices& choices, GroupSpec& group) {
  permute(choices, group.pod_sets);
  permute(choices, group.groups);
  for (GroupSpec& nested : group.groups) {
    permute_group(choices, nested);
  }
}

std::vector<Answer> answers(const Instance& instance) {
  World world(instance);
  std::vector<Answer> found;
  for (const GangSpec& gang : instance.gangs) {
    found.push_back(ask_and_take(world, gang));
    RC_LOG() << gang.name << " " << found.back() << "\n";
  }
  return found;
}

RC_GTEST_PROP(Invariance, TheSameQuestionHasTheSameAnswerTwice, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  World world(instance);
  for (const GangSpec& gang : instance.gangs) {
    const Answer first = ask(world, gang);
    const Answer second = ask(world, gang);
    RC_ASSERT(first == second);
    ask_and_take(world, gang);
  }
  RC_ASSERT(answers(instance) == answers(instance));
}

RC_GTEST_PROP(Invariance, TheOrderInWhichNodesComeChangesNothing, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  Instance other = instance;
  permute(choices, other.nodes);
  RC_ASSERT(answers(instance) == answers(other));
}

RC_GTEST_PROP(Invariance, TheOrderInWhichPodsComeChangesNothing, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  Instance bare = instance;
  std::vector<BoundPod> pods;
  for (NodeSpec& node : bare.nodes) {
    node.pods.clear();
  }
  World late(bare);
  for (const NodeSpec& node : instance.nodes) {
    for (std::size_t i = 0; i < node.pods.size(); ++i) {
      pods.push_back(
          {.key = node.name + "/" + std::to_string(i), .node = node.name, .requests = late.amounts(node.pods[i])});
    }
  }
  permute(choices, pods);
  for (const BoundPod& pod : pods) {
    late.cluster().upsert_pod(pod);
  }
  World world(instance);
  for (const GangSpec& gang : instance.gangs) {
    RC_ASSERT(ask_and_take(world, gang) == ask_and_take(late, gang));
  }
}

RC_GTEST_PROP(Invariance, TheOrderOfPodSetsAndGroupsChangesNothing, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  Instance other = instance;
  for (GangSpec& gang : other.gangs) {
    permute_group(choices, gang.root);
  }
  RC_LOG() << to_text(other);
  auto first = answers(instance);
  auto second = answers(other);
  for (auto* all : {&first, &second}) {
    for (Answer& answer : *all) {
      answer.message.clear();  // names the first pod set in the gang's own order
      for (auto& [name, shares] : answer.shares) {
        std::sort(shares.begin(), shares.end());  // ranks go on from one pod set to the next, in that order too
      }
    }
  }
  RC_ASSERT(first == second);
}

RC_GTEST_PROP(Invariance, AQuestionWrittenDownForReplayIsTheSameQuestion, ()) {
  Choices choices = draw_choices();
  Instance instance = draw_instance(choices);
  GangSpec& spec = instance.gangs.front();
  spec.exclusive_kind = "kind";
  World world(instance);
  const Gang gang = world.gang(spec);
  const std::vector<Topology> topologies{world.engine().topology(world.topology())};
  const std::string text = replay_text(gang, world.inventory(), topologies, world.engine().holds());
  RC_LOG() << text;
  const Instance again = parse_instance(text);
  World other(again);
  Answer first = ask(world, spec);
  RC_ASSERT(first == ask(other, again.gangs.front()));
}

RC_GTEST_PROP(Growth, AFreeNodeMoreNeverMakesAPlacedGangUnplaceable, ()) {
  Choices choices = draw_choices();
  const Instance instance = draw_instance(choices);
  NodeSpec more = random_node(choices, instance, "more", kPropertyScale);
  more.pods.clear();
  World before(instance);
  World after(instance);
  after.upsert_node(more);
  for (const GangSpec& gang : instance.gangs) {
    if (ask(before, gang).placed) {
      const Answer answer = ask(after, gang);
      RC_LOG() << answer << "\n";
      RC_ASSERT(answer.placed);
    }
  }
}

}  // namespace
}  // namespace gantree::test
