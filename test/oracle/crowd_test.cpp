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

// What holds where the environment says nothing else.
struct Usual {
  int rounds = 0;
  int seconds = 0;
  test::CrowdScale scale;
};

void hold_against_an_integer_program(Crowd crowd, const Usual& usual) {
  const int rounds = number("GANTREE_CROWD_ROUNDS", usual.rounds);
  const int first = number("GANTREE_CROWD_FIRST", 0);
  const double seconds = number("GANTREE_CROWD_SECONDS", usual.seconds);
  const test::CrowdScale scale{.max_hosts = number("GANTREE_CROWD_HOSTS", usual.scale.max_hosts),
                               .max_groups = number("GANTREE_CROWD_GROUPS", usual.scale.max_groups)};
  const bool show = number("GANTREE_CROWD_SHOW", 0) != 0;
  std::array<int, kFindings> findings{};
  int placed = 0;
  double excess = 0;
  double slowest = 0;
  for (int round = first; round < first + rounds; ++round) {
    Choices choices(static_cast<std::uint64_t>(crowd) * 1'000'000'000 + static_cast<std::uint64_t>(round));
    const Instance instance = test::random_crowd(choices, crowd, scale);
    const CrowdVerdict verdict = judge_crowd(instance, seconds);
    slowest = std::max(slowest, verdict.seconds);
    ++findings[static_cast<std::size_t>(verdict.finding)];
    placed += verdict.placed ? 1 : 0;
    excess += verdict.excess;
    if (show) {
      fmt::print("{} {} {:.3f} s: {} {}\n", to_string(crowd), round, verdict.seconds, to_string(verdict.finding),
                 verdict.detail);
      std::fflush(stdout);
    }
    const bool wrong = verdict.finding == Finding::kIllegal || verdict.finding == Finding::kMissed ||
                       verdict.finding == Finding::kWrongReason;
    if (wrong || (show && !verdict.detail.empty() && number("GANTREE_CROWD_DUMP", 0) != 0)) {
      fmt::print("{}\n", to_text(instance));
    }
    EXPECT_FALSE(wrong) << fmt::format("{} {}: {}", to_string(crowd), round, verdict.detail);
  }
  std::string summary;
  for (int f = 0; f < kFindings; ++f) {
    summary += fmt::format("{} {}, ", findings[static_cast<std::size_t>(f)], to_string(static_cast<Finding>(f)));
  }
  fmt::print("{}: {}{} placed, {:.2f} % more domains on average, slowest {:.3f} s\n", to_string(crowd), summary, placed,
             excess / std::max(1, placed), slowest);
}

TEST_P(Crowds, AreAnsweredAsAnIntegerProgramAnswersThem) {
  hold_against_an_integer_program(GetParam(),
                                  {.rounds = 12, .seconds = 5, .scale = {.max_hosts = 16, .max_groups = 16}});
}

TEST_P(Crowds, OfUpToFortyGroupsAreToo) {
  hold_against_an_integer_program(GetParam(),
                                  {.rounds = 4, .seconds = 2, .scale = {.max_hosts = 24, .max_groups = 40}});
}

INSTANTIATE_TEST_SUITE_P(All, Crowds, ::testing::ValuesIn(test::kCrowds),
                         [](const auto& crowd) { return to_string(crowd.param); });

}  // namespace
}  // namespace gantree::oracle
