#include "base/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace gantree {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::int64_t ones(std::string_view text) {
  const auto up = parse_quantity(text, Unit::kOne, Round::kUp);
  EXPECT_TRUE(up) << text;
  return up.value_or(-1);
}
std::int64_t ones_down(std::string_view text) {
  const auto down = parse_quantity(text, Unit::kOne, Round::kDown);
  EXPECT_TRUE(down) << text;
  return down.value_or(-1);
}
std::int64_t milli(std::string_view text) {
  const auto up = parse_quantity(text, Unit::kMilli, Round::kUp);
  EXPECT_TRUE(up) << text;
  return up.value_or(-1);
}
std::string problem(std::string_view text) {
  const auto result = parse_quantity(text, Unit::kOne, Round::kUp);
  return result ? "no error" : result.error().message;
}

TEST(Quantity, ReadsEverySuffix) {
  EXPECT_EQ(ones("8"), 8);
  EXPECT_EQ(milli("100m"), 100);
  EXPECT_EQ(milli("5000000n"), 5);
  EXPECT_EQ(milli("5000u"), 5);
  EXPECT_EQ(ones("2k"), 2'000);
  EXPECT_EQ(ones("2M"), 2'000'000);
  EXPECT_EQ(ones("2G"), 2'000'000'000);
  EXPECT_EQ(ones("2T"), 2'000'000'000'000);
  EXPECT_EQ(ones("2P"), 2'000'000'000'000'000);
  EXPECT_EQ(ones("2E"), 2'000'000'000'000'000'000);
  EXPECT_EQ(ones("2Ki"), 2048);
  EXPECT_EQ(ones("2Mi"), 2LL << 20);
  EXPECT_EQ(ones("2Gi"), 2LL << 30);
  EXPECT_EQ(ones("2Ti"), 2LL << 40);
  EXPECT_EQ(ones("2Pi"), 2LL << 50);
  EXPECT_EQ(ones("2Ei"), 2LL << 60);
}

TEST(Quantity, ReadsSignsAndFractions) {
  EXPECT_EQ(ones("+3"), 3);
  EXPECT_EQ(ones("-3"), -3);
  EXPECT_EQ(milli(".5"), 500);
  EXPECT_EQ(ones("5."), 5);
  EXPECT_EQ(ones("1.5Gi"), 3LL << 29);
  EXPECT_EQ(milli("0.001"), 1);
  EXPECT_EQ(ones("000012"), 12);
  EXPECT_EQ(ones("12.000"), 12);
  EXPECT_EQ(ones("0"), 0);
  EXPECT_EQ(ones("-0.0Ei"), 0);
}

TEST(Quantity, AnEFollowedByDigitsIsAnExponentAndAloneItIsExa) {
  EXPECT_EQ(ones("1e3"), 1000);
  EXPECT_EQ(ones("1E3"), 1000);
  EXPECT_EQ(ones("1E+3"), 1000);
  EXPECT_EQ(ones("5000e-3"), 5);
  EXPECT_EQ(milli("12e-1"), 1200);
  EXPECT_EQ(ones("1E"), 1'000'000'000'000'000'000);
  EXPECT_EQ(ones("1Ei"), 1LL << 60);
  EXPECT_EQ(ones("0e999999999999"), 0);
}

TEST(Quantity, WhatIsFinerThanTheUnitIsRoundedUpOrDown) {
  EXPECT_EQ(ones("1500m"), 2);
  EXPECT_EQ(ones_down("1500m"), 1);
  EXPECT_EQ(ones("-1500m"), -1);
  EXPECT_EQ(ones_down("-1500m"), -2);
  EXPECT_EQ(milli("1n"), 1);
  EXPECT_EQ(ones("1e-999999999999"), 1);
  EXPECT_EQ(ones_down("1e-999999999999"), 0);
  EXPECT_EQ(ones_down("-1e-99"), -1);
  EXPECT_EQ(ones("-1e-99"), 0);
}

TEST(Quantity, IsExactUpToTheEdgesOfTheRange) {
  EXPECT_EQ(ones("9223372036854775807"), kMax);
  EXPECT_EQ(ones("-9223372036854775808"), kMin);
  EXPECT_EQ(ones("9223372036854775806.5"), kMax);
  EXPECT_EQ(ones_down("9223372036854775807.999999999999999999999999999"), kMax);
  EXPECT_EQ(milli("9223372036854775.807"), kMax);
  EXPECT_EQ(milli("9223372036854775807m"), kMax);
  EXPECT_EQ(ones_down("7.99999999999999999999999999999999999999999Ei"), kMax);
  EXPECT_EQ(ones("0.00000000000000000000000000000000000000000000000000001Ei"), 1);
  EXPECT_EQ(ones("9007199254740993"), 9007199254740993) << "a double would lose the last digit";
  EXPECT_EQ(ones("0.1Ei"), 115292150460684698) << "115292150460684697.6 rounded up";
}

TEST(Quantity, ValuesOutOfRangeAreErrorsAndNotCapped) {
  EXPECT_EQ(problem("9223372036854775808"), "the quantity \"9223372036854775808\" is out of range");
  for (const char* text :
       {"-9223372036854775809", "8Ei", "10E", "1e19", "1e400", "9223372036854775807.1", "1e999999999"}) {
    EXPECT_NE(problem(text).find("out of range"), std::string::npos) << text;
  }
  EXPECT_FALSE(parse_quantity("9223372036854775808m", Unit::kMilli, Round::kUp));
}

TEST(Quantity, BadSyntaxIsNamedInOneSentence) {
  EXPECT_EQ(problem("ten"), "\"ten\" is not a quantity");
  for (const char* text :
       {"",      " ",    "+",   "-",   ".",    "1 ",  " 1",   "1.2.3", "1K", "1ki", "1KI", "1mi", "1e",    "1e+",
        "1e1.5", "1Gib", "--1", "+-1", "0x10", "1,5", "1ee3", "1E3i",  "Gi", "e3",  "1\n", "½",   "1_000", "inf"}) {
    EXPECT_NE(problem(text).find("is not a quantity"), std::string::npos) << text;
  }
}

TEST(Quantity, AbsurdlyLongTextIsAnErrorThatStaysShort) {
  const std::string text(1'000'000, '1');
  EXPECT_LT(problem(text).size(), 200U);
  EXPECT_NE(problem(text).find("longer than"), std::string::npos);
}

TEST(Quantity, IsWrittenTheWayPeopleWriteIt) {
  EXPECT_EQ(format_quantity(1500, Unit::kMilli), "1500m");
  EXPECT_EQ(format_quantity(2000, Unit::kMilli), "2");
  EXPECT_EQ(format_quantity(-1500, Unit::kMilli), "-1500m");
  EXPECT_EQ(format_quantity(0, Unit::kMilli), "0");
  EXPECT_EQ(format_quantity(0, Unit::kOne), "0");
  EXPECT_EQ(format_quantity(8, Unit::kOne), "8");
  EXPECT_EQ(format_quantity(1000, Unit::kOne), "1000");
  EXPECT_EQ(format_quantity(4096, Unit::kOne), "4096");
  EXPECT_EQ(format_quantity(1LL << 20, Unit::kOne), "1Mi");
  EXPECT_EQ(format_quantity(1536LL << 20, Unit::kOne), "1536Mi");
  EXPECT_EQ(format_quantity(-(1LL << 40), Unit::kOne), "-1Ti");
  EXPECT_EQ(format_quantity(kMin, Unit::kOne), "-8Ei");
}

RC_GTEST_PROP(Quantity, WhatIsWrittenReadsBack, (std::int64_t amount)) {
  for (const Unit unit : {Unit::kOne, Unit::kMilli}) {
    for (const Round round : {Round::kUp, Round::kDown}) {
      RC_ASSERT(parse_quantity(format_quantity(amount, unit), unit, round).value() == amount);
    }
  }
}

RC_GTEST_PROP(Quantity, FractionsAreRoundedAsInWholeNumbers, ()) {
  const auto fraction = *rc::gen::inRange(0, 1'000'000);
  const auto whole = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  const auto binary = *rc::gen::inRange(0, 4);
  const std::string digits = std::to_string(1'000'000 + fraction).substr(1);
  const std::string text = std::to_string(whole) + "." + digits +
                           std::vector<std::string>{"", "Ki", "Mi", "Gi"}[static_cast<std::size_t>(binary)];
  const std::int64_t millionths = whole * 1'000'000 + fraction;
  const std::int64_t factor = std::int64_t{1} << (10 * binary);
  // In parts, so that nothing overflows.
  const std::int64_t rest = (millionths % 1'000'000) * factor;
  const std::int64_t down = millionths / 1'000'000 * factor + rest / 1'000'000;
  RC_ASSERT(ones_down(text) == down);
  RC_ASSERT(ones(text) == down + (rest % 1'000'000 == 0 ? 0 : 1));
  RC_ASSERT(ones("-" + text) == -down);
}

}  // namespace
}  // namespace gantree
