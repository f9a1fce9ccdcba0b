// The two oracles must agree before they judge anybody else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "oracle/brute_force.h"
#include "oracle/milp.h"
#include "oracle/rounds.h"
#include "support/instance_text.h"
#include "support/random_instance.h"

namespace gantree::oracle {
namespace {

using test::Choices;
using test::Family;

class Solvers : public ::testing::TestWithParam<Family> {};

TEST_P(Solvers, AgreeOnWhatFitsAndOnTheBestScore) {
  for (const std::uint64_t seed : seeds(GetParam(), 40)) {
    Choices choices(seed);
    const Instance instance = test::random_instance(choices, GetParam(), {.max_hosts = 6, .max_pods = 8});
    for (const GangSpec& gang : instance.gangs) {
      const Problem problem = make_problem(instance, gang, {}, Moment::kNow);
      const auto tried = best_by_trying(problem);
      const auto solved = best_by_program(problem);
      SCOPED_TRACE(fmt::format("seed {}, gang {} of\n{}", seed, gang.name, to_text(instance)));
      ASSERT_TRUE(solved.proven);
      ASSERT_EQ(tried.has_value(), solved.solution.has_value());
      ASSERT_EQ(tried.has_value(), any_by_program(problem).solution.has_value());
      if (tried) {
        ASSERT_EQ(fault(problem, tried->assignment), std::nullopt);
        ASSERT_EQ(tried->score, solved.solution->score);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Solvers, ::testing::ValuesIn(test::kFamilies),
                         [](const auto& family) { return to_string(family.param); });

TEST(InstanceText, ReadsBackWhatItWrites) {
  for (const Family family : test::kFamilies) {
    for (const std::uint64_t seed : seeds(family, 20)) {
      Choices choices(seed);
      const std::string text = to_text(test::random_instance(choices, family, {}));
      ASSERT_EQ(to_text(test::parse_instance(text)), text);
    }
  }
}

}  // namespace
}  // namespace gantree::oracle
