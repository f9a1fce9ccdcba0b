#include "json/equal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "json/read.h"

namespace gantree::json {
namespace {

bool same(const std::string& a, const std::string& b) {
  const auto first = read_documents("a", a);
  const auto second = read_documents("b", b);
  return equal(first->front().root(), second->front().root());
}

TEST(Equal, LooksAtWhatIsSaidNotAtItsOrder) {
  EXPECT_TRUE(same("{a: 1, b: [x, {c: null}]}", "{b: [x, {c: null}], a: 1}"));
  EXPECT_TRUE(equal(Value(), Value()));
}

TEST(Equal, TakesNoLongerWhereManyMembersComeInAnotherOrder) {
  constexpr int kMembers = 100'000;
  std::string up = "{";
  std::string down = "{";
  for (int i = 0; i < kMembers; ++i) {
    up += "\"" + std::to_string(i) + "\":1,";
    down += "\"" + std::to_string(kMembers - 1 - i) + "\":1,";
  }
  up.back() = '}';
  down.back() = '}';
  const auto first = read_documents("a", up);
  const auto second = read_documents("b", down);
  ASSERT_TRUE(first && second);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(equal(first->front().root(), second->front().root()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << "it took 20 s when it was quadratic";
}

TEST(Equal, TellsValuesApart) {
  EXPECT_FALSE(same("{a: 1}", "{a: 2}"));
  EXPECT_FALSE(same("{a: 1}", "{a: \"1\"}"));
  EXPECT_FALSE(same("{a: 1}", "{a: 1, b: 1}"));
  EXPECT_FALSE(same("{a: 1, c: 1}", "{a: 1, b: 1}"));
  EXPECT_FALSE(same("[1, 2]", "[2, 1]"));
  EXPECT_FALSE(same("[1]", "[1, 1]"));
}

}  // namespace
}  // namespace gantree::json
