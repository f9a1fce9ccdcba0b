#include "view/tree_report.h"

#include <gtest/gtest.h>

#include "unit/view/planned_cluster.h"

namespace gantree::view {
namespace {

// b1/r1 has 6 + 8 GPUs free, b1/r2 none, b2/r1 8 on a host that is cordoned and 5 on another.
PlannedCluster& two_blocks(PlannedCluster& plan) {
  plan.host({"b1", "r1", "n1"}, 8, 2);
  plan.host({"b1", "r1", "n2"});
  plan.host({"b1", "r2", "n3"}, 8, 8);
  plan.change(plan.host({"b2", "r1", "n4"}), [](Node& node) { node.unschedulable = true; });
  plan.host({"b2", "r1", "n5"}, 8, 3);
  return plan;
}

TreeQuestion down_to(int levels) {
  TreeQuestion question;
  question.levels = levels;
  return question;
}

TreeQuestion tolerating(const char* key) {
  TreeQuestion question;
  question.tolerated = {key};
  return question;
}

std::string drawn(PlannedCluster& plan, const TreeQuestion& question = {}) {
  const TreeReport report = report_tree(plan.cluster(), question);
  return "\n" + render(tree_to_text(report, plan.cluster().inventory().resources(), {.width = 100}), false);
}

TEST(TreeReport, ShowsWhatFitsIntoEveryDomainAndTheLargestGangOfEveryLevel) {
  PlannedCluster plan;
  EXPECT_EQ(drawn(two_blocks(plan)), R"(
topology default  block › rack › host
5 hosts, 40 nvidia.com/gpu: 13 in use, 19 free, 8 out of service

Pods of 1 nvidia.com/gpu

largest gang  pods  where     if all were free  whole hosts  where
anywhere        19                          32            1
in one block    14  b1                      24            1  b1
in one rack     14  b1/r1                   16            1  b1/r1
in one host      8  b1/r1/n2                 8            1  b1/r1/n2

domain  hosts  usable  whole  gpu  used  free  in use      fits pods
b1          3       3      1   24    10    14  ████······         14
  r1        2       2      1   16     2    14  █·········         14
  r2        1       1      0    8     8     0  ██████████          0
b2          2       1      0   16     3     5  ██········          5
  r1        2       1      0   16     3     5  ██········          5
)");
}

TEST(TreeReport, CountsPodsOfTheShapeAskedFor) {
  PlannedCluster plan;
  TreeQuestion question;
  question.request.set(two_blocks(plan).resource(), 4);
  const TreeReport report = report_tree(plan.cluster(), question);
  ASSERT_EQ(report.levels.size(), 4u);
  EXPECT_EQ(report.levels[0].pods, 4);
  EXPECT_EQ(report.levels[2].pods, 3);
  EXPECT_EQ(report.levels[3].pods, 2);
  EXPECT_EQ(report.levels[2].pods_when_empty, 4);
}

TEST(TreeReport, ListsAsManyLevelsAsAskedFor) {
  PlannedCluster plan;
  two_blocks(plan);
  EXPECT_EQ(drawn(plan, down_to(1)).find("\n  r1"), std::string::npos);
  EXPECT_NE(drawn(plan, down_to(3)).find("\n    n5 "), std::string::npos);
  EXPECT_NE(drawn(plan, down_to(99)).find("\n    n5 "), std::string::npos);
}

TEST(TreeReport, ToleratesWhatMostHostsCarryAndWhatIsAskedFor) {
  PlannedCluster plan;
  two_blocks(plan);
  Interner& strings = plan.cluster().inventory().strings();
  const Taint gpu{strings.intern("gpu-only"), {}, TaintEffect::kNoSchedule};
  const Taint repair{strings.intern("repair"), {}, TaintEffect::kNoSchedule};
  for (const char* name : {"n1", "n2", "n3", "n5"}) {
    plan.change(*plan.cluster().inventory().find(name), [&](Node& node) { node.taints = {gpu}; });
  }
  plan.change(*plan.cluster().inventory().find("n2"), [&](Node& node) { node.taints.push_back(repair); });
  TreeReport report = report_tree(plan.cluster(), {});
  EXPECT_EQ(report.tolerated, std::vector<std::string>{"gpu-only"});
  EXPECT_EQ(report.root.pods, 11);
  EXPECT_EQ(report.root.free, 11);
  report = report_tree(plan.cluster(), tolerating("repair"));
  EXPECT_EQ(report.root.pods, 19);
  report = report_tree(plan.cluster(), tolerating("*"));
  EXPECT_EQ(report.root.pods, 19);
}

TEST(TreeReport, SaysTheSameInJson) {
  PlannedCluster plan({"rack"}, "gpu");
  plan.host({"r1", "n1"}, 8, 2);
  TreeQuestion question;
  question.request.set(plan.resource(), 2);
  const TreeReport report = report_tree(plan.cluster(), question);
  EXPECT_EQ(
      tree_to_json(report, plan.cluster().inventory().resources()).to_json(false),
      R"({"topology":"default","levels":["rack"],"request":{"gpu":"2"},"tolerated":[],"nodesOutside":0,)"
      R"("hosts":1,"usableHosts":1,"wholeHosts":0,"resources":{"gpu":{"total":"8","used":"2","free":"6"}},"pods":3,)"
      R"("largest":[{"pods":3,"podsIfAllWereFree":4,"wholeHosts":0},)"
      R"({"level":"rack","pods":3,"values":["r1"],"podsIfAllWereFree":4,"wholeHosts":0},)"
      R"({"level":"kubernetes.io/hostname","pods":3,"values":["r1","n1"],"podsIfAllWereFree":4,"wholeHosts":0}],)"
      R"("domains":[{"values":["r1"],"hosts":1,"usableHosts":1,"wholeHosts":0,)"
      R"("resources":{"gpu":{"total":"8","used":"2","free":"6"}},"pods":3}]})");
}

TEST(TreeReport, HasAnAnswerForAnEmptyClusterAndForHostsOnly) {
  PlannedCluster empty;
  EXPECT_NE(drawn(empty).find("\nanywhere         0 "), std::string::npos) << drawn(empty);
  PlannedCluster flat({kHostnameLabel});
  flat.host({"n10"});
  flat.host({"n2"}, 8, 1);
  EXPECT_NE(drawn(flat).find("\nin one host      8  n10 "), std::string::npos) << drawn(flat);
  EXPECT_LT(drawn(flat, down_to(1)).find("\nn2 "), drawn(flat, down_to(1)).find("\nn10 "));
}

}  // namespace
}  // namespace gantree::view
