#include <gmock/gmock.h>

#include "controllers/index_set.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

std::string job(const std::string& spec, const std::string& annotations = "{}") {
  return fmt::format(
      "{{'metadata':{{'name':'train'}},'spec':{{{},'backoffLimit':2,'template':{{'metadata':"
      "{{'annotations':{}}},'spec':{{'restartPolicy':'Never','containers':[{{'name':'main','image':'i'}}]}}}}}}}}",
      spec, annotations);
}

class JobTest : public testing::Test {
 protected:
  JobTest() { cluster.add_node("n1"); }
  const Object& status() { return *object_at(cluster.get(Kind::kJob, "train"), {"status"}); }
  bool has(std::string_view condition, std::string_view value = "True") {
    return condition_is(cluster.get(Kind::kJob, "train"), condition, value);
  }
  FakeCluster cluster;
};

TEST_F(JobTest, RunsAsManyPodsAsItMayAndCompletes) {
  cluster.add(Kind::kJob, job("'parallelism':2,'completions':3", "{'gantree.dev/run-for':'60s'}"));
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(2));
  cluster.bind_all("n1");
  cluster.pass(5s);
  EXPECT_EQ(whole_at(status(), {"active"}), 2);
  EXPECT_EQ(whole_at(status(), {"ready"}), 2);
  cluster.pass(60s);
  EXPECT_EQ(whole_at(status(), {"succeeded"}), 2);
  EXPECT_EQ(whole_at(status(), {"active"}), 1);
  cluster.bind_all("n1");
  cluster.pass(65s);
  EXPECT_EQ(whole_at(status(), {"succeeded"}), 3);
  EXPECT_TRUE(has("SuccessCriteriaMet"));
  EXPECT_TRUE(has("Complete"));
  EXPECT_FALSE(text_at(status(), {"completionTime"}).empty());
  EXPECT_EQ(status().if_contains("active"), nullptr);
}

TEST_F(JobTest, CountsEveryPodOnceAndTakesItsFinalizerOff) {
  cluster.add(Kind::kJob, job("'parallelism':3,'completions':3", "{'gantree.dev/run-for':'10s'}"));
  cluster.bind_all("n1");
  cluster.pass(60s);
  EXPECT_EQ(whole_at(status(), {"succeeded"}), 3);
  EXPECT_THAT(*object_at(status(), {"uncountedTerminatedPods"}), IsEmpty());
  for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
    EXPECT_EQ(array_at(pod, {"metadata", "finalizers"}), nullptr) << name;
  }
}

TEST_F(JobTest, GivesIndexedPodsTheirIndexByNameLabelAnnotationAndEnvironment) {
  cluster.add(Kind::kJob, job("'completionMode':'Indexed','parallelism':2,'completions':2"));
  const auto names = cluster.names(Kind::kPod);
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_THAT(names[1], testing::StartsWith("train-1-"));
  const Object& pod = cluster.get(Kind::kPod, names[1]);
  EXPECT_EQ(text_at(pod, {"metadata", "labels", kCompletionIndex}), "1");
  EXPECT_EQ(text_at(pod, {"metadata", "annotations", kCompletionIndex}), "1");
  EXPECT_EQ(text_at(pod, {"metadata", "labels", kJobName}), "train");
  EXPECT_EQ(text_at(pod, {"spec", "hostname"}), "train-1");
  EXPECT_EQ(text_at((*array_at(pod, {"spec", "containers"}))[0].at("env").at(0), {"name"}), "JOB_COMPLETION_INDEX");
}

TEST_F(JobTest, ReplacesTheIndexThatFailedAfterAPause) {
  cluster.add(Kind::kJob, job("'completionMode':'Indexed','parallelism':2,'completions':2"));
  cluster.run_pods();
  cluster.end_pod(cluster.names(Kind::kPod)[0], false);
  EXPECT_EQ(whole_at(status(), {"failed"}), 1);
  cluster.pass(30s);
  ASSERT_THAT(cluster.names(Kind::kPod), SizeIs(3));
  EXPECT_THAT(cluster.names(Kind::kPod)[1], testing::StartsWith("train-0-"));
}

TEST_F(JobTest, CountsIndexesThatAreDone) {
  cluster.add(Kind::kJob, job("'completionMode':'Indexed','parallelism':4,'completions':4"));
  cluster.run_pods();
  const auto names = cluster.names(Kind::kPod);
  for (const int i : {0, 1, 3}) {
    cluster.end_pod(names[static_cast<std::size_t>(i)], true);
  }
  EXPECT_EQ(text_at(status(), {"completedIndexes"}), "0,1,3");
  EXPECT_EQ(whole_at(status(), {"succeeded"}), 3);
  cluster.end_pod(names[2], true);
  EXPECT_EQ(text_at(status(), {"completedIndexes"}), "0-3");
  EXPECT_TRUE(has("Complete"));
}

TEST_F(JobTest, FailsWhenTooManyPodsFailed) {
  cluster.add(Kind::kJob, job("'parallelism':1,'completions':1", "{'gantree.dev/fail-after':'5s'}"));
  for (int i = 0; i < 4; ++i) {
    cluster.run_pods();
    cluster.pass(100s);
  }
  EXPECT_TRUE(has("Failed"));
  EXPECT_EQ(text_at(*find_condition(cluster.get(Kind::kJob, "train"), "Failed"), {"reason"}), "BackoffLimitExceeded");
  EXPECT_EQ(whole_at(status(), {"failed"}), 3);
}

