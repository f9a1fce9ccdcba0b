// What is accepted and has no effect on a live cluster is warned of when it is stored.
#include <gmock/gmock.h>

#include "dialects/not_live.h"
#include "hooks.h"

namespace gantree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string marked_job(const std::string& metadata, const std::string& pod_metadata = "", const std::string& pod = "") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train" + metadata + "}\nspec: {template: {metadata: {" +
         pod_metadata + "}, spec: {containers: [{name: c}]" + pod + "}}}\n";
}

std::vector<std::string> warnings(const std::string& yaml) {
  const Sent sent(yaml);
  const Mutation mutation = enqueue(sent.mutator(), sent.named(), JobDefaults{});
  EXPECT_FALSE(mutation.refusal);
  return mutation.warnings;
}

TEST(NotLive, MarksOfKaiAreWarnedOfWhereverTheyAre) {
  EXPECT_THAT(warnings(marked_job(", labels: {kai.scheduler/queue: a}")),
              ElementsAre(HasSubstr("kai.scheduler/queue is KAI-Scheduler's, whose gangs and queues Gantree honours "
                                    "where kai-scheduler is one of its --scheduler-names")));
  const Sent served(marked_job(", labels: {kai.scheduler/queue: a}"));
  EXPECT_THAT(enqueue(served.mutator(), served.named(), JobDefaults{.serves_kai = true}).warnings, IsEmpty());
  EXPECT_THAT(warnings(marked_job("", "annotations: {kai.scheduler/batch-min-member: '2'}")),
              ElementsAre(HasSubstr("kai.scheduler/batch-min-member")));
  EXPECT_THAT(warnings(marked_job("", "", ", schedulerName: kai-scheduler")),
              ElementsAre(HasSubstr("kai-scheduler is")));
  EXPECT_THAT(warnings("apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {runai/queue: a}}\nspec: {containers: "
                       "[{name: c}]}\n"),
              ElementsAre(HasSubstr("runai/queue")));
}

TEST(NotLive, TheyAreWarnedOfInAQueueToo) {
  const Sent sent(marked_job(", labels: {kueue.x-k8s.io/queue-name: q, kai.scheduler/queue: a}"));
  EXPECT_THAT(create(sent.mutator(), sent.named(), JobDefaults{}).warnings,
              ElementsAre(HasSubstr("kai.scheduler/queue")));
}

TEST(NotLive, NothingElseIsWarnedOf) {
  EXPECT_THAT(warnings(marked_job("")), IsEmpty());
  EXPECT_THAT(warnings(marked_job(", labels: {team: a}", "", ", schedulerName: gantree")), IsEmpty());
}

std::string leader_worker_set(const std::string& scheduler) {
  return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: s, annotations: "
         "{leaderworkerset.sigs.k8s.io/exclusive-topology: net/rack}}\nspec: {replicas: 1, leaderWorkerTemplate: "
         "{size: 2, "
         "workerTemplate: {spec: {containers: [{name: c}]" +
         scheduler + "}}}}\n";
}

TEST(NotLive, AnExclusiveTopologyIsWarnedOfWhereThePodsAreOurs) {
  EXPECT_THAT(warnings(leader_worker_set(", schedulerName: gantree")),
              ElementsAre(HasSubstr("leaderworkerset.sigs.k8s.io/exclusive-topology in plans only")));
  EXPECT_THAT(warnings(leader_worker_set("")), IsEmpty());
}

TEST(NotLive, AKindThatNobodyTakesOutOfAQueueIsNotStarted) {
  EXPECT_EQ(nobody_starts("Job", "kueue"), "");
  EXPECT_EQ(nobody_starts("PodGroup", "koordinator"), "");
  EXPECT_THAT(nobody_starts("TrainJob", "kueue"), HasSubstr("TrainJob"));
  EXPECT_THAT(nobody_starts("Job", "kai"), HasSubstr("in plans only"));
}

}  // namespace
}  // namespace gantree
