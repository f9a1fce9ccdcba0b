// Levels that a job names, on a live cluster: one that is not there, and `auto`.
#include <gmock/gmock.h>

#include "job_world.h"

namespace gantree::kueue {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string level(const std::string& kind, const std::string& name) {
  return fmt::format(R"("kueue.x-k8s.io/podset-{}-topology":"{}")", kind, name);
}

TEST(NamedLevel, ThatTheTopologyLacksIsNamedAndWaitedFor) {
  for (const char* kind : {"required", "preferred"}) {
    JobWorld world(1, 1, 8);
    world.job("train", {.annotations = level(kind, "example.com/rak")});
    const Order create = world.only("Workload");
    world.carry_out(create);
    world.settle();
    const std::string workload = create.write.object.name;
    EXPECT_NE(world.spec(workload, "active"), "false") << kind;
    EXPECT_THAT(world.status(workload, "conditions"),
                AllOf(HasSubstr(R"("type":"QuotaReserved","status":"False","reason":"NoMatchingFlavor")"),
                      HasSubstr(R"(has no level \"example.com/rak\")")))
        << kind;
    // Others are not held up.
    world.job("right", {.annotations = level("required", "rack")});
    world.settle();
    EXPECT_EQ(world.to_jobs.size(), 1U) << kind;
  }
}

// How many racks a job of so many pods gets.
std::size_t racks(JobWorld& world, const std::string& name, int pods, const std::string& annotations) {
  world.job(name, {.pods = pods, .annotations = annotations});
  world.settle();
  std::set<std::string> found;
  for (const auto& [key, entry] : world.controller.workloads()) {
    if (key.find("job-" + name) == std::string::npos || !entry.admission()) {
      continue;
    }
    for (const AssignedDomain& domain : entry.admission()->sets.front().topology->domains) {
      const std::string& host = domain.values.back();  // n0-1 in rack r0
      found.insert(host.substr(0, host.find('-')));
    }
  }
  return found.size();
}

TEST(NamedLevel, AutoIsOneDomainOfTheTopWhereItIsRequired) {
  JobWorld world(2, 2, 100);
  EXPECT_EQ(racks(world, "fits", 16, level("required", "auto")), 1U);
  EXPECT_EQ(racks(world, "large", 17, level("required", "auto")), 0U) << "no rack holds so many";
}

TEST(NamedLevel, AutoIsAsCloseTogetherAsPossibleWhereItIsPreferred) {
  JobWorld world(2, 2, 100);
  EXPECT_EQ(racks(world, "large", 17, level("preferred", "auto")), 2U);
}

}  // namespace
}  // namespace gantree::kueue
