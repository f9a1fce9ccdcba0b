// How properties draw their instances, so that a failure shrinks to a small one.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/instance_text.h"
#include "support/random_instance.h"
#include "support/world.h"

namespace gantree::test {

[[nodiscard]] inline Choices draw_choices() {
  return Choices(*rc::gen::resize(600, rc::gen::arbitrary<std::vector<std::uint16_t>>()));
}

inline constexpr Scale kPropertyScale{.max_hosts = 24, .max_pods = 24, .max_upper_levels = 4, .max_gpus = 8};

[[nodiscard]] inline Family draw_family(Choices& choices) {
  return choices.of(std::vector<Family>(kFamilies.begin(), kFamilies.end()));
}

// A cluster and some gangs of any family; what was drawn is printed on failure.
[[nodiscard]] inline Instance draw_instance(Choices& choices, const Scale& scale = kPropertyScale) {
  Instance instance = random_instance(choices, draw_family(choices), scale);
  RC_LOG() << to_text(instance);
  return instance;
}

// An answer by names, so that answers of two worlds can be compared.
struct Answer {
  bool placed = false;
  std::map<std::string, NamedShares> shares;  // by pod set
  std::map<std::string, int> counts;
  Refusal refusal = Refusal::kBusy;
  std::string message;
  friend bool operator==(const Answer&, const Answer&) = default;
};

[[nodiscard]] inline Answer answer_of(const World& world, const Gang& gang, const Outcome& outcome) {
  Answer answer;
  answer.placed = outcome.placement.has_value();
  if (!answer.placed) {
    answer.refusal = outcome.refusal;
    answer.message = outcome.message;
    return answer;
  }
  const auto named = world.named(*outcome.placement);
  const auto sets = pod_sets(gang.root);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    answer.shares[sets[s]->name] = named.at(s);
    answer.counts[sets[s]->name] = outcome.counts.at(s);
  }
  return answer;
}

[[nodiscard]] inline Answer ask(World& world, const GangSpec& spec) {
  const Gang gang = world.gang(spec);
  return answer_of(world, gang, world.engine().place(gang));
}

// Places a gang and books it.
inline Answer ask_and_take(World& world, const GangSpec& spec) {
  const Gang gang = world.gang(spec);
  const Outcome outcome = world.engine().place(gang);
  if (outcome.placement) {
    world.engine().take(gang, *outcome.placement);
  }
  return answer_of(world, gang, outcome);
}

inline std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  if (!answer.placed) {
    return out << "refused " << static_cast<int>(answer.refusal) << ": " << answer.message;
  }
  for (const auto& [name, shares] : answer.shares) {
    out << name << ":";
    for (const auto& [host, count] : shares) {
      out << " " << host << "=" << count;
    }
    out << "; ";
  }
  return out;
}

}  // namespace gantree::test
