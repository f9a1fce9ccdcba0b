#include "base/interner.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

TEST(Interner, KeepsOnlySoManyOfThoseThatAreAskedFor) {
  Interner strings;
  strings.limit_asked(2);
  const StringId known = strings.intern("known");
  const StringId first = strings.intern_asked("first");
  EXPECT_EQ(strings.intern_asked("known"), known) << "which takes nothing away";
  const StringId second = strings.intern_asked("second");
  EXPECT_NE(first, second);
  const StringId third = strings.intern_asked("third");
  EXPECT_EQ(strings.text(third), Interner::kTooMany);
  EXPECT_EQ(strings.intern_asked("fourth"), third);
  EXPECT_EQ(strings.size(), 4U);
  EXPECT_EQ(strings.text(strings.intern_asked("second")), "second");
  EXPECT_EQ(strings.text(strings.intern("third")), "third") << "of a node";
  EXPECT_EQ(strings.text(strings.intern_asked("third")), "third") << "which pods may ask for from then on";
}

TEST(Interner, KeepsAllUnlessItIsToldOtherwise) {
  Interner strings;
  EXPECT_NE(strings.intern_asked("a"), strings.intern_asked("b"));
}

}  // namespace
}  // namespace gantree
