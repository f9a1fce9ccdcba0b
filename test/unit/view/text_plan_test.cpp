#include "view/text_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "unit/view/planned_cluster.h"

namespace gantree::view {
namespace {

std::string drawn(PlannedCluster& plan, TextOptions options = {.width = 80}) {
  return "\n" + text_plan(plan.cluster(), plan.plan(), options);
}

int widest(const std::string& text) {
  std::istringstream lines(text);
  int most = 0;
  for (std::string line; std::getline(lines, line);) {
    most = std::max(most, static_cast<int>(line.size()));
  }
  return most;
}

// Two blocks of two racks of two hosts: r1 of b1 has room, r2 of b1 is full, b2 is free.
void two_blocks(PlannedCluster& plan) {
  plan.host({"b1", "r1", "n1"}, 8, 2);
  plan.host({"b1", "r1", "n2"});
  plan.host({"b1", "r2", "n3"}, 8, 8);
  plan.host({"b1", "r2", "n4"}, 8, 8);
  plan.host({"b2", "r1", "n5"});
  plan.host({"b2", "r1", "n6"});
  plan.host({"b2", "r2", "n7"});
  plan.host({"b2", "r2", "n8"});
}

NodeId node(PlannedCluster& plan, const char* name) {
  return *plan.cluster().inventory().find(name);
}

TEST(TextPlan, ShowsWhoHasWhichGpuAndFoldsWhatIsAllFreeOrAllInUse) {
  PlannedCluster plan;
  two_blocks(plan);
  plan.gang("train", 4, {{node(plan, "n1"), 1}, {node(plan, "n2"), 2}});
  plan.gang("small", 1, {{node(plan, "n1"), 1}});
  EXPECT_EQ(drawn(plan), R"(
topology default  block › rack › host
8 hosts, 64 nvidia.com/gpu: 18 in use before, 13 placed now, 33 free

                                                        free/total
b1    2 racks, 4 hosts                                        1/32
  r1  ▒▒AAAAB· AAAAAAAA                                       1/16
  r2  2 hosts, all in use                                     0/16
b2    2 racks, 4 hosts, all free                             32/32

A–B gangs of this plan   ▒ in use before   · free

Placed           kind  pods  gpu  where
A  team/train    Job      3   12  b1/r1: 2 hosts
B  team/small    Job      1    1  b1/r1/n1

2 placed, 0 waiting, 0 rejected
)");
}

TEST(TextPlan, SaysWhyAGangWaitsOrIsRejected) {
  PlannedCluster plan;
  two_blocks(plan);
  plan.refused("large", GangState::kWaiting, Reason::kTopologyBusy,
               "no rack can hold all 4 pods of pod set \"main\" now; nearest: rack b2/r1 offers 2 of 4: 2 hosts short",
               4);
  plan.refused("wrong", GangState::kRejected, Reason::kInvalidRequest, "there is no level \"row\"", 1);
  const std::string text = drawn(plan, {.width = 60});
  EXPECT_EQ(text.substr(text.find("\nWaiting")), R"(
Waiting          kind  pods  why
   team/large    Job      4  TopologyBusy
     no rack can hold all 4 pods of pod set "main" now;
     nearest: rack b2/r1 offers 2 of 4: 2 hosts short

Rejected         kind  pods  why
   team/wrong    Job      1  InvalidRequest
     there is no level "row"

0 placed, 1 waiting, 1 rejected
)");
}

TEST(TextPlan, ListsThePodSetsOfAGangThatHasSeveral) {
  PlannedCluster plan;
  two_blocks(plan);
  Decision decision = PlannedCluster::decision_of("set");
  decision.state = GangState::kPlaced;
  plan.add_set(decision, "leader", 0, {{node(plan, "n5"), 1}});
  plan.add_set(decision, "workers", 8, {{node(plan, "n5"), 1}, {node(plan, "n6"), 1}, {node(plan, "n7"), 1}});
  plan.decisions().push_back(decision);
  const std::string text = drawn(plan);
  const std::size_t begin = text.find("\nPlaced");
  EXPECT_EQ(text.substr(begin, text.find("1 placed") - begin), R"(
Placed           kind  pods  gpu  where
A  team/set      Job      4   24  b2: r1 (2), r2 (1 host)
     leader               1    0  b2/r1/n5
     workers              3   24  b2: r1 (2), r2 (1 host)

)");
}

TEST(TextPlan, UsesNothingButAsciiWhereAsked) {
  PlannedCluster plan;
  two_blocks(plan);
  plan.gang("träin", 4, {{node(plan, "n1"), 1}});
  const std::string text = drawn(plan, {.width = 80, .unicode = false});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }))
      << text;
  EXPECT_NE(text.find("  r1  ##AAAA.. ........"), std::string::npos) << text;
}

