#include "view/decision_json.h"

#include <gtest/gtest.h>

#include "unit/view/planned_cluster.h"

namespace gantree::view {
namespace {

std::string json_of(PlannedCluster& planned) {
  return plan_to_json(planned.plan(), planned.cluster()).to_json(false);
}

TEST(DecisionJson, ListsEveryLevelAndTheDomainsInRankOrder) {
  PlannedCluster planned;
  const NodeId first = planned.host({"b1", "r1", "n1"});
  const NodeId second = planned.host({"b1", "r2", "n2"});
  planned.gang("train", 1, {{second, 4}, {first, 2}});
  EXPECT_EQ(json_of(planned),
            R"({"gangs":[{"namespace":"team","name":"train","kind":"Job","dialect":"kueue","state":"Placed",)"
            R"("podSets":[{"name":"main","count":6,"topologyAssignment":{"levels":["block","rack",)"
            R"("kubernetes.io/hostname"],"domains":[{"values":["b1","r2","n2"],"count":4},)"
            R"({"values":["b1","r1","n1"],"count":2}]}}]}],"evictions":[]})");
}

TEST(DecisionJson, NamesThePodsOfEveryDomainWhereTheyExist) {
  PlannedCluster planned;
  const NodeId first = planned.host({"b1", "r1", "n1"});
  const NodeId second = planned.host({"b1", "r2", "n2"});
  planned.gang("train", 1, {{first, 2}, {second, 1}});
  planned.decisions().back().pod_sets.back().pods = {"w-0", "w-1", "w-2"};
  EXPECT_NE(json_of(planned).find(R"({"values":["b1","r1","n1"],"count":2,"pods":["w-0","w-1"]},)"
                                  R"({"values":["b1","r2","n2"],"count":1,"pods":["w-2"]})"),
            std::string::npos)
      << json_of(planned);
}

TEST(DecisionJson, MakesOneDomainOfHostsThatFollowEachOtherInTheLowestLevel) {
  PlannedCluster planned({"block", "rack"});
  const NodeId first = planned.host({"b1", "r1", "n1"});
  const NodeId second = planned.host({"b1", "r1", "n2"});
  const NodeId third = planned.host({"b1", "r2", "n3"});
  planned.gang("train", 1, {{first, 4}, {second, 3}, {third, 2}});
  EXPECT_NE(json_of(planned).find(R"("domains":[{"values":["b1","r1"],"count":7},{"values":["b1","r2"],"count":2}])"),
            std::string::npos)
      << json_of(planned);
}

TEST(DecisionJson, GivesTheReasonAndNoAssignmentWhereNothingIsPlaced) {
  PlannedCluster planned;
  planned.refused("big", GangState::kWaiting, Reason::kTopologyBusy, "no room", 64);
  EXPECT_EQ(json_of(planned),
            R"({"gangs":[{"namespace":"team","name":"big","kind":"Job","dialect":"kueue","state":"Waiting",)"
            R"("reason":"TopologyBusy","message":"no room","podSets":[{"name":"main","count":64}]}],"evictions":[]})");
}

TEST(DecisionJson, AssignsNothingToAPodSetOfNoPods) {
  PlannedCluster planned;
  planned.gang("none", 1, {});
  EXPECT_NE(json_of(planned).find(R"("podSets":[{"name":"main","count":0}])"), std::string::npos) << json_of(planned);
}

TEST(DecisionJson, IsThereWhereNobodyAsks) {
  PlannedCluster planned;
  EXPECT_EQ(json_of(planned), R"({"gangs":[],"evictions":[]})");
}

}  // namespace
}  // namespace gantree::view
