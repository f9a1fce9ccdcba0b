#include "http/outcome.h"

#include <gtest/gtest.h>

namespace gantree::http {
namespace {

// The numbers are libcurl's, which are part of its interface.
TEST(OutcomeOf, WhatFailsWhileConnectingWasNotSent) {
  for (const int code : {5, 6, 7, 35, 58, 60, 77, 97}) {
    EXPECT_EQ(outcome_of(code, true), Outcome::Kind::kNotSent) << code;
  }
}

TEST(OutcomeOf, WhatFailsLaterMayHaveBeenExecuted) {
  for (const int code : {16, 18, 28, 52, 55, 56, 92}) {
    EXPECT_EQ(outcome_of(code, true), Outcome::Kind::kUnknown) << code;
  }
}

TEST(OutcomeOf, ATimeoutBeforeTheRequestBeganIsHarmless) {
  EXPECT_EQ(outcome_of(28, false), Outcome::Kind::kNotSent);
}

}  // namespace
}  // namespace gantree::http
