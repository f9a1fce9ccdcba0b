#include "view/queue_rows.h"

#include <gmock/gmock.h>

#include "json/read.h"
#include "unit/kueue/queue_world.h"

namespace gantree::view {
namespace {

using testing::HasSubstr;
using testing::Not;

// One team that borrows, one that lends, one whose flavor is not there.
void three_teams(kueue::QueueWorld& world) {
  world.flavor("default");
  world.cluster_queue("a", 4, R"("cohortName":"all")");
  world.cluster_queue("b", 4, R"("cohortName":"all")");
  world.cluster_queue("broken", 4, "", "nowhere");
  world.local_queue("ns", "a", "a");
  world.local_queue("other", "b", "b");
  world.workload("ns", "first", "a", 3);
  world.workload("ns", "second", "a", 3);
  world.workload("ns", "third", "a", 3);
  world.workload("other", "far", "b", 1);
  world.settle();
}

TEST(QueueRows, ShowQuotaInUseWhatIsBorrowedAndWhyAQueueAdmitsNothing) {
  kueue::QueueWorld world;
  three_teams(world);
  EXPECT_EQ("\n" + queues_to_text(cluster_queue_rows(world.controller), false, {}), R"(
QUEUE   COHORT  cpu  BORROWED  PENDING  ADMITTED  ACTIVE
a       all     6/4     2 cpu        1         2  yes
b       all     1/4         -        0         1  yes
broken  -       0/4         -        0         0  FlavorNotFound
)");
  EXPECT_THAT(queues_to_text(cluster_queue_rows(world.controller), true, {}),
              HasSubstr(R"(FlavorNotFound: ClusterQueue "broken": there is no ResourceFlavor "nowhere")"));
  EXPECT_EQ("\n" + queues_to_text(local_queue_rows(world.controller, "ns"), false, {}), R"(
NAMESPACE  LOCAL QUEUE  QUEUE  PENDING  ADMITTED  ACTIVE
ns         a            a            1         2  yes
)");
}

TEST(QueueRows, ShowWorkloadsWithTheirStateAndTheReasonInAWord) {
  kueue::QueueWorld world;
  three_teams(world);
  const auto rows = workload_rows(world.controller, world.cluster, "ns", true);
  EXPECT_EQ("\n" + workloads_to_text(rows, false, 0, {}), R"(
NAMESPACE  WORKLOAD  JOB  QUEUE  PRIORITY  STATE     REASON         WHERE    AGE
ns         first     -    a             0  Admitted  -              default    -
ns         second    -    a             0  Admitted  -              default    -
ns         third     -    a             0  Pending   QuotaExceeded  -          -
)");
  EXPECT_THAT(workloads_to_text(rows, true, 0, {}), HasSubstr("QuotaExceeded: Cohort \"all\" has 1 of 8 cpu left"));
  EXPECT_EQ(workload_rows(world.controller, world.cluster, "", true).size(), 4U);
}

TEST(QueueRows, AreColouredOnlyWhereThatIsWanted) {
  kueue::QueueWorld world;
  three_teams(world);
  const auto rows = cluster_queue_rows(world.controller);
  EXPECT_THAT(queues_to_text(rows, false, {.color = true}), HasSubstr("\x1b["));
  EXPECT_THAT(queues_to_text(rows, false, {}), Not(HasSubstr("\x1b")));
}

TEST(QueueRows, AreValuesToo) {
  kueue::QueueWorld world;
  three_teams(world);
  const std::string queues = queues_to_json(cluster_queue_rows(world.controller)).to_json(false);
  EXPECT_THAT(queues, HasSubstr(R"({"name":"a","cohort":"all","active":true,"reason":"Ready")"));
  EXPECT_THAT(queues, HasSubstr(R"({"name":"cpu","used":"6","nominal":"4","borrowed":"2"})"));
  const std::string workloads =
      workloads_to_json(workload_rows(world.controller, world.cluster, "other", true)).to_json(false);
  EXPECT_THAT(workloads, HasSubstr(R"("name":"far","queue":"b","clusterQueue":"b","state":"Admitted")"));
}

TEST(QueueRows, TellAgesInOneUnit) {
  EXPECT_EQ(age_text(-5), "0s");
  EXPECT_EQ(age_text(119), "119s");
  EXPECT_EQ(age_text(120), "2m");
  EXPECT_EQ(age_text(7'200), "2h");
  EXPECT_EQ(age_text(172'800), "2d");
}

}  // namespace
}  // namespace gantree::view
