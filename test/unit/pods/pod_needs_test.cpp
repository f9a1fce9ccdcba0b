#include "pods/pod_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"
#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using ::testing::HasSubstr;

void send_pod(FakeApi& api, const std::string& name, const std::string& spec) {
  api.pods[name] = {};
  api.uids[name] = "u-" + name;
  api.send("", "v1", "Pod",
           R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":"u-)" + name +
               R"("},"spec":{"schedulerName":"gantree",)" + spec + R"(},"status":{"phase":"Pending"}})");
}

TEST(PodNeeds, WhatNobodyLooksAtIsRefusedWithItsName) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"rack"}]}})",
       "anti-affinity to pods"},
      {R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"DoNotSchedule"}])",
       "topologySpreadConstraints"},
      {R"("containers":[{"name":"c","ports":[{"hostPort":80}]}])", "a host port"},
      {R"("resourceClaims":[{"name":"gpu"}])", "resourceClaims"},
  };
  for (const auto& [spec, what] : cases) {
    FakeApi api;
    api.racks(1, 1);
    send_pod(api, "p", spec);
    api.run();
    EXPECT_TRUE(api.pods["p"].node.empty()) << spec;
    EXPECT_THAT(api.written_to("Pod", "p"), HasSubstr(what));
  }
}

TEST(PodNeeds, WhatIsOnlyPreferredStopsNobody) {
  FakeApi api;
  api.racks(1, 1);
  send_pod(api, "p",
           R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1}]}},
              "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"rack","whenUnsatisfiable":"ScheduleAnyway"}])");
  api.run();
  EXPECT_EQ(api.pods["p"].node, "n0-0");
}

TEST(PodNeeds, AClaimThatIsNotBoundMakesItsPodWait) {
  FakeApi api;
  api.racks(1, 1);
  send_pod(api, "p", R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])");
  api.run();
  api.pass(std::chrono::seconds(3));
  api.run();
  EXPECT_THAT(api.written_to("Pod", "p"), HasSubstr("is not there"));
  api.send("", "v1", "PersistentVolumeClaim",
           R"({"metadata":{"namespace":"default","name":"data"},"spec":{},"status":{"phase":"Pending"}})");
  api.run();
  EXPECT_TRUE(api.pods["p"].node.empty());
  api.send("", "v1", "PersistentVolume", R"({"metadata":{"name":"pv"},"spec":{}})");
  api.send(
      "", "v1", "PersistentVolumeClaim",
      R"({"metadata":{"namespace":"default","name":"data"},"spec":{"volumeName":"pv"},"status":{"phase":"Bound"}})");
  api.run();
  EXPECT_EQ(api.pods["p"].node, "n0-0");
}

TEST(PodNeeds, AVolumeHoldsItsPodToTheNodesThatReachIt) {
  FakeApi api;
  api.racks(3, 1);
  api.send("", "v1", "PersistentVolume",
           R"({"metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[
                {"matchExpressions":[{"key":"rack","operator":"In","values":["r1","r2"]}]}]}}}})");
  api.send(
      "", "v1", "PersistentVolumeClaim",
      R"({"metadata":{"namespace":"default","name":"data"},"spec":{"volumeName":"pv"},"status":{"phase":"Bound"}})");
  const std::string volume = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";
  send_pod(api, "p", volume);
  send_pod(api, "q", volume + R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[{"matchExpressions":[{"key":"rack","operator":"NotIn","values":["r1"]}]}]}}})");
  send_pod(api, "r", volume + R"(,"nodeSelector":{"rack":"r0"})");
  api.run();
  EXPECT_EQ(api.pods["p"].node, "n1-0");
  EXPECT_EQ(api.pods["q"].node, "n2-0");
  EXPECT_TRUE(api.pods["r"].node.empty());
}

}  // namespace
}  // namespace gantree
