#include "base/duration.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsWhatGoWrites) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration(".5s"), 500ms);
  EXPECT_EQ(parse_duration("3us"), 3us);
  EXPECT_EQ(parse_duration("0"), 0s);
  EXPECT_EQ(parse_duration("-1m"), -1min);
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text :
       {"", "-", "10", "s", ".s", "1d", "1h 30m", "one hour", "9999999999999h", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gantree
