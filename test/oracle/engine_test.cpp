// The engine against exact solvers on random instances.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "oracle/judge.h"
#include "oracle/rounds.h"
#include "support/instance_text.h"
#include "support/shrink.h"

namespace gantree::oracle {
namespace {

using test::Choices;
using test::Family;
using test::Scale;

// What kind of fault, without the names in it: shrinking must not end up with another.
std::string kind_of(const std::optional<std::string>& fault) {
  const std::string text = fault.value_or("");
  const auto begin = text.find(": ");
  return begin == std::string::npos ? "" : text.substr(begin, 12);
}

void expect_exact_answers(Family family, const Scale& scale, int rounds, const Solver& solver) {
  int asked = 0;
  int undecided = 0;
  for (const std::uint64_t seed : seeds(family, rounds)) {
    Choices choices(seed);
    const Instance instance = test::random_instance(choices, family, scale);
    const Verdict verdict = judge(instance, solver);
    asked += verdict.placed + verdict.refused;
    undecided += verdict.undecided;
    if (verdict.fault) {
      const Instance small = test::shrink(
          instance, [&](const Instance& i) { return kind_of(judge(i, solver).fault) == kind_of(verdict.fault); });
      FAIL() << fmt::format("seed {}: {}\n{}\nsmaller: {}\n{}", seed, *verdict.fault, to_text(instance),
                            judge(small, solver).fault.value_or("gone"), to_text(small));
    }
  }
  EXPECT_LE(undecided, asked / 50) << "the solver decides too little for a proof";
}

class Exact : public ::testing::TestWithParam<Family> {};

// Several pod sets have many more ways to be placed: fewer hosts, so that the solvers keep up.
bool has_several_sets(Family family) {
  return family == Family::kGroup || family == Family::kIndependent || family == Family::kNested ||
         family == Family::kMixed;
}

TEST_P(Exact, OnSmallInstancesEveryAnswerIsTheBestOfAllThereAre) {
  const Scale one{.max_hosts = 8, .max_pods = 10, .max_upper_levels = 3, .max_gpus = 4};
  const Scale several{.max_hosts = 6, .max_pods = 8, .max_upper_levels = 3, .max_gpus = 4};
  expect_exact_answers(GetParam(), has_several_sets(GetParam()) ? several : one, 4000, trying());
}

TEST_P(Exact, OnLargerInstancesEveryAnswerIsTheSolversOptimum) {
  const Scale one{.max_hosts = 40, .max_pods = 60, .max_upper_levels = 4, .max_gpus = 8};
  const Scale several{.max_hosts = 12, .max_pods = 45, .max_upper_levels = 3, .max_gpus = 8};
  expect_exact_answers(GetParam(), has_several_sets(GetParam()) ? several : one, 60, programming());
}

INSTANTIATE_TEST_SUITE_P(All, Exact, ::testing::ValuesIn(test::kFamilies),
                         [](const auto& family) { return to_string(family.param); });

}  // namespace
}  // namespace gantree::oracle
