#include <gmock/gmock.h>

#include <set>

#include "controllers/addresses.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

class EndpointsTest : public testing::Test {
 protected:
  EndpointsTest() { cluster.add_node("n1"); }
  void add_pod(const std::string& name, const std::string& app, const std::string& more = "") {
    cluster.add(
        Kind::kPod,
        fmt::format(
            "{{'metadata':{{'name':'{}','labels':{{'app':'{}'}}}},'spec':{{'tolerations':[{{'operator':'Exists'}}],"
            "'containers':[{{'name':'main','image':'i','ports':[{{'name':'web','containerPort':8080}}]}}]{}}}}}",
            name, app, more));
    cluster.run_pods();
  }
  void add_service(const std::string& more = "") {
    cluster.add(Kind::kService,
                fmt::format("{{'metadata':{{'name':'s'}},'spec':{{'selector':{{'app':'web'}},'ports':[{{'port':80,"
                            "'targetPort':'web','protocol':'TCP'}}]{}}}}}",
                            more));
    cluster.pass(1s);
  }
  std::vector<std::string> pods_in(std::string_view list) {
    std::vector<std::string> names;
    const Array* subsets = array_at(cluster.get(Kind::kEndpoints, "s"), {"subsets"});
    for (std::size_t i = 0; subsets != nullptr && i < subsets->size(); ++i) {
      const Array* addresses = array_at((*subsets)[i], {list});
      for (std::size_t j = 0; addresses != nullptr && j < addresses->size(); ++j) {
        names.emplace_back(text_at((*addresses)[j], {"targetRef", "name"}));
      }
    }
    return names;
  }
  FakeCluster cluster;
};

TEST_F(EndpointsTest, AServiceLeadsToThePodsThatItSelects) {
  add_pod("a", "web");
  add_pod("b", "db");
  add_service();
  add_pod("c", "web");
  cluster.pass(1s);
  EXPECT_THAT(pods_in("addresses"), ElementsAre("a", "c"));
  const Object& endpoints = cluster.get(Kind::kEndpoints, "s");
  const Value& subset = (*array_at(endpoints, {"subsets"}))[0];
  EXPECT_EQ(whole_at((*array_at(subset, {"ports"}))[0], {"port"}), 8080);
  ASSERT_EQ(cluster.count(Kind::kEndpointSlice), 1U);
  const Object& slice = cluster.objects(Kind::kEndpointSlice).begin()->second;
  EXPECT_EQ(text_at(slice, {"metadata", "labels", "kubernetes.io/service-name"}), "s");
  ASSERT_THAT(*array_at(slice, {"endpoints"}), SizeIs(2));
  EXPECT_TRUE(flag_at((*array_at(slice, {"endpoints"}))[0], {"conditions", "ready"}));
}

TEST_F(EndpointsTest, PodsThatAreNotReadyOrGoneAreLeftOut) {
  add_pod("a", "web");
  add_pod("b", "web");
  add_service();
  cluster.change(Kind::kNode, "n1", "{'metadata':{'annotations':{'gantree.dev/not-ready':''}}}", "");
  cluster.pass(1s);
  EXPECT_THAT(pods_in("addresses"), IsEmpty());
  EXPECT_THAT(pods_in("notReadyAddresses"), ElementsAre("a", "b"));
  cluster.end_pod("a", true);
  cluster.erase(Kind::kPod, "b");
  cluster.pass(60s);
  EXPECT_THAT(pods_in("notReadyAddresses"), IsEmpty());
}

TEST_F(EndpointsTest, WhatIsSaidAlreadyIsNotWrittenAgain) {
  add_pod("a", "web");
  add_service();
  const std::size_t before = cluster.writes();
  cluster.change(Kind::kService, "s", "{'metadata':{'annotations':{'a':'b'}}}");
  cluster.pass(10s);
  EXPECT_EQ(cluster.writes(), before);
}

