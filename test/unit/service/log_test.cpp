#include "service/log.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

constexpr Time kNow{std::chrono::milliseconds(1'700'000'000'123)};

TEST(Log, WritesTextThatPeopleRead) {
  EXPECT_EQ(log_line(LogFormat::kText, LogLevel::kInfo, kNow, "placed", {{"pods", "64"}, {"what", "two words"}}),
            "2023-11-14T22:13:20.123000Z INFO  placed pods=64 what=\"two words\"\n");
}

TEST(Log, WritesJsonThatMachinesRead) {
  EXPECT_EQ(
      log_line(LogFormat::kJson, LogLevel::kWarning, kNow, "a \"word\"\n", {{"pods", "64"}}),
      "{\"time\":\"2023-11-14T22:13:20.123000Z\",\"level\":\"warning\",\"message\":\"a \\\"word\\\"\\n\",\"pods\":"
      "\"64\"}\n");
}

TEST(Log, KeepsAnEntryOnOneLineWhateverItHolds) {
  const std::string line = log_line(LogFormat::kText, LogLevel::kError, kNow, "failed", {{"what", "a\nb"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace gantree
