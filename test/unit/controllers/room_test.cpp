// Workloads that ask for more than any cluster holds.
#include <gmock/gmock.h>

#include "controllers/definitions.h"
#include "controllers/index_set.h"
#include "unit/apiserver/world.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTemplate =
    "'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{'labels':{'app':'web'}},'spec':{'schedulerName':"
    "'other','containers':[{'name':'main','image':'v1'}]}}";
constexpr const char* kJobTemplate =
    "'template':{'spec':{'schedulerName':'other','restartPolicy':'Never','containers':[{'name':'main','image':'v1'}]}}";

Options narrow() {
  Options options;
  options.room = {.waiting_pods = 700, .all_waiting_pods = 1'200, .objects = 300, .bytes = std::size_t{64} << 20};
  return options;
}

class RoomTest : public testing::Test {
 protected:
  RoomTest() : cluster(narrow()) { cluster.add_node("n1"); }
  void add(Kind kind, const std::string& spec, const std::string& ns = "default") {
    cluster.add(kind, fmt::format("{{'metadata':{{'name':'web'}},'spec':{{{}}}}}", spec), ns);
  }
  std::size_t pods_of(std::string_view ns) {
    std::size_t count = 0;
    for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
      count += text_at(pod, {"metadata", "namespace"}) == ns ? 1 : 0;
    }
    return count;
  }
  bool told_why() {
    for (const auto& [name, event] : cluster.objects(Kind::kEvent)) {
      if (text_at(event, {"message"}).find("as many") != std::string_view::npos) {
        return true;
      }
    }
    return false;
  }
  // What is made stops at the bound, whatever time passes, and others get what they ask for.
  void expect_bounded(std::size_t pods) {
    cluster.pass(60s);
    EXPECT_EQ(pods_of("default"), pods);
    EXPECT_TRUE(told_why());
    add(Kind::kReplicaSet, std::string("'replicas':3,") + kTemplate, "other");
    EXPECT_EQ(pods_of("other"), 3U);
  }
  FakeCluster cluster;
};