TEST_F(EndpointsTest, TheyGoWithTheService) {
  add_pod("a", "web");
  add_service();
  cluster.erase(Kind::kService, "s");
  cluster.pass(1s);
  EXPECT_EQ(cluster.count(Kind::kEndpoints), 0U);
  EXPECT_EQ(cluster.count(Kind::kEndpointSlice), 0U);
}

TEST_F(EndpointsTest, AServiceWithoutSelectorIsSomebodyElsesMatter) {
  cluster.add(Kind::kService, "{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}");
  cluster.pass(1s);
  EXPECT_EQ(cluster.count(Kind::kEndpoints), 0U);
}

TEST(Addresses, EachIsGivenOnce) {
  Addresses addresses;
  std::set<std::string> all;
  for (int i = 0; i < 50'000; ++i) {
    all.insert(addresses.take(fmt::format("uid-{}", i)));
  }
  EXPECT_EQ(all.size(), 50'000U);
  EXPECT_EQ(addresses.take("uid-7"), addresses.take("uid-7"));
  const std::string freed = addresses.take("uid-7");
  addresses.release(freed, "uid-8");
  EXPECT_EQ(addresses.take("uid-7"), freed);
  Addresses others;
  others.note(freed, "somebody");
  EXPECT_NE(others.take("uid-7"), freed);
  others.release(freed, "somebody");
  others.note("no address", "x");
  EXPECT_EQ(others.take("uid-7 "), others.take("uid-7 "));
}

class NeedsTest : public EndpointsTest {
 protected:
  void add_with(const std::string& spec, const std::string& container = "") {
    cluster.add(Kind::kPod,
                fmt::format("{{'metadata':{{'name':'p'}},'spec':{{'schedulerName':'default-scheduler','containers':["
                            "{{'name':'main','image':'i'{}}}]{}}}}}",
                            container, spec));
    cluster.pass(5s);
  }
  std::string phase() { return std::string(text_at(cluster.get(Kind::kPod, "p"), {"status", "phase"})); }
  std::string waits() {
    const Array* statuses = array_at(cluster.get(Kind::kPod, "p"), {"status", "containerStatuses"});
    return statuses == nullptr ? "" : std::string(text_at((*statuses)[0], {"state", "waiting", "reason"}));
  }
};

TEST_F(NeedsTest, APodWaitsForTheConfigMapOfItsVolume) {
  add_with(
      ",'volumes':[{'name':'v','configMap':{'name':'c'}},{'name':'w','secret':{'secretName':'x','optional':true}}]");
  EXPECT_EQ(phase(), "Pending");
  EXPECT_EQ(waits(), "ContainerCreating");
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, "p"), {"status", "podIP"}), "");
  const std::size_t before = cluster.writes();
  cluster.pass(60s);
  EXPECT_EQ(cluster.writes(), before);
  cluster.add(Kind::kConfigMap, "{'metadata':{'name':'c'}}");
  cluster.pass(30s);
  EXPECT_EQ(phase(), "Running");
}

TEST_F(NeedsTest, APodWaitsForWhatItsVariablesName) {
  add_with("", ",'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'x','key':'k'}}}]");
  EXPECT_EQ(waits(), "CreateContainerConfigError");
  cluster.add(Kind::kSecret, "{'metadata':{'name':'x'}}");
  cluster.pass(30s);
  EXPECT_EQ(waits(), "CreateContainerConfigError");
  cluster.change(Kind::kSecret, "x", "{'data':{'k':'dg=='}}");
  cluster.pass(30s);
  EXPECT_EQ(phase(), "Running");
}

TEST_F(NeedsTest, APodIsNotBoundBeforeItsClaimIsThere) {
  add_with(",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}}]");
  const Value* condition = find_condition(cluster.get(Kind::kPod, "p"), "PodScheduled");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(text_at(*condition, {"message"}), "0/1 nodes are available: persistentvolumeclaim \"data\" not found.");
  cluster.add(Kind::kPersistentVolumeClaim, "{'metadata':{'name':'data'}}");
  cluster.pass(30s);
  EXPECT_EQ(phase(), "Running");
}

}  // namespace
}  // namespace gantree::controllers
