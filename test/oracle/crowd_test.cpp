// Gangs of many groups against an integer program.
//
// GANTREE_CROWD_ROUNDS: so many instances a crowd instead of the few of `make test`; GANTREE_CROWD_FIRST: the first
// seed; GANTREE_CROWD_HOSTS and GANTREE_CROWD_GROUPS: their size; GANTREE_CROWD_SECONDS: what the solver may take for
// one question; GANTREE_CROWD_SHOW=1 prints every finding.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "oracle/crowd_judge.h"
#include "support/instance_text.h"
#include "support/random_crowd.h"

namespace gantree::oracle {
namespace {

using test::Choices;
using test::Crowd;

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoi(text);
}

class Crowds : public ::testing::TestWithParam<Crowd> {};

TEST_P(Crowds, AreAnsweredAsAnIntegerProgramAnswersThem) {
  const int rounds = number("GANTREE_CROWD_ROUNDS", 12);
  const int first = number("GANTREE_CROWD_FIRST", 0);
  const double seconds = number("GANTREE_CROWD_SECONDS", 5);
  const test::CrowdScale scale{.max_hosts = number("GANTREE_CROWD_HOSTS", 16),
                               .max_groups = number("GANTREE_CROWD_GROUPS", 16)};
  const bool show = number("GANTREE_CROWD_SHOW", 0) != 0;
  std::array<int, kFindings> findings{};
  int placed = 0;
  double excess = 0;
  double slowest = 0;
  for (int round = first; round < first + rounds; ++round) {
    Choices choices(static_cast<std::uint64_t>(GetParam()) * 1'000'000'000 + static_cast<std::uint64_t>(round));
    const Instance instance = test::random_crowd(choices, GetParam(), scale);
    const CrowdVerdict verdict = judge_crowd(instance, seconds);
    slowest = std::max(slowest, verdict.seconds);
    ++findings[static_cast<std::size_t>(verdict.finding)];
    placed += verdict.placed ? 1 : 0;
    excess += verdict.excess;
    if (show) {
      fmt::print("{} {} {:.3f} s: {} {}\n", to_string(GetParam()), round, verdict.seconds, to_string(verdict.finding),
                 verdict.detail);
      std::fflush(stdout);
    }
    const bool wrong = verdict.finding == Finding::kIllegal || verdict.finding == Finding::kMissed ||
                       verdict.finding == Finding::kWrongReason;
    if (wrong || (show && !verdict.detail.empty() && number("GANTREE_CROWD_DUMP", 0) != 0)) {
      fmt::print("{}\n", to_text(instance));
    }
    EXPECT_FALSE(wrong) << fmt::format("{} {}: {}", to_string(GetParam()), round, verdict.detail);
  }
  std::string summary;
  for (int f = 0; f < kFindings; ++f) {
    summary += fmt::format("{} {}, ", findings[static_cast<std::size_t>(f)], to_string(static_cast<Finding>(f)));
  }
  fmt::print("{}: {}{} placed, {:.2f} % more domains on average, slowest {:.3f} s\n", to_string(GetParam()), summary,
             placed, excess / std::max(1, placed), slowest);
}

INSTANTIATE_TEST_SUITE_P(All, Crowds, ::testing::ValuesIn(test::kCrowds),
                         [](const auto& crowd) { return to_string(crowd.param); });

}  // namespace
}  // namespace gantree::oracle
