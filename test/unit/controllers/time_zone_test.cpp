#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "controllers/cron_schedule.h"
#include "controllers/time_zone.h"
#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

std::string number(std::int64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) {
    out += static_cast<char>(value >> (8 * i) & 255);
  }
  return out;
}

// A file of the second version: an empty first part, then transitions between two kinds of time.
std::string zone_file(const std::vector<std::int64_t>& transitions, const std::string& footer) {
  const auto header = [](std::size_t times, std::size_t types) {
    return "TZif2" + std::string(15, '\0') + number(0, 4) + number(0, 4) + number(0, 4) +
           number(static_cast<std::int64_t>(times), 4) + number(static_cast<std::int64_t>(types), 4) + number(4, 4);
  };
  std::string file = header(0, 1) + std::string(6, '\0') + std::string("UTC\0", 4);
  file += header(transitions.size(), 2);
  for (const std::int64_t moment : transitions) {
    file += number(moment, 8);
  }
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    file += static_cast<char>(i % 2 == 0 ? 1 : 0);
  }
  file += number(-1800, 4) + std::string(2, '\0');
  file += number(7200, 4) + std::string(2, '\0');
  file += std::string("ABC\0", 4) + "\n" + footer + "\n";
  return file;
}

std::int64_t at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  using namespace std::chrono;
  const sys_days date = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return std::chrono::duration_cast<seconds>((date + hours(hour) + minutes(minute)).time_since_epoch()).count();
}

TEST(ZoneRule, KnowsSummerTimeOfTheNorth) {
  const auto rule = ZoneRule::parse(kBerlin);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->offset(1'768'435'200), 3600);  // January 2026
  EXPECT_EQ(rule->offset(1'784'073'600), 7200);  // July 2026
  EXPECT_EQ(rule->offset(1'774'745'999), 3600);  // the last second before 29 March 2026, 1:00 UTC
  EXPECT_EQ(rule->offset(1'774'746'000), 7200);
  EXPECT_EQ(rule->offset(1'792'889'999), 7200);  // 25 October 2026, 1:00 UTC
  EXPECT_EQ(rule->offset(1'792'890'000), 3600);
}

TEST(ZoneRule, KnowsSummerTimeOfTheSouthAndZonesWithout) {
  const auto sydney = ZoneRule::parse("AEST-10AEDT,M10.1.0,M4.1.0/3");
  ASSERT_TRUE(sydney);
  EXPECT_EQ(sydney->offset(1'768'435'200), 39'600);
  EXPECT_EQ(sydney->offset(1'784'073'600), 36'000);
  const auto india = ZoneRule::parse("IST-5:30");
  ASSERT_TRUE(india);
  EXPECT_EQ(india->offset(0), 19'800);
  const auto named = ZoneRule::parse("<-03>3");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->offset(0), -10'800);
}

TEST(ZoneRule, RefusesWhatItCannotRead) {
  for (const char* text : {"", "X", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "<+03",
                           "CET-1CEST,M3.5.0,M10.5.0/"}) {
    EXPECT_FALSE(ZoneRule::parse(text)) << text;
  }
}

TEST(TimeZone, GoesByItsTransitionsThenByItsRule) {
  const auto zone = TimeZone::parse(zone_file({1000, 2000, 3000}, kBerlin));
  ASSERT_TRUE(zone) << zone.error().message;
  EXPECT_EQ(zone->offset(-5), -1800);
  EXPECT_EQ(zone->offset(1000), 7200);
  EXPECT_EQ(zone->offset(2999), -1800);
  EXPECT_EQ(zone->offset(1'784'073'600), 7200);
  EXPECT_EQ(zone->offset(1'768'435'200), 3600);
  const auto without = TimeZone::parse(zone_file({1000}, ""));
  ASSERT_TRUE(without);
  EXPECT_EQ(without->offset(1'768'435'200), 7200);
}

TEST(TimeZone, RefusesEveryFileThatEndsTooEarly) {
  const std::string file = zone_file({1000, 2000}, kBerlin);
  const std::size_t data = file.size() - std::string(kBerlin).size() - 2;
  for (std::size_t length = 0; length < data; ++length) {
    EXPECT_FALSE(TimeZone::parse(std::string_view(file).substr(0, length))) << length;
  }
  EXPECT_FALSE(TimeZone::parse(zone_file({2000, 1000}, kBerlin)));
}

TEST(TimeZones, AreFoundByNameInsideTheirFolder) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("zones-{}", ::getpid());
  std::filesystem::create_directories(folder / "Europe");
  std::ofstream(folder / "Europe" / "Berlin", std::ios::binary) << zone_file({}, kBerlin);
  std::ofstream(folder / "secret") << "no zone";
  TimeZones zones((folder / "Europe").string());
  EXPECT_NE(zones.find("Berlin"), nullptr);
  EXPECT_EQ(zones.find("Berlin"), zones.find("Berlin"));
  for (const char* name : {"", "Paris", "../secret", "/etc/passwd", "."}) {
    EXPECT_EQ(zones.find(name), nullptr) << name;
  }
  std::filesystem::remove_all(folder);
}

TEST(CronSchedule, GoesByTheClockOfItsZone) {
  const auto zone = TimeZone::parse(zone_file({}, kBerlin));
  ASSERT_TRUE(zone);
  const auto nine = CronSchedule::parse("0 9 * * *");
  ASSERT_TRUE(nine);
  EXPECT_EQ(nine->next(at(2026, 1, 15), &*zone), at(2026, 1, 15, 8));
  EXPECT_EQ(nine->next(at(2026, 7, 15), &*zone), at(2026, 7, 15, 7));
  const auto night = CronSchedule::parse("30 2 * * *");
  ASSERT_TRUE(night);
  // 2:30 does not exist on 29 March 2026, and comes twice on 25 October.
  EXPECT_EQ(night->next(at(2026, 3, 28, 12), &*zone), at(2026, 3, 30, 0, 30));
  EXPECT_EQ(night->next(at(2026, 10, 24, 12), &*zone), at(2026, 10, 25, 0, 30));
  EXPECT_EQ(night->next(at(2026, 10, 25, 0, 30), &*zone), at(2026, 10, 25, 1, 30));
  // The day is the local one.
  const auto first = CronSchedule::parse("30 0 1 * *");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->next(at(2026, 1, 15), &*zone), at(2026, 1, 31, 23, 30));
}

TEST(CronJobs, TellOfAZoneThatNobodyKnows) {
  FakeCluster cluster;
  cluster.add(Kind::kCronJob,
              "{'metadata':{'name':'c'},'spec':{'schedule':'* * * * *','timeZone':'Nowhere/Land','jobTemplate':{}}}");
  cluster.pass(std::chrono::minutes(3));
  EXPECT_EQ(cluster.count(Kind::kJob), 0U);
  EXPECT_EQ(text_at(cluster.objects(Kind::kEvent).begin()->second, {"reason"}), "UnknownTimeZone");
}

}  // namespace
}  // namespace gantree::controllers
