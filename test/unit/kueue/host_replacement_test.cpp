// Hosts that fail under an admitted workload.
#include "kueue/host_replacement.h"

#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

// The hosts of all pod sets of the only workload, in order.
std::set<std::string> hosts(const SmallCluster& cluster) {
  std::set<std::string> names;
  for (const auto& [key, entry] : cluster.process.controller().workloads()) {
    for (const kueue::SetAssignment& set :
         entry.object.admission ? entry.object.admission->sets : std::vector<kueue::SetAssignment>()) {
      for (const kueue::AssignedDomain& domain : set.topology->domains) {
        names.insert(domain.values.back());
      }
    }
  }
  return names;
}

std::set<std::string> unhealthy(const SmallCluster& cluster) {
  return cluster.process.controller().workloads().begin()->second.object.unhealthy;
}

// A leader and two workers of 4 GPUs each, all in one rack together.
void submit_group(SmallCluster& cluster) {
  const auto part = [](const std::string& name, int pods) {
    return fmt::format(
        "{{'name':'{}','replicas':1,'template':{{'spec':{{'parallelism':{},'completions':{},'template':{{'metadata':"
        "{{'annotations':{{'kueue.x-k8s.io/podset-group-name':'all','kueue.x-k8s.io/"
        "podset-required-topology':'rack'}}}},"
        "'spec':{{'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'4'}}}}}}]}}}}}}}}}}",
        name, pods, pods);
  };
  cluster.put("jobset.x-k8s.io", "v1alpha2", "JobSet",
              fmt::format("{{'metadata':{{'name':'s','namespace':'ns','labels':{{'kueue.x-k8s.io/queue-name':'q'}}}},"
                          "'spec':{{'suspend':true,'replicatedJobs':[{},{}]}}}}",
                          part("leader", 1), part("workers", 2)));
}

TEST(HostReplacement, KeepsAGroupOfPodSetsInItsRack) {
  SmallCluster cluster;
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4);
  }
  submit_group(cluster);
  cluster.settle();
  ASSERT_EQ(hosts(cluster), (std::set<std::string>{"a", "b", "c"}));
  for (const char* name : {"d", "e", "f"}) {
    cluster.node(name, 4, "r1");
  }
  cluster.node("spare", 4);
  cluster.settle();
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(hosts(cluster), (std::set<std::string>{"b", "c", "spare"}));
}

TEST(HostReplacement, MovesAGroupAsAWholeWhereItsRackHasNoOtherHost) {
  SmallCluster cluster;
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4);
  }
  submit_group(cluster);
  cluster.settle();
  ASSERT_EQ(hosts(cluster).size(), 3U);
  for (const char* name : {"d", "e", "f"}) {
    cluster.node(name, 4, "r1");
  }
  cluster.settle();
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(hosts(cluster), (std::set<std::string>{"d", "e", "f"})) << "evicted, and admitted anew";
}

TEST(HostReplacement, KeepsTogetherWhatIsLostOfAGroupWhereAllOfItIs) {
  SmallCluster cluster;
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4);
  }
  submit_group(cluster);
  cluster.settle();
  ASSERT_EQ(hosts(cluster).size(), 3U);
  cluster.node("d", 4, "r1");
  cluster.node("e", 4, "r1");
  cluster.node("f", 4, "r2");
  cluster.settle();
  for (const char* name : {"a", "b", "c"}) {
    cluster.node(name, 4, "r0", true);
  }
  cluster.settle();
  EXPECT_TRUE(hosts(cluster).empty()) << "no rack takes all of it";
  cluster.node("g", 4, "r1");
  cluster.settle();
  EXPECT_EQ(hosts(cluster), (std::set<std::string>{"d", "e", "g"}));
}

// Both hosts of a slice are lost: its pods may not be scattered over the racks that have room for some of them.
TEST(HostReplacement, KeepsASliceTogetherWhereAllOfItIsLost) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.put("batch", "v1", "Job",
              "{'metadata':{'name':'j','namespace':'ns','labels':{'kueue.x-k8s.io/queue-name':'q'}},'spec':{'suspend':"
              "true,'parallelism':2,'completions':2,'completionMode':'Indexed','template':{'metadata':{'annotations':{"
              "'kueue.x-k8s.io/podset-slice-required-topology':'rack','kueue.x-k8s.io/podset-slice-size':'2'}},'spec':{"
              "'containers':[{'name':'c','resources':{'requests':{'nvidia.com/gpu':'4'}}}]}}}}");
  cluster.settle();
  ASSERT_EQ(hosts(cluster), (std::set<std::string>{"a", "b"}));
  cluster.node("d", 4, "r1");
  cluster.node("e", 4, "r2");
  cluster.settle();
  cluster.node("a", 4, "r0", true);
  cluster.node("b", 4, "r0", true);
  cluster.settle();
  EXPECT_TRUE(hosts(cluster).empty()) << "no rack takes the slice";
  cluster.node("f", 4, "r2");
  cluster.settle();
  EXPECT_EQ(hosts(cluster), (std::set<std::string>{"e", "f"}));
}

