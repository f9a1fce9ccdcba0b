#include <gmock/gmock.h>

#include "controllers/index_set.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kIgnoreDisruption =
    "{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget','status':'True'}]}";
constexpr const char* kFailJobOn42 = "{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}";

class JobPolicyTest : public testing::Test {
 protected:
  JobPolicyTest() { cluster.add_node("n1"); }
  void add(const std::string& spec, const std::string& annotations = "{}") {
    cluster.add(Kind::kJob,
                fmt::format("{{'metadata':{{'name':'train'}},'spec':{{{},'template':{{'metadata':{{'annotations':{}}},"
                            "'spec':{{'restartPolicy':'Never','containers':[{{'name':'main','image':'i'}}]}}}}}}}}",
                            spec, annotations));
  }
  const Object& job() { return cluster.get(Kind::kJob, "train"); }
  std::int64_t status(std::string_view field) { return whole_at(job(), {"status", field}); }
  std::string_view text(std::string_view field) { return text_at(job(), {"status", field}); }
  std::string_view reason(std::string_view condition) {
    const Value* found = find_condition(job(), condition);
    return found == nullptr ? std::string_view() : text_at(*found, {"reason"});
  }
  std::string pod_of(std::int64_t index) {
    std::string found;
    for (const auto& [name, pod] : cluster.objects(Kind::kPod)) {
      const bool open =
          text_at(pod, {"status", "phase"}) == "Pending" || text_at(pod, {"status", "phase"}) == "Running";
      if (open && text_at(pod, {"metadata", "labels", kCompletionIndex}) == std::to_string(index)) {
        found = text_at(pod, {"metadata", "name"});
      }
    }
    return found;
  }
  void disrupt(const std::string& pod) {
    cluster.change(Kind::kPod, pod, "{'status':{'conditions':[{'type':'DisruptionTarget','status':'True'}]}}");
    cluster.end_pod(pod, false);
  }
  FakeCluster cluster;
};

TEST_F(JobPolicyTest, FailsAtOnceWithTheExitCodeOfARule) {
  add(fmt::format("'parallelism':2,'completions':2,'backoffLimit':6,'podFailurePolicy':{{'rules':[{},{}]}}",
                  kIgnoreDisruption, kFailJobOn42),
      "{'gantree.dev/fail-after':'5s','gantree.dev/exit-code':'42'}");
  cluster.run_pods();
  cluster.pass(60s);
  EXPECT_EQ(reason("FailureTarget"), "PodFailurePolicy");
  EXPECT_EQ(reason("Failed"), "PodFailurePolicy");
  EXPECT_THAT(std::string(text_at(*find_condition(job(), "Failed"), {"message"})),
              testing::MatchesRegex("Container main for pod default/train-.* failed with exit code 42 matching FailJob "
                                    "rule at index 1"));
  EXPECT_EQ(status("active"), 0);
}

TEST_F(JobPolicyTest, CountsAnExitCodeThatNoRuleNames) {
  add(fmt::format("'parallelism':1,'completions':1,'backoffLimit':0,'podFailurePolicy':{{'rules':[{}]}}", kFailJobOn42),
      "{'gantree.dev/fail-after':'5s'}");
  cluster.run_pods();
  cluster.pass(60s);
  EXPECT_EQ(reason("Failed"), "BackoffLimitExceeded");
  EXPECT_EQ(status("failed"), 1);
}

TEST_F(JobPolicyTest, ReplacesADisruptedPodWithoutCountingIt) {
  add(fmt::format("'parallelism':1,'completions':1,'backoffLimit':0,'podFailurePolicy':{{'rules':[{}]}}",
                  kIgnoreDisruption));
  cluster.run_pods();
  for (int i = 0; i < 3; ++i) {
    const auto names = cluster.names(Kind::kPod);
    disrupt(names.back());
    EXPECT_EQ(array_at(cluster.get(Kind::kPod, names.back()), {"metadata", "finalizers"}), nullptr);
    cluster.pass(200s);
    cluster.run_pods();
  }
  EXPECT_EQ(reason("Failed"), "");
  EXPECT_EQ(status("failed"), 0);
  EXPECT_EQ(status("active"), 1);
  EXPECT_THAT(cluster.names(Kind::kPod), SizeIs(4));
}

