#include "model/gang_name.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

const std::vector<GangKey> kAll{{"a", "train", "Job"},
                                {"b", "train", "Job"},
                                {"a", "web-0", "LeaderWorkerSet"},
                                {"a", "web-1", "LeaderWorkerSet"},
                                {"a", "web-1-0", "LeaderWorkerSet"},
                                {"a", "serve", "JobSet"}};

std::size_t ways(std::string_view text) {
  return find_gangs(kAll, text).size();
}

TEST(FindGangs, ANameAloneMayMeanSeveral) {
  EXPECT_EQ(ways("train"), 2U);
  EXPECT_EQ(ways("serve"), 1U);
  EXPECT_EQ(ways("nothing"), 0U);
}

TEST(FindGangs, NamespacesAndKindsNarrowItDown) {
  EXPECT_EQ(ways("a/train"), 1U);
  EXPECT_EQ(ways("jobset/serve"), 1U);
  EXPECT_EQ(ways("job/serve"), 0U);
  EXPECT_EQ(ways("a/JOB/train"), 1U);
  EXPECT_EQ(ways("a/b/c/train"), 0U);
}

TEST(FindGangs, ASetStandsForAllItsReplicas) {
  const auto found = find_gangs(kAll, "web");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].keys, (std::vector<GangKey>{kAll[2], kAll[3]}));
}

TEST(FindGangs, AReplicaOfThatVeryNameGoesBeforeReplicasOfASet) {
  const auto found = find_gangs(kAll, "web-1");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].keys, std::vector<GangKey>{kAll[3]});
}

TEST(FindGangs, KindsMayBeShortPluralOrWithTheirGroup) {
  const std::vector<GangKey> all{{"a", "store", "StatefulSet"}, {"a", "web-0", "Deployment"}, {"a", "train", "Job"}};
  for (const char* text : {"sts/store", "statefulsets/store", "statefulset.apps/store", "jobs.batch/train"}) {
    EXPECT_EQ(find_gangs(all, text).size(), 1U) << text;
  }
  EXPECT_EQ(find_gangs(all, "deploy/web").front().keys, std::vector<GangKey>{all[1]}) << "pods of a Deployment";
  EXPECT_TRUE(find_gangs(all, "po/store").empty());
}

TEST(MayMean, AsksForTheVeryName) {
  EXPECT_TRUE(may_mean("pod/p", {"a", "p", "Pod"}));
  EXPECT_TRUE(may_mean("a/po/p", {"a", "p", "Pod"}));
  EXPECT_FALSE(may_mean("b/pod/p", {"a", "p", "Pod"}));
  EXPECT_FALSE(may_mean("p", {"a", "p-0", "LeaderWorkerSet"}));
}

TEST(SimilarNames, AreThoseAFewLettersAway) {
  EXPECT_EQ(similar_names(kAll, "trian", 3), (std::vector<std::string>{"a/train", "b/train"}));
  EXPECT_EQ(similar_names(kAll, "serv", 3), std::vector<std::string>{"a/serve"});
  EXPECT_TRUE(similar_names(kAll, "completely-different", 3).empty());
}

}  // namespace
}  // namespace gantree