TEST_F(JobTest, SuspendedHasNoPodsNoStartAndNoFailures) {
  cluster.add(Kind::kJob, job("'parallelism':2,'completions':2"));
  cluster.run_pods();
  cluster.change(Kind::kJob, "train", "{'spec':{'suspend':true}}");
  EXPECT_TRUE(has("Suspended"));
  EXPECT_EQ(whole_at(status(), {"terminating"}), 2);
  cluster.pass(5s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
  EXPECT_EQ(status().if_contains("startTime"), nullptr);
  EXPECT_EQ(whole_at(status(), {"failed"}), 0);
  cluster.change(Kind::kJob, "train", "{'spec':{'suspend':false}}");
  EXPECT_TRUE(has("Suspended", "False"));
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(2));
  EXPECT_FALSE(text_at(status(), {"startTime"}).empty());
}

TEST_F(JobTest, OfNothingCompletesAsSoonAsItStarts) {
  cluster.add(Kind::kJob, job("'parallelism':1,'completions':0"));
  EXPECT_TRUE(has("Complete"));
  EXPECT_EQ(text_at(status(), {"startTime"}), text_at(status(), {"completionTime"}));
}

TEST_F(JobTest, OfNothingCompletesWithoutAStartWhereItIsSuspended) {
  cluster.add(Kind::kJob, job("'parallelism':1,'completions':0,'suspend':true"));
  EXPECT_TRUE(has("Complete"));
  EXPECT_EQ(text_at(status(), {"startTime"}), "");
}

TEST_F(JobTest, FailsByWhatFailedBeforeItWasSuspended) {
  cluster.add(Kind::kJob, job("'parallelism':1,'completions':1,'suspend':true"));
  cluster.change(Kind::kJob, "train", "{'status':{'failed':3}}");
  EXPECT_TRUE(has("Failed"));
  EXPECT_FALSE(text_at(status(), {"startTime"}).empty()) << "which every Job that is over must tell";
}

TEST_F(JobTest, EndsAtItsDeadlineAndGoesWhenItsTimeToLiveIsOver) {
  cluster.add(Kind::kJob,
              job("'parallelism':1,'completions':1,'activeDeadlineSeconds':30,'ttlSecondsAfterFinished':60"));
  cluster.run_pods();
  cluster.pass(30s);
  ASSERT_TRUE(has("Failed"));
  EXPECT_EQ(text_at(*find_condition(cluster.get(Kind::kJob, "train"), "Failed"), {"reason"}), "DeadlineExceeded");
  cluster.pass(70s);
  EXPECT_THAT(cluster.names(Kind::kJob), IsEmpty());
  cluster.pass(60s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

TEST_F(JobTest, ShrinksAnElasticJobFromTheHighestIndex) {
  cluster.add(Kind::kJob, job("'completionMode':'Indexed','parallelism':4,'completions':4"));
  cluster.run_pods();
  cluster.change(Kind::kJob, "train", "{'spec':{'parallelism':2,'completions':2}}");
  cluster.pass(5s);
  const auto names = cluster.names(Kind::kPod);
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_THAT(names[1], testing::StartsWith("train-1-"));
  EXPECT_EQ(whole_at(status(), {"failed"}), 0);
}

TEST_F(JobTest, ReplacesOnlyPodsThatHaveEndedWhereThePolicySaysSo) {
  cluster.add(Kind::kJob, job("'parallelism':1,'completions':1,'podReplacementPolicy':'Failed'"));
  cluster.run_pods();
  cluster.change(Kind::kPod, cluster.names(Kind::kPod)[0],
                 "{'metadata':{'annotations':{'gantree.dev/stop-after':'20s'}}}");
  cluster.erase(Kind::kPod, cluster.names(Kind::kPod)[0]);
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(1));
  EXPECT_EQ(whole_at(status(), {"terminating"}), 1);
  cluster.pass(40s);
  EXPECT_EQ(whole_at(status(), {"failed"}), 1);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(1));
  EXPECT_EQ(whole_at(status(), {"active"}), 1);
}

TEST_F(JobTest, LeavesJobsOfOtherManagersAlone) {
  cluster.add(Kind::kJob, job("'managedBy':'kueue.x-k8s.io/multikueue','parallelism':1"));
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

TEST_F(JobTest, CreatesNoPodTwiceWhereWritesAreRefused) {
  cluster.refuse(5);
  cluster.add(Kind::kJob, job("'parallelism':8,'completions':8"));
  cluster.pass(10s);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(8));
}

TEST_F(JobTest, FreesThePodsOfAJobThatIsGone) {
  cluster.add(Kind::kJob, job("'parallelism':2,'completions':2"));
  cluster.run_pods();
  cluster.erase(Kind::kJob, "train");
  cluster.pass(60s);
  EXPECT_THAT(cluster.names(Kind::kPod), IsEmpty());
}

TEST_F(JobTest, ComesToRest) {
  cluster.add(Kind::kJob, job("'parallelism':20,'completions':20"));
  cluster.run_pods();
  const std::size_t before = cluster.writes();
  cluster.pass(600s);
  EXPECT_EQ(cluster.writes(), before);
}

TEST(IndexSet, IsWrittenAsAJobsStatusWritesIt) {
  IndexSet set("0-2,5", 10);
  EXPECT_EQ(set.size(), 4);
  set.add({4, 6, 9, 5});
  EXPECT_EQ(set.text(), "0-2,4-6,9");
  EXPECT_EQ(IndexSet("0-99", 3).text(), "0-2");
  EXPECT_EQ(IndexSet("x,-,7", 10).text(), "7");
}

}  // namespace
}  // namespace gantree::controllers
