#include "service/namespace_budget.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gantree {
namespace {

using std::chrono::seconds;

LiveObject read(const std::string& group, const std::string& version, const std::string& kind,
                const std::string& json) {
  auto object = prune(group, version, kind, json);
  EXPECT_TRUE(object) << object.error().message;
  return std::move(*object);
}

// A job in a queue with so many bytes of notes.
LiveObject job(const std::string& ns, const std::string& name, std::size_t bytes, bool suspended = true) {
  return read("batch", "v1", "Job",
              fmt::format(R"({{"metadata":{{"namespace":"{0}","name":"{1}","uid":"{0}-{1}","labels":)"
                          R"({{"kueue.x-k8s.io/queue-name":"q"}},"annotations":{{"notes":"{2}"}}}},)"
                          R"("spec":{{"suspend":{3}}}}})",
                          ns, name, std::string(bytes, 'x'), suspended));
}

LiveObject pod(const std::string& spec, const std::string& labels = "", const std::string& phase = "Pending") {
  return read("", "v1", "Pod",
              fmt::format(R"({{"metadata":{{"namespace":"ns","name":"p","uid":"u","labels":{{{}}}}},"spec":{{{}}},)"
                          R"("status":{{"phase":"{}"}}}})",
                          labels, spec, phase));
}

bool lose(NamespaceBudget& budget, const LiveObject& object) {
  return budget.lose(object.group, object.kind, object.ns, object.name);
}

// Enough for one job of 150,000 bytes, and not for two.
constexpr std::size_t kBudget = std::size_t{800} << 10;
const NamespaceBudget::Clock::time_point kNow{std::chrono::hours(1)};

TEST(CostOfWaiting, IsThatOfPodsGroupsAndJobsThatAreNotStarted) {
  EXPECT_GT(cost_of_waiting(pod(R"("schedulerName":"gantree")")), 0U);
  EXPECT_EQ(cost_of_waiting(pod(R"("schedulerName":"gantree","nodeName":"n")")), 0U);
  EXPECT_EQ(cost_of_waiting(pod(R"("schedulerName":"gantree")", "", "Failed")), 0U);
  EXPECT_EQ(cost_of_waiting(pod(R"("schedulerName":"default-scheduler")")), 0U) << "nobody keeps it";
  EXPECT_GT(cost_of_waiting(pod(R"("schedulerName":"default-scheduler")", R"("kueue.x-k8s.io/managed":"true")")), 0U);
  EXPECT_GT(cost_of_waiting(job("ns", "a", 10)), 0U);
  EXPECT_EQ(cost_of_waiting(job("ns", "a", 10, false)), 0U);
  EXPECT_GT(cost_of_waiting(job("ns", "a", 1000)), cost_of_waiting(job("ns", "a", 10)));
  const auto group = [](int scheduled) {
    return read("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
                fmt::format(R"({{"metadata":{{"namespace":"ns","name":"g"}},"spec":{{"minMember":1}},"status":)"
                            R"({{"scheduled":{}}}}})",
                            scheduled));
  };
  EXPECT_GT(cost_of_waiting(group(0)), 0U);
  EXPECT_EQ(cost_of_waiting(group(3)), 0U) << "it runs";
  EXPECT_EQ(cost_of_waiting(
                read("batch", "v1", "Job", R"({"metadata":{"namespace":"ns","name":"j"},"spec":{"suspend":true}})")),
            0U)
      << "it is in no queue";
  EXPECT_GT(
      cost_of_waiting(read("kubeflow.org", "v1", "PyTorchJob",
                           R"({"metadata":{"namespace":"ns","name":"j","labels":{"kueue.x-k8s.io/queue-name":"q"}},)"
                           R"("spec":{"runPolicy":{"suspend":true}}})")),
      0U);
}

TEST(NamespaceBudget, SetsAsideWhatDoesNotFitAndReadsItAgainInTurn) {
  NamespaceBudget budget(kBudget);
  const LiveObject first = job("evil", "first", 150'000);
  EXPECT_TRUE(budget.take(first));
  EXPECT_TRUE(budget.take(job("evil", "small", 1000)));
  const LiveObject second = job("evil", "second", 150'000);
  const LiveObject third = job("evil", "third", 150'000);
  EXPECT_FALSE(budget.take(second));
  EXPECT_FALSE(budget.take(third));
  EXPECT_TRUE(budget.take(job("good", "other", 150'000))) << "another namespace's";
  EXPECT_TRUE(budget.to_read(kNow).empty());
  EXPECT_TRUE(lose(budget, first));
  const auto now = budget.to_read(kNow);
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now[0].name, "second");
  EXPECT_EQ(now[0].kind, "Job");
  EXPECT_TRUE(budget.to_read(kNow + seconds(1)).empty()) << "it is under way";
  EXPECT_TRUE(budget.take_back(second));
  EXPECT_FALSE(budget.take_back(second)) << "twice";
  EXPECT_TRUE(budget.to_read(kNow + seconds(1)).empty());
  EXPECT_EQ(budget.set_aside(), 1U);
}

TEST(NamespaceBudget, ReadsAgainWhatDidNotCome) {
  NamespaceBudget budget(kBudget);
  const LiveObject first = job("evil", "first", 250'000);
  const LiveObject second = job("evil", "second", 250'000);
  EXPECT_TRUE(budget.take(first));
  EXPECT_FALSE(budget.take(second));
  EXPECT_TRUE(lose(budget, first));
  EXPECT_EQ(budget.to_read(kNow).size(), 1U);
  EXPECT_EQ(budget.to_read(kNow + seconds(20)).size(), 1U);
}

TEST(NamespaceBudget, TakesTheWatchsWordBeforeAnOlderOne) {
  NamespaceBudget budget(kBudget);
  const LiveObject first = job("evil", "first", 250'000);
  const LiveObject second = job("evil", "second", 250'000);
  EXPECT_TRUE(budget.take(first));
  EXPECT_FALSE(budget.take(second));
  EXPECT_TRUE(lose(budget, first));
  EXPECT_EQ(budget.to_read(kNow).size(), 1U);
  EXPECT_TRUE(budget.take(job("evil", "second", 240'000)));
  EXPECT_FALSE(budget.take_back(second));
  const LiveObject third = job("evil", "third", 250'000);
  EXPECT_FALSE(budget.take(third));
  EXPECT_FALSE(lose(budget, third)) << "nobody was told of it";
  EXPECT_EQ(budget.set_aside(), 0U);
}

TEST(NamespaceBudget, KeepsWhatHoldsQuotaAndWhatWasHandedOn) {
  NamespaceBudget budget(kBudget);
  EXPECT_TRUE(budget.take(job("evil", "first", 10)));
  EXPECT_TRUE(budget.take(job("evil", "first", 260'000))) << "it has grown";
  EXPECT_TRUE(budget.take(job("evil", "admitted", 260'000), true));
  EXPECT_TRUE(budget.take(job("evil", "running", 260'000, false)));
  EXPECT_FALSE(budget.take(job("evil", "second", 10)));
  EXPECT_FALSE(budget.take(job("evil", "third", 10)));
  budget.need("evil-third");
  const auto now = budget.to_read(kNow);
  ASSERT_EQ(now.size(), 1U);
  EXPECT_EQ(now[0].name, "third") << "its Workload came after it";
  EXPECT_TRUE(budget.take_back(job("evil", "third", 10)));
}

TEST(NamespaceBudget, IsFreeOfWhatIsStarted) {
  NamespaceBudget budget(kBudget);
  EXPECT_TRUE(budget.take(job("evil", "first", 250'000)));
  EXPECT_FALSE(budget.take(job("evil", "second", 250'000)));
  EXPECT_TRUE(budget.take(job("evil", "first", 250'000, false)));
  EXPECT_EQ(budget.to_read(kNow).size(), 1U);
}

TEST(NamespaceBudget, MayBeSwitchedOff) {
  NamespaceBudget budget(0);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(budget.take(job("evil", fmt::format("j{}", i), 250'000)));
  }
}

}  // namespace
}  // namespace gantree
