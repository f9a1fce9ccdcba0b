#include "view/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gantree::view {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Keys, ThatComeTogetherAreAllTaken) {
  KeyReader keys;
  EXPECT_THAT(keys.take("jj"), ElementsAre(Key::kDown, Key::kDown));
  EXPECT_THAT(keys.take("\x1b[B\x1b[B\x1b[A"), ElementsAre(Key::kDown, Key::kDown, Key::kUp));
  EXPECT_THAT(keys.take("g\x1b[6~xq"), ElementsAre(Key::kTop, Key::kPageDown, Key::kOther, Key::kQuit));
}

TEST(Keys, OfATerminalInApplicationCursorModeMeanTheSame) {
  KeyReader keys;
  EXPECT_THAT(keys.take("\x1bOA\x1bOB\x1bOH\x1bOF"), ElementsAre(Key::kUp, Key::kDown, Key::kTop, Key::kBottom));
}

TEST(Keys, ThatComeInPartsAreTakenWhenTheyAreWhole) {
  KeyReader keys;
  EXPECT_THAT(keys.take("j\x1b"), ElementsAre(Key::kDown));
  EXPECT_THAT(keys.take("["), IsEmpty());
  EXPECT_THAT(keys.take("5"), IsEmpty());
  EXPECT_THAT(keys.take("~k"), ElementsAre(Key::kPageUp, Key::kUp));
}

TEST(Keys, TheEscapeKeyQuitsOnceItIsClearThatNothingFollows) {
  KeyReader keys;
  EXPECT_THAT(keys.take("\x1b"), IsEmpty());
  EXPECT_THAT(keys.settle(), ElementsAre(Key::kQuit));
  EXPECT_THAT(keys.settle(), IsEmpty());
  EXPECT_THAT(keys.take("\x1b\x1b"), ElementsAre(Key::kQuit));
}

TEST(Keys, OfNoMeaningHereAreSwallowedWhole) {
  KeyReader keys;
  EXPECT_THAT(keys.take("\x1b[1;5Aj"), ElementsAre(Key::kOther, Key::kDown)) << "Ctrl and an arrow";
  EXPECT_THAT(keys.take("\x1bqj"), ElementsAre(Key::kOther, Key::kDown)) << "Alt and q";
  EXPECT_THAT(keys.take("\x1b["), IsEmpty());
  EXPECT_THAT(keys.settle(), IsEmpty());
  EXPECT_THAT(keys.take("j"), ElementsAre(Key::kDown));
}

TEST(Keys, ASequenceWithoutAnEndIsGivenUp) {
  KeyReader keys;
  EXPECT_THAT(keys.take("\x1b[" + std::string(15, '1')), ElementsAre(Key::kOther, Key::kOther)) << "after 16 bytes";
  EXPECT_THAT(keys.take("q"), ElementsAre(Key::kQuit));
}

}  // namespace
}  // namespace gantree::view
