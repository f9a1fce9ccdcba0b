#include "engine/answer_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/small_cluster.h"

namespace gantree {
namespace {

using ::testing::HasSubstr;

Constraint alone(int level) {
  Constraint constraint = required(level);
  constraint.exclusive = level;
  return constraint;
}

// Two blocks of two racks of two hosts with four GPUs each: b1/r1/n1, n2; b1/r2/n3, n4; b2/r3/n5, n6; b2/r4/n7, n8.
class AnswerCheck : public ::testing::Test {
 protected:
  AnswerCheck() {
    int host = 0;
    for (const char* rack : {"b1/r1", "b1/r2", "b2/r3", "b2/r4"}) {
      for (int i = 0; i < 2; ++i) {
        hosts_.push_back(c_.host(std::string(rack) + "/n" + std::to_string(++host), 4));
      }
    }
  }

  using Where = std::vector<std::pair<int, int>>;  // host number, pods

  // "" where the check lets it pass.
  std::string fault(const Gang& gang, const std::vector<Where>& where, std::vector<int> counts = {}) {
    Placement placement;
    for (const Where& set : where) {
      auto& shares = placement.pod_sets.emplace_back();
      int pods = 0;
      for (const auto& [host, count] : set) {
        shares.push_back({hosts_[static_cast<std::size_t>(host - 1)], count});
        pods += count;
      }
      if (counts.size() < placement.pod_sets.size()) {
        counts.push_back(pods);
      }
    }
    std::vector<std::string> told;
    c_.engine().on_broken_answer([&](const BrokenAnswer& broken) { told.push_back(broken.fault); });
    const Outcome outcome = c_.engine().checked(gang, {.placement = placement, .counts = counts, .message = {}});
    EXPECT_EQ(told.size(), outcome.placement ? 0U : 1U);
    return told.empty() ? "" : told.front();
  }
  Gang groups(std::vector<Group> groups) {
    Gang gang = c_.gang({});
    gang.exclusive_kind = "lws";
    gang.root.groups = std::move(groups);
    return gang;
  }
  Group group(std::string name, Constraint constraint, std::vector<PodSet> sets) {
    return {.name = std::move(name), .constraint = std::move(constraint), .pod_sets = std::move(sets), .groups = {}};
  }

