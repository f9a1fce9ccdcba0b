#include "base/timestamp.h"

#include <gtest/gtest.h>

#include "base/time.h"

namespace gantree {
namespace {

TEST(ParseTime, ReadsWhatKubernetesWrites) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_time("2026-01-31T12:30:05Z"), 1769862605);
  EXPECT_EQ(parse_time("2024-02-29T23:59:59Z"), 1709251199);
}

TEST(ParseTime, ReadsOffsetsAndFractions) {
  EXPECT_EQ(parse_time("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(parse_time("1969-12-31T18:30:00-05:30"), 0);
  EXPECT_EQ(parse_time("1970-01-01T00:00:01.999999Z"), 1);
}

TEST(ParseTime, RefusesAllElse) {
  for (const char* text :
       {"", "yesterday", "2026-01-31", "2026-01-31T12:30:05", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:00ZZ", "2026-1-1T00:00:00Z",
        "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00+0100",
        "-026-01-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(MicroTime, HasSixDigitsBehindTheSeconds) {
  EXPECT_EQ(to_micro_time(WallTime{} + std::chrono::seconds(951'782'400) + std::chrono::microseconds(42)),
            "2000-02-29T00:00:00.000042Z");
}

TEST(Time, IsWrittenAlsoWhereTheClockHasEnded) {
  const auto text = [](std::string_view given) { return rfc3339(Time(std::chrono::seconds(*parse_time(given)))); };
  for (const std::string_view given :
       {"2026-01-31T12:34:56Z", "9999-12-31T23:59:59Z", "2568-04-12T01:59:44Z", "1969-12-31T23:59:59Z"}) {
    EXPECT_EQ(text(given), given);
  }
  EXPECT_EQ(rfc3339_micro(Time(std::chrono::milliseconds(1'234))), "1970-01-01T00:00:01.234000Z");
}

}  // namespace
}  // namespace gantree