TEST(TextPlan, HasEscapesOnlyWithColors) {
  PlannedCluster plan;
  two_blocks(plan);
  plan.gang("train", 4, {{node(plan, "n1"), 1}});
  EXPECT_EQ(drawn(plan).find('\x1b'), std::string::npos);
  EXPECT_NE(drawn(plan, {.width = 80, .color = true}).find("\x1b["), std::string::npos);
}

TEST(TextPlan, LetsNoControlCharacterOfANameThrough) {
  PlannedCluster plan;
  const NodeId bad = plan.host({"b\x1b[31m", "r\n\t", "n\x80\xe2\x80\xae"});
  plan.gang("g\x07\r", 4, {{bad, 1}});
  plan.refused("w", GangState::kWaiting, Reason::kTopologyBusy, "a\nb\x1b[2J", 4);
  for (const char c : drawn(plan)) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
  EXPECT_EQ(drawn(plan).find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(drawn(plan).find("a?b?[2J"), std::string::npos);
}

TEST(TextPlan, IsNoWiderThanTheTerminal) {
  PlannedCluster plan;
  for (int b = 1; b <= 3; ++b) {
    for (int r = 1; r <= 3; ++r) {
      for (int h = 1; h <= 40; ++h) {
        const NodeId id = plan.host(
            {fmt::format("block-{}", b), fmt::format("rack-{}", r), fmt::format("n{}{}{}", b, r, h)}, 8, h % 9);
        if (h % 8 == 0) {
          plan.gang(fmt::format("a-gang-with-quite-a-long-name-{}-{}-{}", b, r, h), 1, {{id, 1}});
        }
      }
    }
  }
  for (const int width : {60, 80, 100, 200}) {
    EXPECT_LE(widest(drawn(plan, {.width = width, .unicode = false})), width);
  }
}

TEST(TextPlan, ShowsDeepTopologiesAndTopologiesOfHostsOnly) {
  PlannedCluster deep({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", kHostnameLabel});
  std::vector<std::string> path;
  for (char c = 'A'; c < 'A' + 15; ++c) {
    path.emplace_back(1, c);
  }
  path.emplace_back("n1");
  deep.host(path);
  path[14] = "P";
  path[15] = "n2";
  deep.host(path, 8, 3);
  EXPECT_NE(drawn(deep).find("\nA/B/C/D/E…/J/K/L/M/N  2 os, 2 hosts"), std::string::npos) << drawn(deep);
  EXPECT_NE(drawn(deep).find("\n  P                   ▒▒▒····· "), std::string::npos) << drawn(deep);

  PlannedCluster flat({kHostnameLabel});
  flat.gang("train", 4, {{flat.host({"n1"}), 1}, {flat.host({"n2"}), 1}});
  EXPECT_NE(drawn(flat).find("\nhosts  AAAA···· AAAA····"), std::string::npos) << drawn(flat);
  EXPECT_NE(drawn(flat).find("  2 hosts\n"), std::string::npos) << drawn(flat);
}

TEST(TextPlan, CountsHostsOneByOneWhereTheLowestLevelIsARack) {
  PlannedCluster plan({"block", "rack"});
  const NodeId a = plan.host({"b1", "r1", "n1"}, 8, 4);
  plan.host({"b1", "r1", "n2"});
  plan.gang("train", 4, {{a, 1}});
  EXPECT_NE(drawn(plan).find("\nb1/r1  ▒▒▒▒AAAA ········"), std::string::npos) << drawn(plan);
  EXPECT_NE(drawn(plan).find("b1/r1/n1\n"), std::string::npos) << drawn(plan);
}

TEST(TextPlan, CountsNodesOutsideTheTopologyAndMarksHostsThatTakeNothing) {
  PlannedCluster plan;
  plan.change(plan.host({"b1", "r1", "n1"}), [](Node& changed) { changed.ready = false; });
  plan.change(plan.host({"b1", "r1", "n2"}), [](Node& changed) { changed.unschedulable = true; });
  const StringId key = plan.cluster().inventory().strings().intern("repair");
  plan.change(plan.host({"b1", "r1", "n3"}),
              [&](Node& changed) { changed.taints.push_back({key, {}, TaintEffect::kNoSchedule}); });
  plan.host({"b1", "r1", "n4"}, 0);
  plan.host({"b1"});
  const std::string text = drawn(plan);
  EXPECT_NE(text.find("\nb1/r1  xxxxxxxx xxxxxxxx tttttttt --------"), std::string::npos) << text;
  EXPECT_NE(text.find("1 node without its labels: outside this topology"), std::string::npos) << text;
  EXPECT_NE(text.find("8 free, 16 out of service"), std::string::npos) << text;
}

TEST(TextPlan, StaysShortHoweverLargeTheCluster) {
  PlannedCluster plan;
  for (int b = 0; b < 40; ++b) {
    for (int r = 0; r < 60; ++r) {
      for (int h = 0; h < 4; ++h) {
        const NodeId id =
            plan.host({fmt::format("b{}", b), fmt::format("r{}", r), fmt::format("n{}-{}-{}", b, r, h)}, 8, h);
        if (h == 0) {
          plan.gang(fmt::format("gang-{}-{}", b, r), 1, {{id, 1}});
        }
      }
    }
  }
  const std::string text = drawn(plan);
  const std::string tree = text.substr(0, text.find("\nPlaced"));
  EXPECT_LT(std::count(tree.begin(), tree.end(), '\n'), 60);
  EXPECT_NE(tree.find("\nb39    60 racks, 240 hosts: "), std::string::npos) << tree;
}

TEST(TextPlan, PutsRack2BeforeRack10) {
  PlannedCluster plan;
  for (int r = 1; r <= 12; ++r) {
    plan.host({"b1", fmt::format("r{}", r), fmt::format("n{}", r)}, 8, r > 3 ? 8 : 1);
  }
  const std::string text = drawn(plan);
  EXPECT_LT(text.find("\n  r2 "), text.find("\n  r4–r12 ")) << text;
}

TEST(TextPlan, DrawsEveryTopologyThatGotAGang) {
  PlannedCluster plan;
  two_blocks(plan);
  const TopologyId other = plan.cluster().engine().add_topology({"other", {"rack", kHostnameLabel}});
  EXPECT_EQ(drawn(plan).find("topology other"), std::string::npos);
  plan.gang("train", 4, {{node(plan, "n1"), 1}});
  plan.gang("serve", 4, {{node(plan, "n7"), 1}});
  plan.decisions().back().pod_sets[0].topology = other;
  const std::string text = drawn(plan);
  EXPECT_NE(text.find("topology default"), std::string::npos) << text;
  EXPECT_NE(text.find("topology other"), std::string::npos) << text;
}

TEST(TextPlan, HasAnAnswerForNothingAtAll) {
  PlannedCluster empty;
  EXPECT_EQ(drawn(empty), R"(
topology default  block › rack › host
0 hosts, 0 cpu: 0 in use, 0 free

0 placed, 0 waiting, 0 rejected
)");
  Cluster nothing;
  EXPECT_EQ(text_plan(nothing, {}, {}), "There is no topology to draw.\n\n0 placed, 0 waiting, 0 rejected\n");
}

TEST(TextPlan, SurvivesAbsurdAmounts) {
  PlannedCluster plan;
  constexpr std::int64_t kHuge = INT64_MAX;
  plan.host({"b1", "r1", "n1"}, kHuge, kHuge);
  plan.host({"b1", "r1", "n2"}, kHuge, 1);
  const NodeId over = plan.host({"b1", "r1", "n3"}, 4, 9);
  plan.gang("train", 1, {{over, 1}});
  EXPECT_NE(drawn(plan).find("\nb1/r1  ▒▒▒▒▒▒▒▒ ▒······· ▒▒▒▒▒▒▒A"), std::string::npos) << drawn(plan);
}

}  // namespace
}  // namespace gantree::view