TEST_F(JobPolicyTest, GivesEachIndexItsOwnFailures) {
  add("'completionMode':'Indexed','parallelism':3,'completions':3,'backoffLimit':100,'backoffLimitPerIndex':1");
  cluster.run_pods();
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, pod_of(0)), {"metadata", "annotations", kIndexFailures}), "0");
  cluster.end_pod(pod_of(0), false);
  EXPECT_EQ(pod_of(0), "");
  cluster.pass(15s);
  EXPECT_EQ(text_at(cluster.get(Kind::kPod, pod_of(0)), {"metadata", "annotations", kIndexFailures}), "1");
  EXPECT_EQ(status("failed"), 1);
  EXPECT_EQ(text("failedIndexes"), "");
  cluster.end_pod(pod_of(0), false);
  EXPECT_EQ(text("failedIndexes"), "0");
  cluster.pass(1000s);
  EXPECT_EQ(pod_of(0), "");
  EXPECT_EQ(reason("Failed"), "");
  cluster.end_pod(pod_of(1), true);
  cluster.end_pod(pod_of(2), true);
  EXPECT_EQ(reason("Failed"), "FailedIndexes");
  EXPECT_EQ(text("completedIndexes"), "1,2");
  EXPECT_EQ(status("failed"), 2);
  EXPECT_EQ(status("succeeded"), 2);
}

TEST_F(JobPolicyTest, KeepsTheFailedPodUntilItsIndexHasAnother) {
  add("'completionMode':'Indexed','parallelism':1,'completions':1,'backoffLimit':100,'backoffLimitPerIndex':1");
  cluster.run_pods();
  const std::string first = pod_of(0);
  cluster.end_pod(first, false);
  EXPECT_NE(array_at(cluster.get(Kind::kPod, first), {"metadata", "finalizers"}), nullptr);
  cluster.pass(15s);
  EXPECT_EQ(array_at(cluster.get(Kind::kPod, first), {"metadata", "finalizers"}), nullptr);
  EXPECT_EQ(status("failed"), 1);
}

TEST_F(JobPolicyTest, FailsWhenMoreIndexesFailedThanMay) {
  add("'completionMode':'Indexed','parallelism':4,'completions':4,'backoffLimit':100,'backoffLimitPerIndex':0,"
      "'maxFailedIndexes':1");
  cluster.run_pods();
  cluster.end_pod(pod_of(1), false);
  EXPECT_EQ(reason("FailureTarget"), "");
  cluster.end_pod(pod_of(3), false);
  EXPECT_EQ(reason("FailureTarget"), "MaxFailedIndexesExceeded");
  cluster.pass(60s);
  EXPECT_EQ(reason("Failed"), "MaxFailedIndexesExceeded");
  EXPECT_EQ(text("failedIndexes"), "1,3");
}

TEST_F(JobPolicyTest, FailsAnIndexByItsRule) {
  add("'completionMode':'Indexed','parallelism':2,'completions':2,'backoffLimit':100,'backoffLimitPerIndex':5,"
      "'podFailurePolicy':{'rules':[{'action':'FailIndex','onExitCodes':{'operator':'NotIn','values':[7]}}]}",
      "{'gantree.dev/fail-after':'30s','gantree.dev/exit-code':'42'}");
  cluster.run_pods();
  cluster.pass(60s);
  EXPECT_EQ(reason("Failed"), "FailedIndexes");
  EXPECT_EQ(text("failedIndexes"), "0,1");
}

TEST_F(JobPolicyTest, SucceedsByItsRuleAndStopsTheRest) {
  add("'completionMode':'Indexed','parallelism':4,'completions':4,'backoffLimit':6,"
      "'successPolicy':{'rules':[{'succeededIndexes':'0,2-3','succeededCount':2}]}");
  cluster.run_pods();
  cluster.end_pod(pod_of(1), true);
  cluster.end_pod(pod_of(0), true);
  EXPECT_EQ(reason("SuccessCriteriaMet"), "");
  cluster.end_pod(pod_of(3), true);
  EXPECT_EQ(reason("SuccessCriteriaMet"), "SuccessPolicy");
  EXPECT_EQ(text_at(*find_condition(job(), "SuccessCriteriaMet"), {"message"}), "Matched rules at index 0");
  cluster.pass(60s);
  EXPECT_EQ(reason("Complete"), "SuccessPolicy");
  EXPECT_EQ(status("succeeded"), 3);
  EXPECT_EQ(status("failed"), 0);
  EXPECT_EQ(status("active"), 0);
}

}  // namespace
}  // namespace gantree::controllers
