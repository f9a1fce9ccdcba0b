#include "apiserver/selector.h"

#include <gtest/gtest.h>

namespace gantree::apiserver {
namespace {

bool selects(std::string_view selector, const Pairs& labels) {
  const auto parsed = LabelSelector::parse(selector);
  EXPECT_TRUE(parsed) << selector;
  return parsed && parsed->matches(labels);
}

TEST(LabelSelector, KnowsAllOperators) {
  const Pairs labels{{"a", "1"}, {"b", "x"}};
  for (const char* selector : {"", "a=1", "a==1", "b!=y", "c!=1", "a in (1, 2)", "a notin (2)", "c notin (1)", "a",
                               "!c", "a>0", "a<2", "a=1,b=x,!c"}) {
    EXPECT_TRUE(selects(selector, labels)) << selector;
  }
  for (const char* selector : {"a=2", "a!=1", "a in (2)", "c in (1)", "!a", "c", "a>1", "b>0", "a=1,b=y"}) {
    EXPECT_FALSE(selects(selector, labels)) << selector;
  }
}

TEST(LabelSelector, RefusesWhatIsNone) {
  for (const char* selector : {"a=b c", "=a", "a in b", "a,,b", "a in (b c)"}) {
    EXPECT_FALSE(LabelSelector::parse(selector)) << selector;
  }
}

TEST(LabelSelector, RefusesWhatCanBeNoLabel) {
  for (const char* selector : {"a=-", "a=b/c", "a in (b,-c)", "-a", "a/b/c=d", "a>x", "a<"}) {
    EXPECT_FALSE(LabelSelector::parse(selector)) << selector;
  }
  EXPECT_TRUE(LabelSelector::parse("example.com/a="));
}

TEST(LabelSelector, OfAnObjectSelectsNothingWhereItIsNull) {
  const Value empty = Object();
  EXPECT_TRUE(LabelSelector::from_object(&empty)->matches({}));
  EXPECT_FALSE(LabelSelector::from_object(nullptr)->matches({}));
  const Value selector =
      *parse_json(R"({"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"Exists"}]})");
  EXPECT_TRUE(LabelSelector::from_object(&selector)->matches({{"a", "1"}, {"b", ""}}));
  EXPECT_FALSE(LabelSelector::from_object(&selector)->matches({{"a", "1"}}));
}

TEST(FieldSelector, ReadsTermsWithTheirSigns) {
  const auto selector = FieldSelector::parse("metadata.name=a,status.phase!=Running,x==y\\,z");
  ASSERT_TRUE(selector);
  ASSERT_EQ(selector->terms().size(), 3U);
  EXPECT_EQ(*selector->exact("metadata.name"), "a");
  EXPECT_FALSE(selector->terms()[1].equal);
  EXPECT_EQ(selector->terms()[2].value, "y,z");
  EXPECT_FALSE(FieldSelector::parse("nothing"));
}

}  // namespace
}  // namespace gantree::apiserver
