// Where the fields of PodGroups come from, what is left alone, and what becomes of mistakes and failures.
#include "kai/grouper.h"

#include <algorithm>

#include "small_cluster.h"

namespace gantree::kai {
namespace {

using namespace std::chrono_literals;

TEST(Grouper, SaysForWhomAGroupIs) {
  SmallCluster cluster;
  cluster.put(job("j", 2, "labels: {app: x, kai.scheduler/queue: q}, annotations: {note: short}"));
  cluster.put(pod("p", "batch/v1", "Job/j", "labels: {user: ann}"));
  cluster.settle();
  const Tree& group = cluster.object("PodGroup", "pg-j-uid-j");
  EXPECT_EQ(group.find({"metadata", "ownerReferences"})->to_json(),
            R"([{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"uid-j"}])");
  EXPECT_EQ(group.str({"metadata", "labels", "app"}), "x");
  EXPECT_EQ(group.str({"metadata", "labels", "user"}), "ann");
  EXPECT_EQ(group.str({"metadata", "annotations", "note"}), "short");
  EXPECT_EQ(group.str({"metadata", "annotations", "kai.scheduler/top-owner-metadata"}),
            "name: j\nuid: uid-j\ngroup: batch\nversion: v1\nkind: Job\n");
  EXPECT_EQ(group.str({"spec", "queue"}), "q");
  EXPECT_EQ(group.str({"spec", "priorityClassName"}), "train");
}

TEST(Grouper, FindsTheQueueOnTheOwnerThenOnThePodThenByProject) {
  const auto queue = [](const std::string& on_owner, const std::string& on_pod) {
    SmallCluster cluster;
    cluster.put(job("j", 1, "labels: {" + on_owner + "}"));
    cluster.put(pod("p", "batch/v1", "Job/j", "labels: {" + on_pod + "}"));
    cluster.settle();
    return cluster.object("PodGroup", "pg-j-uid-j").str({"spec", "queue"});
  };
  EXPECT_EQ(queue("kai.scheduler/queue: a", "kai.scheduler/queue: b"), "a");
  EXPECT_EQ(queue("", "kai.scheduler/queue: b"), "b");
  EXPECT_EQ(queue("runai/queue: old", ""), "old");
  EXPECT_EQ(queue("project: p", ""), "p");
  EXPECT_EQ(queue("project: p", "kai.scheduler/node-pool: gold"), "p-gold");
  EXPECT_EQ(queue("", ""), "default-queue");
}

TEST(Grouper, TakesTheFirstPriorityClassThatIsThere) {
  SmallCluster cluster;
  cluster.put("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n");
  cluster.put(job("a", 1, "labels: {priorityClassName: high}") + job("b", 1, "labels: {priorityClassName: none}") +
              job("c", 1));
  cluster.put(pod("a1", "batch/v1", "Job/a") + pod("b1", "batch/v1", "Job/b", "labels: {priorityClassName: build}") +
              pod("c1", "batch/v1", "Job/c", "", "priorityClassName: high"));
  cluster.settle();
  const auto of = [&](const std::string& name) {
    return cluster.object("PodGroup", "pg-" + name + "-uid-" + name).str({"spec", "priorityClassName"});
  };
  EXPECT_EQ(of("a"), "high");
  EXPECT_EQ(of("b"), "build");
  EXPECT_EQ(of("c"), "high");
  EXPECT_EQ(cluster.events(), std::vector<std::string>{"Job/b: there is no PriorityClass \"none\": it does not count"});
}

TEST(Grouper, TakesPreemptibilityDelayAndGrace) {
  SmallCluster cluster;
  cluster.put(
      job("j", 1,
          "labels: {kai.scheduler/preemptibility: non-preemptible}, annotations: "
          "{kai.scheduler/preemption-delay: 5m, kai.scheduler/staleness-grace-period: '-1s'}") +
      job("k", 1,
          "labels: {kai.scheduler/preemptibility: maybe}, annotations: {kai.scheduler/preemption-delay: later}"));
  cluster.put(pod("p", "batch/v1", "Job/j") +
              pod("q", "batch/v1", "Job/k", "labels: {kai.scheduler/preemptibility: preemptible}"));
  cluster.settle();
  EXPECT_EQ(
      cluster.spec("pg-j-uid-j"),
      R"({"minMember":1,"preemptibility":"non-preemptible","preemptionDelay":"5m","stalenessGracePeriod":"-1s"})");
  EXPECT_EQ(cluster.spec("pg-k-uid-k"), R"({"minMember":1,"preemptibility":"preemptible"})");
  EXPECT_EQ(cluster.events().size(), 1U);
}

TEST(Grouper, LeavesOthersAlone) {
  SmallCluster cluster;
  cluster.put(job("skipped", 1, "annotations: {kai.scheduler/skip-podgrouper: 'true'}") +
              job("queued", 1, "labels: {kueue.x-k8s.io/queue-name: lq}") + job("plain", 1));
  cluster.put(made("batch/v1", "Job", "joins", "",
                   "{parallelism: 1, template: {metadata: {annotations: {pod-group-name: mine}}, spec: {containers: "
                   "[{name: c}]}}}"));
  cluster.put(pod("a", "batch/v1", "Job/skipped") + pod("b", "batch/v1", "Job/queued") +
              pod("c", "batch/v1", "Job/joins", "annotations: {pod-group-name: mine}") +
              pod("d", "", "", "annotations: {pod-group-name: mine}") +
              pod("e", "batch/v1", "Job/plain", "annotations: {kai.scheduler/skip-podgrouper: 'true'}"));
  cluster.put(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: f, labels: {kai.scheduler/queue: q}}\nspec: {schedulerName: "
      "default-scheduler, containers: [{name: c}]}\n");
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0);
}

TEST(Grouper, TakesPodsOfGantreeWhereTheySpeakKai) {
  const auto with = [](const std::string& marks) {
    SmallCluster cluster;
    cluster.put(made("batch/v1", "Job", "j", marks,
                     "{parallelism: 1, template: {spec: {schedulerName: gantree, containers: [{name: c}]}}}"));
    cluster.put(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: "
        "j, uid: uid-j, controller: true}]}\nspec: {schedulerName: gantree, containers: [{name: c}]}\n");
    cluster.settle();
    return cluster.group_of_pod("p");
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("labels: {kai.scheduler/queue: q}"), "pg-j-uid-j");
  EXPECT_EQ(with("annotations: {kai.scheduler/topology-required-placement: rack}"), "pg-j-uid-j");
  EXPECT_EQ(with("labels: {kai.scheduler/queue: q, kueue.x-k8s.io/queue-name: lq}"), "");
}

TEST(Grouper, KeepsOffWhereKaiItselfRuns) {
  SmallCluster cluster;
  cluster.put(
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: "
      "kai-queue-validation}\nwebhooks: [{name: q, clientConfig: {service: {path: "
      "/validate-scheduling-run-ai-v2-queue}}}]\n");
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0);
  EXPECT_EQ(
      cluster.grouper().keeps_off(),
      "KAI-Scheduler is installed in this cluster (ValidatingWebhookConfiguration \"kai-queue-validation\"), so its "
      "pods and PodGroups are left to it");
  cluster.remove("ValidatingWebhookConfiguration", "kai-queue-validation");
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

TEST(Grouper, WritesNothingWhileTheApiServerKnowsNoPodGroups) {
  SmallCluster cluster;
  cluster.grouper().serve(false);
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0);
  cluster.grouper().serve(true);
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

TEST(Grouper, WaitsForAnOwnerThatIsNotSeenYet) {
  SmallCluster cluster;
  cluster.put(pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0);
  EXPECT_EQ(cluster.grouper().complaint("ns", "p"), "");
  cluster.put(made("batch/v1", "Job", "j", "uid: another", fmt::format("{{template: {}}}", kTemplate)));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0) << "it is another Job of the same name";
  cluster.put(job("j", 1));
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

constexpr char kTheirs[] =
    "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: pg-j-uid-j}\nspec: {minMember: 7}\n";

TEST(Grouper, NeverChangesAPodGroupThatAUserMade) {
  SmallCluster cluster;
  cluster.put(kTheirs);
  cluster.put(job("j", 2) + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  EXPECT_EQ(cluster.object("PodGroup", "pg-j-uid-j").num({"spec", "minMember"}, -1), 7);
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

TEST(Grouper, LeavesAPodInThePodGroupOfAUser) {
  SmallCluster cluster;
  cluster.put("apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: mine}\nspec: {minMember: 2}\n");
  cluster.put(job("j", 2) + pod("p", "batch/v1", "Job/j", "annotations: {pod-group-name: mine}"));
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "mine");
  EXPECT_EQ(cluster.groups(), std::set<std::string>{"mine"});
}

// As KAI does: some fields are the users', all others follow the owner.
TEST(Grouper, PreservesWhatUsersMaySet) {
  SmallCluster cluster;
  cluster.put(job("j", 2, "labels: {kai.scheduler/queue: q}") + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  const Tree made_group = cluster.object("PodGroup", "pg-j-uid-j");
  Tree edited = made_group;
  edited.at({"spec", "queue"}) = Tree::string("other");
  edited.at({"spec", "markUnschedulable"}) = Tree::boolean(false);
  edited.at({"spec", "schedulingBackoff"}) = Tree::number(1);
  edited.at({"spec", "topologyConstraint", "requiredTopologyLevel"}) = Tree::string("rack");
  edited.at({"metadata", "labels", "kai.scheduler/queue"}) = Tree::string("other");
  edited.at({"metadata", "labels", "kai.scheduler/node-pool"}) = Tree::string("gold");
  edited.at({"metadata", "annotations", "kai.scheduler/last-start-timestamp"}) = Tree::string("2026-01-01T00:00:00Z");
  edited.at({"spec", "minMember"}) = Tree::number(9);
  cluster.put(edited.to_json());
  cluster.settle();
  Tree expected = edited;
  expected.at({"spec", "minMember"}) = Tree::number(1);
  const auto bare = [](Tree tree) {
    tree.erase({"metadata", "resourceVersion"});
    return tree.to_json();
  };
  EXPECT_EQ(bare(cluster.object("PodGroup", "pg-j-uid-j")), bare(expected));
}

TEST(Grouper, FollowsTheOwner) {
  SmallCluster cluster;
  cluster.put(job("j", 2, "annotations: {kai.scheduler/batch-min-member: '2'}") + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-j-uid-j"), R"({"minMember":2})");
  cluster.put(job("j", 4,
                  "annotations: {kai.scheduler/batch-min-member: '4', kai.scheduler/topology: t, "
                  "kai.scheduler/topology-preferred-placement: rack}, labels: {priorityClassName: build}"));
  cluster.settle();
  EXPECT_EQ(cluster.spec("pg-j-uid-j"),
            R"({"minMember":4,"topologyConstraint":{"preferredTopologyLevel":"rack","topology":"t"}})");
  EXPECT_EQ(cluster.object("PodGroup", "pg-j-uid-j").str({"spec", "priorityClassName"}), "build");
  const int writes = cluster.writes();
  cluster.put(job("j", 4,
                  "annotations: {kai.scheduler/batch-min-member: '4', kai.scheduler/topology: t, "
                  "kai.scheduler/topology-preferred-placement: rack}, labels: {priorityClassName: build}"));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), writes) << "nothing has changed";
}

TEST(Grouper, MakesAGroupAnewThatWasDeleted) {
  SmallCluster cluster;
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  cluster.remove("PodGroup", "pg-j-uid-j");
  cluster.pass(20s);
  cluster.settle();
  EXPECT_TRUE(cluster.has("PodGroup", "pg-j-uid-j"));
}

TEST(Grouper, MarksNoPodBeforeItsGroupIsThere) {
  SmallCluster cluster;
  cluster.put(job("j", 2) + pod("p", "batch/v1", "Job/j") + pod("q", "batch/v1", "Job/j"));
  const Step first = cluster.step();
  ASSERT_EQ(first.orders.size(), 1U) << "one PodGroup, however many pods there are";
  EXPECT_EQ(first.orders.front().write.verb, WriteVerb::kCreate);
  EXPECT_TRUE(cluster.step().orders.empty()) << "one write at a time";
  EXPECT_TRUE(cluster.grouper().is_on_its_way("ns", "p"));
  cluster.carry_out(first);
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("q"), "pg-j-uid-j");
  EXPECT_FALSE(cluster.grouper().is_on_its_way("ns", "p"));
}

// Killed after any number of writes, with or without their answers: nothing is made twice, nothing is left out.
TEST(Grouper, GoesOnAfterAKillAtAnyPoint) {
  for (int killed_after = 0; killed_after < 6; ++killed_after) {
    SmallCluster cluster;
    cluster.put(job("j", 4));
    for (const char* name : {"a", "b", "c", "d"}) {
      cluster.put(pod(name, "batch/v1", "Job/j"));
    }
    int done = 0;
    for (int round = 0; round < 5 && done < killed_after; ++round) {
      for (const Order& order : cluster.step().orders) {
        if (done < killed_after) {
          cluster.apply(order.write);  // and the answer is lost
          ++done;
        }
      }
      if (done < killed_after) {
        cluster.restart();
      }
    }
    cluster.restart();
    cluster.settle();
    EXPECT_EQ(cluster.created(), 1) << killed_after;
    for (const char* name : {"a", "b", "c", "d"}) {
      EXPECT_EQ(cluster.group_of_pod(name), "pg-j-uid-j") << killed_after;
    }
  }
}

TEST(Grouper, TriesAgainWhatWasRefusedAndSaysSo) {
  SmallCluster cluster;
  cluster.refuses = [](const Write& write) { return write.object.kind == "PodGroup"; };
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  for (int i = 0; i < 4; ++i) {
    cluster.carry_out(cluster.step());
    cluster.pass(60s);
  }
  EXPECT_EQ(cluster.group_of_pod("p"), "");
  ASSERT_EQ(cluster.events().size(), 1U) << "once";
  EXPECT_EQ(cluster.events().front(), "Job/j: its PodGroup \"pg-j-uid-j\" cannot be written: it is forbidden");
  cluster.refuses = nullptr;
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

TEST(Grouper, TriesAgainToMarkAPod) {
  SmallCluster cluster;
  cluster.refuses = [](const Write& write) { return write.object.kind == "Pod"; };
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  cluster.carry_out(cluster.step());
  cluster.carry_out(cluster.step());
  cluster.carry_out(cluster.step());  // the first time it may have come too late, and is tried again at once
  const Step waiting = cluster.step();
  EXPECT_TRUE(waiting.orders.empty());
  EXPECT_TRUE(waiting.wake) << "it has to be called again";
  cluster.refuses = nullptr;
  cluster.pass(2s);
  cluster.settle();
  EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j");
}

// What cannot be is an event on the owner, and nobody else notices.
TEST(Grouper, RefusesWhatCannotBe) {
  const std::string large(200'000, 'x');
  const std::tuple<std::string, std::string, std::string> kWrong[] = {
      {job("bad", 2'147'483'647), "Job", "at most"},
      {job("bad", 2, "annotations: {kai.scheduler/batch-min-member: '3'}"), "Job",
       "kai.scheduler/batch-min-member is 3, more than the 2 pods there are"},
      {job("bad", 2, "annotations: {kai.scheduler/batch-min-member: many}"), "Job", "must be a whole number"},
      {job("bad", 2, "annotations: {kai.scheduler/topology: " + large + "}"), "Job",
       "kai.scheduler/topology is 200000 bytes long; at most 1024 are allowed"},
      {made("batch/v1", "Job", "bad", "annotations: {kai.scheduler/topology: t}",
            "{parallelism: 1000000, template: {metadata: {annotations: {kai.scheduler/segment-size: '1', "
            "kai.scheduler/segment-topology-required-placement: rack}}, spec: {containers: [{name: c}]}}}"),
       "Job", "it asks for 1000001 subgroups; at most 2048 are placed together"}};
  for (const auto& [owner, kind, words] : kWrong) {
    SmallCluster cluster;
    cluster.put(owner + pod("p", "batch/v1", kind + "/bad"));
    cluster.put(job("good", 1) + pod("g", "batch/v1", "Job/good"));
    cluster.settle();
    cluster.settle();
    EXPECT_EQ(cluster.groups(), std::set<std::string>{"pg-good-uid-good"}) << words;
    EXPECT_EQ(cluster.group_of_pod("p"), "") << words;
    ASSERT_EQ(cluster.events().size(), 1U) << words;
    EXPECT_TRUE(cluster.events().front().starts_with(kind + "/bad: ")) << cluster.events().front();
    EXPECT_NE(cluster.events().front().find(words), std::string::npos) << cluster.events().front();
    EXPECT_NE(cluster.grouper().complaint("ns", "p").find(words), std::string::npos);
  }
}

TEST(Grouper, EndsWhereOwnersGoRoundInACircle) {
  SmallCluster cluster;
  const std::string spec = fmt::format("{{parallelism: 1, template: {}}}", kTemplate);
  cluster.put(made("batch/v1", "Job", "a", "", spec, "batch/v1", "Job/b") +
              made("batch/v1", "Job", "b", "", spec, "batch/v1", "Job/a"));
  cluster.put(pod("p", "batch/v1", "Job/a"));
  cluster.settle();
  EXPECT_EQ(cluster.writes(), 0);
  EXPECT_EQ(cluster.events(),
            std::vector<std::string>{"Pod/p: the owners of pod \"ns/p\" go on and on, or round in a circle"});
}

TEST(Grouper, CopiesNoLongAnnotations) {
  SmallCluster cluster;
  cluster.put(job("j", 1, "annotations: {long: " + std::string(200'000, 'x') + ", short: word}"));
  cluster.put(pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  const Tree& group = cluster.object("PodGroup", "pg-j-uid-j");
  EXPECT_EQ(group.find({"metadata", "annotations", "long"}), nullptr);
  EXPECT_EQ(group.str({"metadata", "annotations", "short"}), "word");
}

TEST(Grouper, TellsTheOwnerOfATopologyOrLevelThatIsNotThere) {
  const auto said = [](const std::string& annotations) {
    SmallCluster cluster;
    cluster.put(
        "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: net}\nspec: {levels: [{nodeLabel: z, "
        "alias: zone}, {nodeLabel: r, alias: rack}]}\n");
    cluster.put(job("j", 1, "annotations: {" + annotations + "}") + pod("p", "batch/v1", "Job/j"));
    cluster.settle();
    EXPECT_EQ(cluster.group_of_pod("p"), "pg-j-uid-j") << "it is grouped all the same, and does not start";
    return cluster.events().empty() ? std::string() : cluster.events().front();
  };
  const std::string required = ", kai.scheduler/topology-required-placement: ";
  EXPECT_EQ(said("kai.scheduler/topology: net" + required + "rack"), "");
  EXPECT_EQ(said("kai.scheduler/topology: net" + required + "r"), "");
  EXPECT_EQ(said("kai.scheduler/topology: none" + required + "rack"),
            "Job/j: there is no Topology \"none\"; there are \"net\"");
  EXPECT_EQ(said("kai.scheduler/topology: net" + required + "row"),
            "Job/j: Topology \"net\" has no level \"row\"; it has z (zone), r (rack)");
  EXPECT_EQ(said("kai.scheduler/topology: net, kai.scheduler/topology-preferred-placement: zone" + required + "rack"),
            "Job/j: the preferred level \"zone\" is above the required one, \"rack\": it must lie inside");
}

TEST(Grouper, ForgetsPodsThatHaveEnded) {
  SmallCluster cluster;
  cluster.put(job("j", 1) + pod("p", "batch/v1", "Job/j"));
  cluster.settle();
  const int writes = cluster.writes();
  cluster.put(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, "
      "uid: uid-j, controller: true}]}\nspec: {schedulerName: kai-scheduler, containers: [{name: c}]}\nstatus: "
      "{phase: Succeeded}\n");
  cluster.settle();
  EXPECT_EQ(cluster.writes(), writes);
}

}  // namespace
}  // namespace gantree::kai
