// Cohorts, limits and rules of ClusterQueues.
#include <gtest/gtest.h>

#include "unit/dialects/manifests.h"

namespace gantree {
namespace {

constexpr char kFlavor[] = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n---\n";

std::string queue(const std::string& name, const std::string& spec, int nominal = 8, const std::string& limits = "",
                  const std::string& version = "v1beta2") {
  return "apiVersion: kueue.x-k8s.io/" + version + "\nkind: ClusterQueue\nmetadata: {name: " + name + "}\nspec:\n" +
         (spec.empty() ? "" : "  " + spec + "\n") +
         "  resourceGroups:\n  - coveredResources: [gpu]\n    flavors:\n    - {name: f, resources: [{name: gpu, "
         "nominalQuota: " +
         std::to_string(nominal) + limits + "}]}\n---\n";
}

std::string cohort(const std::string& name, const std::string& spec, const std::string& version = "v1beta2") {
  return "{apiVersion: kueue.x-k8s.io/" + version + ", kind: Cohort, metadata: {name: " + name + "}, spec: {" + spec +
         "}}\n---\n";
}

// The queues are numbered by name.
const QueueRules& rules(const World& world, std::size_t queue = 0) {
  return world.quota.rules(make_id<QueueTag>(queue));
}
QuotaId cell(const World& world, std::size_t queue = 0) {
  return world.quota.cells_of(make_id<QueueTag>(queue)).at(0);
}

TEST(KueueCohort, LetsQueuesLendInBothVersions) {
  for (const auto& [version, field] : {std::pair("v1beta1", "cohort: c"), std::pair("v1beta2", "cohortName: c")}) {
    const World world(kFlavor + queue("a", field, 8, ", borrowingLimit: 2", version) +
                      queue("b", field, 8, ", lendingLimit: 5", version) + queue("other", "", 8));
    ASSERT_EQ(world.error(), "");
    EXPECT_TRUE(world.quota.fits({{cell(world), 10}}));
    EXPECT_FALSE(world.quota.fits({{cell(world), 11}}));
    EXPECT_TRUE(world.quota.fits({{cell(world, 1), 16}}));
    EXPECT_FALSE(world.quota.fits({{cell(world, 2), 9}})) << "it stands alone";
    EXPECT_EQ(rules(world, 0).tree, rules(world, 1).tree);
    EXPECT_NE(rules(world, 0).tree, rules(world, 2).tree);
    EXPECT_EQ(rules(world).name, "ClusterQueue \"a\"");
  }
}

TEST(KueueCohort, NestsAndAddsItsOwnQuota) {
  const World world(kFlavor + queue("a", "cohortName: left") + queue("b", "cohortName: right", 4) +
                    cohort("left", "parentName: top") + cohort("right", "parent: top", "v1beta1") +
                    cohort("top",
                           "resourceGroups: [{coveredResources: [gpu], flavors: [{name: f, resources: [{name: gpu, "
                           "nominalQuota: 3}]}]}]"));
  ASSERT_EQ(world.error(), "");
  EXPECT_TRUE(world.quota.fits({{cell(world), 15}}));
  EXPECT_FALSE(world.quota.fits({{cell(world), 16}}));
  EXPECT_EQ(rules(world, 0).tree, rules(world, 1).tree);
}

TEST(KueueCohort, IsRefusedWhereItIsItsOwnAncestor) {
  EXPECT_EQ(World(cohort("a", "parentName: b") + cohort("b", "parentName: c") + cohort("c", "parentName: b")).error(),
            "test.yaml:3: Cohort \"b\" is its own ancestor");
  EXPECT_EQ(World(cohort("x", "parentName: x")).error(), "test.yaml:1: Cohort \"x\" is its own ancestor");
}

TEST(KueueCohort, IsRefusedWhereItNestsTooDeep) {
  std::string chain;
  for (int i = 0; i < 70; ++i) {
    chain += cohort("c" + std::to_string(i), "parentName: c" + std::to_string(i + 1));
  }
  EXPECT_NE(World(chain).error().find("is nested more than 64 deep"), std::string::npos);
}

TEST(KueueCohort, MayHaveQuotaOfFlavorsThatAreNotThere) {
  const std::string error = World(cohort("top",
                                         "resourceGroups: [{coveredResources: [gpu], flavors: [{name: f, resources: "
                                         "[{name: gpu, nominalQuota: 3}]}]}]"))
                                .error();
  EXPECT_EQ(error, "");
}

TEST(KueueLimits, NeedACohort) {
  EXPECT_EQ(World(kFlavor + queue("a", "", 8, ", borrowingLimit: 2")).error(),
            "test.yaml:12: ClusterQueue \"a\": spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit makes "
            "sense in a cohort only, and there is none");
}

TEST(KueueLimits, LendNoMoreThanThereIs) {
  EXPECT_EQ(World(kFlavor + queue("a", "cohort: c", 8, ", lendingLimit: 9")).error(),
            "test.yaml:13: ClusterQueue \"a\": spec.resourceGroups[0].flavors[0].resources[0].lendingLimit is more "
            "than nominalQuota");
}

TEST(KueuePolicy, IsCautiousUnlessToldOtherwise) {
  const World world(kFlavor + queue("a", ""));
  EXPECT_FALSE(rules(world).strict);
  EXPECT_EQ(rules(world).within, WithinRule::kNever);
  EXPECT_EQ(rules(world).reclaim, ReclaimRule::kNever);
  EXPECT_FALSE(rules(world).evicts_to_borrow);
  EXPECT_EQ(rules(world).weight, 1000);
}

TEST(KueuePolicy, IsReadFromTheQueue) {
  const World world(kFlavor + queue("a",
                                    "queueingStrategy: StrictFIFO\n  fairSharing: {weight: 0.5}\n  preemption: "
                                    "{withinClusterQueue: LowerOrNewerEqualPriority, reclaimWithinCohort: Any, "
                                    "borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}}"));
  ASSERT_EQ(world.error(), "");
  EXPECT_TRUE(rules(world).strict);
  EXPECT_EQ(rules(world).within, WithinRule::kLowerOrNewerEqualPriority);
  EXPECT_EQ(rules(world).reclaim, ReclaimRule::kAny);
  EXPECT_TRUE(rules(world).evicts_to_borrow);
  EXPECT_EQ(rules(world).evicts_to_borrow_up_to, 100);
  EXPECT_EQ(rules(world).weight, 500);
}

TEST(KueuePolicy, NamesTheFieldOfAnUnknownWord) {
  EXPECT_EQ(World(kFlavor + queue("a", "preemption: {reclaimWithinCohort: Sometimes}")).error(),
            "test.yaml:9: ClusterQueue \"a\": spec.preemption.reclaimWithinCohort is \"Sometimes\", which is none of "
            "Never, LowerPriority, Any");
  EXPECT_EQ(World(kFlavor + queue("a", "queueingStrategy: LIFO")).error(),
            "test.yaml:9: ClusterQueue \"a\": spec.queueingStrategy is \"LIFO\", which is none of BestEffortFIFO, "
            "StrictFIFO");
}

TEST(KueuePolicy, OfFlavorsReachesTheJobs) {
  const std::string setup =
      "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: queue, namespace: "
      "default}\nspec: {clusterQueue: a}\n---\n";
  const auto submitted = [&](const std::string& fungibility) {
    std::string text = queue("a", "flavorFungibility: {" + fungibility + "}");
    text.replace(text.find("gpu]"), 4, "nvidia.com/gpu]");
    text.replace(text.find("name: gpu"), 9, "name: nvidia.com/gpu");
    const World world(kFlavor + text + setup + job("train", 1));
    EXPECT_EQ(world.rejection("train"), "");
    EXPECT_EQ(world.job("train").queue, QueueId{0});
    return std::pair(world.job("train").own_quota_first, world.job("train").evicts_before_next);
  };
  EXPECT_EQ(submitted(""), std::pair(false, false));
  EXPECT_EQ(submitted("whenCanBorrow: Borrow, whenCanPreempt: TryNextFlavor"), std::pair(false, false));
  EXPECT_EQ(submitted("whenCanBorrow: TryNextFlavor, whenCanPreempt: Preempt"), std::pair(true, true));
  EXPECT_EQ(submitted("whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch"), std::pair(false, true));
}

TEST(KueuePolicy, MayPreferEvictionToBorrowing) {
  const auto setup = [](const std::string& fungibility) {
    return World(kFlavor + queue("a", "flavorFungibility: {" + fungibility + "}"));
  };
  const std::string both = "whenCanBorrow: TryNextFlavor, whenCanPreempt: TryNextFlavor, ";
  EXPECT_EQ(setup(both + "preference: PreemptionOverBorrowing").error(), "");
  EXPECT_EQ(setup(both + "preference: BorrowingOverPreemption").error(), "");
  EXPECT_NE(setup(both + "preference: Neither").error().find("which is none of BorrowingOverPreemption"),
            std::string::npos);
  EXPECT_NE(setup("preference: PreemptionOverBorrowing").error().find("preference needs a whenCanBorrow"),
            std::string::npos);
}

}  // namespace
}  // namespace gantree