TEST_F(RoomTest, AReplicaSetMakesPodsAsFarAsThereIsRoomAndOthersAsTheseAreBound) {
  add(Kind::kReplicaSet, std::string("'replicas':2147483647,") + kTemplate);
  expect_bounded(700);
  cluster.bind_all("n1");
  cluster.pass(10s);
  EXPECT_EQ(pods_of("default"), 1'400U);
}

TEST_F(RoomTest, ADeploymentIsBoundedWhileItRolls) {
  add(Kind::kDeployment,
      std::string("'replicas':2147483647,'strategy':{'rollingUpdate':{'maxSurge':'100%'}},") + kTemplate);
  cluster.pass(10s);
  cluster.change(Kind::kDeployment, "web",
                 "{'spec':{'template':{'spec':{'containers':[{'name':'main','image':'v2'}]}}}}");
  expect_bounded(700);
  for (const auto& [name, set] : cluster.objects(Kind::kReplicaSet)) {
    EXPECT_LE(whole_at(set, {"spec", "replicas"}), 2147483647) << name;
  }
}

TEST_F(RoomTest, AStatefulSetIsBounded) {
  add(Kind::kStatefulSet, std::string("'replicas':2147483647,'podManagementPolicy':'Parallel',") + kTemplate);
  expect_bounded(700);
}

TEST_F(RoomTest, AJobIsBoundedAlsoWithIndexes) {
  add(Kind::kJob, std::string("'parallelism':2147483647,'completions':2147483647,") + kJobTemplate);
  expect_bounded(700);
}

TEST_F(RoomTest, AnIndexedJobIsBounded) {
  add(Kind::kJob,
      std::string("'parallelism':100000,'completions':2147483647,'completionMode':'Indexed','successPolicy':"
                  "{'rules':[{'succeededIndexes':'0-2147483646'}]},") +
          kJobTemplate);
  expect_bounded(700);
}

TEST_F(RoomTest, AJobSetMakesJobsInBatchesAndNoMoreThanThereIsRoomFor) {
  add(Kind::kJobSet, fmt::format("'replicatedJobs':[{{'name':'a','replicas':2147483647,'template':{{'spec':{{"
                                 "'parallelism':1,'completions':1,{}}}}}}}]",
                                 kJobTemplate));
  cluster.pass(60s);
  EXPECT_EQ(cluster.objects(Kind::kJob).size(), 300U);
  EXPECT_EQ(pods_of("default"), 300U);
  EXPECT_TRUE(told_why());
}

TEST_F(RoomTest, ALeaderWorkerSetIsBoundedWhileItRolls) {
  add(Kind::kLeaderWorkerSet,
      "'replicas':1000000000,'leaderWorkerTemplate':{'size':2,'workerTemplate':{'spec':{'schedulerName':'other',"
      "'containers':[{'name':'main','image':'v1'}]}}}");
  cluster.pass(10s);
  cluster.change(
      Kind::kLeaderWorkerSet, "web",
      "{'spec':{'leaderWorkerTemplate':{'workerTemplate':{'spec':{'containers':[{'name':'main','image':'v2'}]}}}}}");
  expect_bounded(700);
  EXPECT_LE(cluster.objects(Kind::kStatefulSet).size(), 300U);
}

TEST_F(RoomTest, LargePodsAreFewer) {
  const std::string large(100'000, 'x');
  cluster.add(
      Kind::kReplicaSet,
      fmt::format("{{'metadata':{{'name':'web'}},'spec':{{'replicas':2147483647,'selector':{{'matchLabels':{{'app':"
                  "'web'}}}},'template':{{'metadata':{{'labels':{{'app':'web'}},'annotations':{{'a':'{}'}}}},"
                  "'spec':{{'schedulerName':'other','containers':[{{'name':'main','image':'v1'}}]}}}}}}}}",
                  large));
  cluster.pass(20s);
  EXPECT_GT(pods_of("default"), 600U);
  EXPECT_LT(pods_of("default"), 672U);
}

TEST_F(RoomTest, AllNamespacesTogetherAreBounded) {
  for (const char* ns : {"a", "b", "c"}) {
    add(Kind::kReplicaSet, std::string("'replicas':2147483647,") + kTemplate, ns);
  }
  cluster.pass(30s);
  EXPECT_EQ(cluster.objects(Kind::kPod).size(), 1'200U);
}

// Whose work is looked at next does not depend on how much others have to do.
TEST(Conductor, ServesNamespacesInTurn) {
  Conductor conductor{Options()};
  const auto job = [](const std::string& ns, const std::string& name) {
    return std::make_shared<const std::string>(fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"{}","namespace":"{}","uid":"{}-{}","resourceVersion":"1",
        "creationTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{"parallelism":1,"completions":1,"template":{{"spec":{{"containers":[]}}}}}}}})",
        name, ns, ns, name));
  };
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(conductor.changed(Kind::kJob, job("crowd", fmt::format("j{}", i))));
  }
  ASSERT_TRUE(conductor.changed(Kind::kJob, job("zoo", "only")));
  bool served = false;
  for (const Write& write : conductor.next(Time(std::chrono::hours(500'000)), 4)) {
    served |= write.ns == "zoo";
  }
  EXPECT_TRUE(served);
}

TEST(IndexSet, OfTwoBillionIndexesIsSmall) {
  IndexSet all("0-2147483646,5,7-9", 2147483647);
  EXPECT_EQ(all.size(), 2147483647);
  EXPECT_EQ(all.text(), "0-2147483646");
  EXPECT_EQ(all.first_missing(5), 2147483647);
  IndexSet some("1,3-4,9", 100);
  EXPECT_EQ(some.common(all), 4);
  EXPECT_EQ(all.common(some), 4);
  some.add({2, 9, 11});
  EXPECT_EQ(some.text(), "1-4,9,11");
  EXPECT_TRUE(some.has(2) && some.has(11) && !some.has(10) && !some.has(0));
  EXPECT_EQ(IndexSet("3-1,x,,8", 6).size(), 0);
}

// Counts whose product no controller can hold are refused by the field's name.
TEST(Definitions, RefuseProductsBeyondAllPods) {
  apiserver::World world;
  for (const Object& definition : workload_definitions()) {
    ASSERT_EQ(
        world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", apiserver::to_json(definition)).status,
        201);
  }
  const std::string sets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets";
  const std::string groups = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets";
  ASSERT_TRUE(
      apiserver::World::eventually([&] { return world.get(sets).status == 200 && world.get(groups).status == 200; }));
  const auto set = [](const std::string& jobs) {
    return R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"generateName":"a"},"spec":{"replicatedJobs":[)" +
           jobs + "]}}";
  };
  const auto job = [](const std::string& name, const std::string& replicas, const std::string& spec) {
    return R"({"name":")" + name + R"(","replicas":)" + replicas + R"(,"template":{"spec":{)" + spec + "}}}";
  };
  EXPECT_EQ(world.post(sets, set(job("a", "80000", R"("parallelism":20000)"))).status, 201);
  EXPECT_EQ(world.post(sets, set(job("a", "2147483647", ""))).status, 201);
  for (const std::string& jobs :
       {job("a", "80000", R"("parallelism":30000)"), job("a", "2147483647", "") + "," + job("b", "1", ""),
        job("a", "1", R"("parallelism":9223372036854775807)"), job("a", "2147483648", "")}) {
    const auto refused = world.post(sets, set(jobs));
    EXPECT_EQ(refused.status, 422) << jobs;
    EXPECT_NE(refused.text().find("replicatedJobs"), std::string::npos) << refused.text();
  }
  const auto group = [](const std::string& replicas, const std::string& size) {
    return R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"generateName":"a"},"spec":{"replicas":)" +
           replicas + R"(,"leaderWorkerTemplate":{"size":)" + size + R"(,"workerTemplate":{}}}})";
  };
  EXPECT_EQ(world.post(groups, group("20000", "100000")).status, 201);
  const auto refused = world.post(groups, group("30000", "100000"));
  EXPECT_EQ(refused.status, 422) << refused.text();
  EXPECT_NE(refused.text().find("leaderWorkerTemplate.size"), std::string::npos) << refused.text();
}

}  // namespace
}  // namespace gantree::controllers
