#include "base/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace gantree {
namespace {

TEST(Base64, WritesTheExamplesOfTheStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, ReadsTextInLinesAndWithoutPadding) {
  EXPECT_EQ(from_base64("Zm9v\nYmFy\n"), "foobar");
  EXPECT_EQ(from_base64("Zm8"), "fo");
  EXPECT_EQ(from_base64("+/8="), "\xfb\xff");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zm9v!", "Zg=", "Zg===", "Z=g=", "Zm-_", "===="}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Base64, WhatIsWrittenReadsBack, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

}  // namespace
}  // namespace gantree
