#include "controllers/shapes.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "controllers/cron_schedule.h"
#include "controllers/definitions.h"

namespace gantree::controllers {
namespace {

using apiserver::text_at;
using testing::HasSubstr;

TEST(Shapes, ReadsCountsOfEach) {
  const auto shape = parse_shape("zones=2,blocks=3,racks=4,hosts=5,gpus=6");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_count(), 120);
  EXPECT_EQ(shape->gpus, 6);
}

TEST(Shapes, ChangesAPreset) {
  const auto shape = parse_shape("nvl72, blocks=1");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->host_count(), 8 * 18);
  EXPECT_EQ(shape->hosts * shape->gpus, 72);
}

TEST(Shapes, SaysWhatIsWrongAndWhatThereIs) {
  for (const auto& [text, says] :
       {std::pair("racks=0", "racks of each block is a number from 1"),
        std::pair("rows=4", "there is no \"rows\" (there is zones, blocks"), std::pair("dgx", "presets: demo, small"),
        std::pair("blocks=2,small", "must come first"), std::pair("memory=much", "no amount such as 2Ti"),
        std::pair("", "is empty"), std::pair("blocks=100000,racks=100000,hosts=100000", "more than 200000 hosts"),
        std::pair("blocks=x", "is a number")}) {
    const auto shape = parse_shape(text);
    ASSERT_FALSE(shape) << text;
    EXPECT_THAT(shape.error().message, HasSubstr(says));
  }
}

TEST(Shapes, EveryHostHasItsOwnNameAndAddressAndItsPlaceAsLabels) {
  const auto shape = parse_shape("zones=2,blocks=2,racks=3,hosts=4");
  ASSERT_TRUE(shape);
  std::set<std::string> names;
  std::set<std::string> addresses;
  for (std::int64_t i = 0; i < shape->host_count(); ++i) {
    const apiserver::Object host = make_host(*shape, i, Time());
    names.emplace(text_at(host, {"metadata", "name"}));
    addresses.emplace(text_at((*apiserver::array_at(host, {"status", "addresses"}))[0], {"address"}));
    EXPECT_EQ(text_at(host, {"metadata", "labels", "kubernetes.io/hostname"}), text_at(host, {"metadata", "name"}));
    EXPECT_FALSE(text_at(host, {"metadata", "labels", "cloud.provider.com/topology-rack"}).empty());
  }
  EXPECT_EQ(names.size(), 48U);
  EXPECT_EQ(addresses.size(), 48U);
}

TEST(Shapes, TheirNetworkIsToldInEveryFamilysWords) {
  for (const Preset& preset : presets()) {
    const auto topologies = make_topologies(preset.shape);
    ASSERT_EQ(topologies.size(), 3U);
    EXPECT_EQ(apiserver::array_at(topologies[0], {"spec", "levels"})->size(), 3U) << preset.name;
    EXPECT_EQ(apiserver::array_at(topologies[1], {"spec", "networkTopologySpec"})->size(), 3U);
    const apiserver::Array* kai = apiserver::array_at(topologies[2], {"spec", "levels"});
    ASSERT_EQ(kai->size(), 3U);
    EXPECT_EQ(apiserver::text_at((*kai)[1], {"alias"}), "rack");
    EXPECT_EQ(apiserver::text_at((*kai)[2], {"nodeLabel"}), "kubernetes.io/hostname");
  }
}

TEST(Definitions, AreOfTheKindsThatNoServerHas) {
  const auto all = workload_definitions();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text_at(all[0], {"metadata", "name"}), "jobsets.jobset.x-k8s.io");
  EXPECT_EQ(text_at(all[1], {"metadata", "name"}), "leaderworkersets.leaderworkerset.x-k8s.io");
}

TEST(CronSchedule, FindsTheNextMoment) {
  constexpr std::int64_t kStart = 1'798'761'600;  // 2027-01-01T00:00:00Z, a Friday
  const auto next = [&](std::string_view text) {
    const auto schedule = CronSchedule::parse(text);
    return schedule ? schedule->next(kStart).value_or(-1) - kStart : -1;
  };
  EXPECT_EQ(next("*/15 * * * *"), 15 * 60);
  EXPECT_EQ(next("@hourly"), 3600);
  EXPECT_EQ(next("30 4 * * *"), 4 * 3600 + 1800);
  EXPECT_EQ(next("0 0 * * MON"), 3 * 86400);
  EXPECT_EQ(next("0 12 3 1 *"), 2 * 86400 + 12 * 3600);
  EXPECT_EQ(next("0 0 30 2 *"), -1 - kStart);
  for (const std::string_view bad : {"", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "a b c d e"}) {
    EXPECT_FALSE(CronSchedule::parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace gantree::controllers
