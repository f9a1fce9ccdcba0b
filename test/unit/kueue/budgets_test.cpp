// Whom PodDisruptionBudgets keep from being evicted for others.
#include <gtest/gtest.h>

#include "unit/kueue/small_cluster.h"

namespace gantree::test {
namespace {

void put_budget(SmallCluster& cluster, int allowed) {
  cluster.put("policy", "v1", "PodDisruptionBudget",
              fmt::format("{{'metadata':{{'name':'b','namespace':'ns'}},'spec':{{'minAvailable':1,'selector':"
                          "{{'matchLabels':{{'app':'kept'}}}}}},'status':{{'disruptionsAllowed':{}}}}}",
                          allowed));
}

void put_job(SmallCluster& cluster, const std::string& name, const std::string& app) {
  cluster.job(name, 1, 2);
  cluster.server.change(FakeServer::key("Job", "ns", name), [&](Tree& job) {
    job.at({"spec", "template", "metadata", "labels", "app"}) = Tree::string(app);
  });
}

TEST(KueueBudgets, AWorkloadThatABudgetProtectsIsNotEvictedForAnother) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_budget(cluster, 0);
  put_job(cluster, "kept", "kept");
  put_job(cluster, "also-kept", "kept");
  cluster.settle();
  ASSERT_TRUE(cluster.admitted("kept"));
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("kept"));
  EXPECT_TRUE(cluster.admitted("also-kept"));
  EXPECT_FALSE(cluster.admitted("urgent"));
}

TEST(KueueBudgets, AnotherGoesInsteadOfTheOneThatABudgetProtects) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_budget(cluster, 0);
  put_job(cluster, "kept", "kept");
  put_job(cluster, "other", "other");
  cluster.settle();
  cluster.job("urgent", 1, 2, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("kept"));
  EXPECT_FALSE(cluster.admitted("other"));
  EXPECT_TRUE(cluster.admitted("urgent"));
}

TEST(KueueBudgets, NoMoreGoThanABudgetAllows) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_budget(cluster, 1);
  put_job(cluster, "one", "kept");
  put_job(cluster, "two", "kept");
  cluster.settle();
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("one"));
  EXPECT_TRUE(cluster.admitted("two"));
  cluster.job("small", 1, 2, "high");
  cluster.settle();
  EXPECT_NE(cluster.admitted("one"), cluster.admitted("two"));
}

TEST(KueueBudgets, ThatGoAwayProtectNobody) {
  SmallCluster cluster;
  cluster.node("a", 4);
  put_budget(cluster, 0);
  put_job(cluster, "kept", "kept");
  cluster.settle();
  cluster.server.remove(FakeServer::key("PodDisruptionBudget", "ns", "b"));
  cluster.job("urgent", 1, 4, "high");
  cluster.settle();
  EXPECT_TRUE(cluster.admitted("urgent"));
}

}  // namespace
}  // namespace gantree::test
