#include "json/equal.h"

#include <gtest/gtest.h>

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