TEST(HostReplacement, NamesTheFailedHostsUntilThereAreOthers) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  ASSERT_EQ(hosts(cluster), std::set<std::string>{"a"});
  EXPECT_TRUE(unhealthy(cluster).empty());
  const auto hold = [&](const std::string& policy) {
    cluster.server.change(FakeServer::key("ClusterQueue", "", "c"),
                          [&](Tree& queue) { queue.at({"spec", "stopPolicy"}) = Tree::string(policy); });
    cluster.settle();
  };
  hold("Hold");
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(hosts(cluster), std::set<std::string>{"a"}) << "a queue on hold evicts nobody";
  EXPECT_EQ(unhealthy(cluster), std::set<std::string>{"a"});
  cluster.node("b", 4);
  cluster.now += std::chrono::seconds(31);
  cluster.settle();
  EXPECT_EQ(hosts(cluster), std::set<std::string>{"b"});
  EXPECT_TRUE(unhealthy(cluster).empty()) << "its pods have another one";
  EXPECT_EQ(cluster.workload("j").find({"status", "unhealthyNodes"}), nullptr);
  cluster.node("b", 4, "r0", true);
  cluster.settle();
  EXPECT_EQ(unhealthy(cluster), std::set<std::string>{"b"});
  cluster.node("b", 4);
  cluster.settle();
  EXPECT_TRUE(unhealthy(cluster).empty()) << "it takes pods again";
}

TEST(HostReplacement, EvictsWhoseLevelTheTopologyHasLost) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.node("b", 4);
  cluster.put("batch", "v1", "Job",
              "{'metadata':{'name':'j','namespace':'ns','labels':{'kueue.x-k8s.io/queue-name':'q'}},'spec':{'suspend':"
              "true,'parallelism':1,'completions':1,'template':{'metadata':{'annotations':{"
              "'kueue.x-k8s.io/podset-required-topology':'rack'}},'spec':{'containers':[{'name':'c','resources':{"
              "'requests':{'nvidia.com/gpu':'4'}}}]}}}}");
  cluster.settle();
  ASSERT_EQ(hosts(cluster), std::set<std::string>{"a"});
  cluster.server.change(FakeServer::key("Topology", "", "net"), [](Tree& topology) {
    topology.at({"spec", "levels"}) = Tree::parse(R"([{"nodeLabel":"kubernetes.io/hostname"}])");
  });
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j")) << "what runs goes on";
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
}

TEST(HostReplacement, NamesNoHostAnyMoreOnceTheWorkloadHasLeftIt) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.node("a", 4, "r0", true);
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j"));
  EXPECT_TRUE(unhealthy(cluster).empty());
}

TEST(HostReplacement, DoesNotWaitForPodsThatNobodyCanEndSinceTheirHostIsDown) {
  SmallCluster cluster;
  cluster.node("a", 4);
  cluster.job("j", 1, 4);
  cluster.settle();
  cluster.pod("j", 0, "p");
  cluster.settle();
  cluster.bind("p", "a");
  cluster.phase("p", "Running");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("j"));
  cluster.server.change(FakeServer::key("Node", "", "a"), [](Tree& node) {
    node.at({"status", "conditions"}) = Tree::parse(R"([{"type":"Ready","status":"Unknown"}])");
  });
  cluster.server.change(FakeServer::key("Pod", "ns", "p"), [](Tree& pod) {
    pod.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z");
  });
  cluster.server.change(FakeServer::key("Job", "ns", "j"),
                        [](Tree& job) { job.at({"status", "terminating"}) = Tree::number(1); });
  cluster.settle();
  EXPECT_FALSE(cluster.admitted("j")) << "it is queued again, though its pod never goes";
  cluster.node("b", 4);
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("j"));
  EXPECT_EQ(hosts(cluster), std::set<std::string>{"b"});
}

}  // namespace
}  // namespace gantree::test