  SmallCluster c_{{"block", "rack", "kubernetes.io/hostname"}};
  std::vector<NodeId> hosts_;
};

TEST_F(AnswerCheck, LetsALegalPlacementPass) {
  EXPECT_EQ(fault(c_.gang({c_.set("main", 6, 1, required(1))}), {{{1, 4}, {2, 2}}}), "");
}

TEST_F(AnswerCheck, ABrokenPlacementIsNotHandedOutAndTheGangWaits) {
  std::string input;
  c_.engine().on_broken_answer([&](const BrokenAnswer& broken) { input = broken.input; });
  const Gang gang = c_.gang({c_.set("main", 6, 1, required(1))});
  const Outcome outcome = c_.engine().checked(
      gang, {.placement = Placement{{{{hosts_[0], 4}, {hosts_[2], 2}}}}, .counts = {6}, .message = {}});
  EXPECT_FALSE(outcome.placement);
  EXPECT_EQ(outcome.refusal, Refusal::kSearchLimit);
  EXPECT_THAT(outcome.message, HasSubstr("is in \"r1\" and \"r2\""));
  EXPECT_THAT(input, HasSubstr("levels block rack kubernetes.io/hostname\n"));
  EXPECT_THAT(input, HasSubstr("set main 6 min 6 | asks pods=1 gpu=1 | required 1 | pack\n"));
}

TEST_F(AnswerCheck, PodsAreNeitherLostNorInvented) {
  const Gang gang = c_.gang({c_.set("main", 6, 1)});
  EXPECT_THAT(fault(gang, {{{1, 4}, {2, 1}}}, {6}), HasSubstr("5 pods of \"main\" have a host, but 6 start"));
  EXPECT_THAT(fault(gang, {{{1, 4}, {2, 3}}}), HasSubstr("7 pods of \"main\" start, but it has 6"));
  EXPECT_THAT(fault(gang, {{{1, 4}, {2, 1}}}), HasSubstr("starts below its minimum"));
  EXPECT_THAT(fault(gang, {{{1, 3}, {1, 3}}}), HasSubstr("names host \"n1\" twice"));
  EXPECT_THAT(fault(gang, {}), HasSubstr("does not answer for every pod set"));
}

TEST_F(AnswerCheck, NoHostGivesMoreThanItHasLeftToAllSetsTogether) {
  const Gang gang = c_.gang({c_.set("a", 3, 1), c_.set("b", 1, 2)});
  EXPECT_EQ(fault(gang, {{{1, 2}, {2, 1}}, {{1, 1}}}), "");
  EXPECT_THAT(fault(gang, {{{1, 3}}, {{1, 1}}}), HasSubstr("host \"n1\" has 4 of gpu left, but 5 are taken"));
  c_.inventory().take(hosts_[0], c_.shape(1).requests, 1);
  EXPECT_THAT(fault(gang, {{{1, 2}, {2, 1}}, {{1, 1}}}), HasSubstr("has 3 of gpu left"));
}

TEST_F(AnswerCheck, AHostThatTakesNoPodsOfTheSetIsNone) {
  Node cordoned = c_.make_node("b1/r1/n1", 4);
  cordoned.unschedulable = true;
  c_.inventory().upsert(cordoned);
  EXPECT_THAT(fault(c_.gang({c_.set("main", 1, 1)}), {{{1, 1}}}), HasSubstr("takes none of them: cordoned"));
  c_.inventory().remove(hosts_[1]);
  EXPECT_THAT(fault(c_.gang({c_.set("main", 1, 1)}), {{{2, 1}}}), HasSubstr("on a host that is not there"));
}

TEST_F(AnswerCheck, AGroupIsInOneDomainOfItsLevelWithAllThatIsBelowIt) {
  Gang gang = groups({group("inner", {}, {c_.set("a", 1, 1), c_.set("b", 1, 1)})});
  gang.root.constraint = required(0);
  EXPECT_EQ(fault(gang, {{{1, 1}}, {{3, 1}}}), "");
  EXPECT_THAT(fault(gang, {{{1, 1}}, {{5, 1}}}), HasSubstr("is in \"b1\" and \"b2\""));
}

TEST_F(AnswerCheck, EverySliceOfConsecutiveRanksIsInOneDomain) {
  const Gang gang = c_.gang({c_.set("main", 8, 1, slices({{.level = 1, .size = 4}}))});
  EXPECT_EQ(fault(gang, {{{1, 2}, {2, 2}, {3, 4}}}), "");
  EXPECT_THAT(fault(gang, {{{1, 2}, {3, 4}, {2, 2}}}), HasSubstr("a slice of 4 pods"));
  EXPECT_THAT(fault(gang, {{{1, 3}, {3, 4}, {5, 1}}}), HasSubstr("a slice of 4 pods"));
}

TEST_F(AnswerCheck, SetsThatAreCutTogetherAreCutTogether) {
  const Gang gang = c_.gang({c_.set("a", 2, 1), c_.set("b", 2, 1)}, slices({{.level = 1, .size = 4}}));
  EXPECT_EQ(fault(gang, {{{1, 2}}, {{2, 2}}}), "");
  EXPECT_THAT(fault(gang, {{{1, 2}}, {{3, 2}}}), HasSubstr("in several domains"));
}

TEST_F(AnswerCheck, TwoGroupsThatWantADomainToThemselvesAreNotInOne) {
  const Gang gang = groups({group("one", alone(1), {c_.set("a", 1, 1)}), group("two", alone(1), {c_.set("b", 1, 1)}),
                            group("three", {}, {c_.set("c", 1, 1)})});
  EXPECT_EQ(fault(gang, {{{1, 1}}, {{3, 1}}, {{1, 1}}}), "") << "who shares gladly is in nobody's way";
  EXPECT_THAT(fault(gang, {{{1, 1}}, {{2, 1}}, {{5, 1}}}), HasSubstr("are both in \"r1\""));
}

TEST_F(AnswerCheck, WhoWantsABlockToItselfSharesItWithNobodyWhoWantsARack) {
  const Gang gang =
      groups({group("rack", alone(1), {c_.set("a", 1, 1)}), group("block", alone(0), {c_.set("b", 1, 1)})});
  EXPECT_EQ(fault(gang, {{{1, 1}}, {{5, 1}}}), "");
  EXPECT_THAT(fault(gang, {{{1, 1}}, {{3, 1}}}), HasSubstr("are both in \"b1\""));
}

TEST_F(AnswerCheck, AGroupIsNotInTheWayOfWhatItContains) {
  Group outer = group("outer", alone(0), {});
  outer.groups = {group("one", alone(1), {c_.set("a", 1, 1)}), group("two", alone(1), {c_.set("b", 1, 1)})};
  EXPECT_EQ(fault(groups({outer}), {{{1, 1}}, {{3, 1}}}), "");
}

TEST_F(AnswerCheck, ADomainThatAnotherOfTheKindHoldsIsTaken) {
  const Gang gang = groups({group("one", alone(1), {c_.set("a", 1, 1)})});
  c_.engine().take(gang, {{{{hosts_[0], 1}}}});
  EXPECT_THAT(fault(gang, {{{2, 1}}}), HasSubstr("another has it"));
  EXPECT_EQ(fault(gang, {{{3, 1}}}), "");
}

TEST_F(AnswerCheck, GroupsMayBeLeftOutWholeAsFarAsTheMinimaAllow) {
  Gang gang = groups({group("one", required(1), {c_.set("a", 2, 1)}), group("two", required(1), {c_.set("b", 2, 1)}),
                      group("three", required(1), {c_.set("c", 2, 1)})});
  gang.root.min_groups = 2;
  EXPECT_EQ(fault(gang, {{{1, 2}}, {{3, 2}}, {}}), "");
  EXPECT_THAT(fault(gang, {{{1, 2}}, {}, {}}), HasSubstr("below its minimum"));
  EXPECT_THAT(fault(gang, {{{1, 2}}, {{3, 2}}, {{5, 1}}}), HasSubstr("\"three\" starts below its minimum"));
}

}  // namespace
}  // namespace gantree
