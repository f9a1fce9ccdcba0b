#include "oracle/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "oracle/brute_force.h"

namespace gantree::oracle {
namespace {

using Fault = std::optional<std::string>;

const char* to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::kBusy:
      return "busy";
    case Refusal::kTooLarge:
      return "too large";
    case Refusal::kSearchLimit:
      return "search limit";
  }
  return "?";
}

std::string describe(const Problem& problem, const Assignment& assignment) {
  std::string text;
  for (std::size_t s = 0; s < assignment.size(); ++s) {
    text += fmt::format("{}{}:", s == 0 ? "" : "; ", problem.pod_sets[s].name);
    for (std::size_t h = 0; h < problem.hosts.size(); ++h) {
      if (assignment[s][h] > 0) {
        text += fmt::format(" {}={}", problem.hosts[h], assignment[s][h]);
      }
    }
  }
  return text;
}

Problem with_counts(Problem problem, const std::vector<int>& counts) {
  for (std::size_t s = 0; s < counts.size(); ++s) {
    problem.pod_sets[s].count = counts[s];
  }
  return problem;
}

Problem at_minimum(Problem problem) {
  for (Problem::PodSet& set : problem.pod_sets) {
    set.count = set.min_count;
  }
  return problem;
}

// The questions about one gang.
class Hearing {
 public:
  Hearing(const Instance& instance, const GangSpec& gang, const std::vector<Booking>& booked, const Solver& solver,
          Verdict& verdict)
      : now_(make_problem(instance, gang, booked, Moment::kNow)),
        empty_(make_problem(instance, gang, booked, Moment::kEmpty)),
        solver_(solver),
        verdict_(verdict) {}

  Fault refused(const Outcome& outcome) {
    if (outcome.refusal == Refusal::kSearchLimit) {
      return "gave up at the search limit";
    }
    if (outcome.message.empty()) {
      return "refused without a message";
    }
    if (const auto fits = ask(solver_.any, at_minimum(now_)); fits.solution) {
      return fmt::format("refused ({}), but this fits: {}", to_string(outcome.refusal),
                         describe(now_, fits.solution->assignment));
    }
    const auto ever = ask(solver_.any, at_minimum(empty_));
    if (outcome.refusal == Refusal::kTooLarge && ever.solution) {
      return fmt::format("refused as too large, but this fits once all is empty: {}",
                         describe(empty_, ever.solution->assignment));
    }
    if (outcome.refusal == Refusal::kBusy && ever.proven && !ever.solution) {
      return "refused as busy, but does not fit even when all is empty";
    }
    return std::nullopt;
  }

  Fault placed(const std::vector<test::NamedShares>& shares, const std::vector<int>& counts) {
    if (shares.size() != now_.pod_sets.size() || counts.size() != now_.pod_sets.size()) {
      return "answered for the wrong number of pod sets";
    }
    Assignment assignment(shares.size(), std::vector<int>(now_.hosts.size(), 0));
    for (std::size_t s = 0; s < shares.size(); ++s) {
      if (Fault fault = read(s, shares[s], assignment[s])) {
        return fault;
      }
      if (counts[s] < now_.pod_sets[s].min_count || counts[s] > now_.pod_sets[s].count) {
        return fmt::format("placed {} pods of {}", counts[s], now_.pod_sets[s].name);
      }
    }
    const Problem problem = with_counts(now_, counts);
    if (const auto wrong = oracle::fault(problem, assignment)) {
      return fmt::format("wrong placement: {} in {}", *wrong, describe(now_, assignment));
    }
    for (std::size_t s = 0; s < shares.size(); ++s) {
      if (const auto wrong = rank_fault(problem, s, shares[s])) {
        return fmt::format("{} in {}", *wrong, fmt::join(shares[s], " "));
      }
    }
    if (Fault fault = could_place_more(counts)) {
      return fault;
    }
    return could_be_better(problem, assignment);
  }

 private:
  ProvenAnswer ask(const std::function<ProvenAnswer(const Problem&)>& solve, const Problem& problem) {
    ProvenAnswer answer = solve(problem);
    verdict_.undecided += answer.proven ? 0 : 1;
    return answer;
  }

  Fault read(std::size_t s, const test::NamedShares& shares, std::vector<int>& pods) const {
    for (const auto& [host, count] : shares) {
      const auto at = std::ranges::find(now_.hosts, host);
      if (at == now_.hosts.end()) {
        return fmt::format("{} went to {}, which is outside the topology", now_.pod_sets[s].name, host);
      }
      int& here = pods[static_cast<std::size_t>(at - now_.hosts.begin())];
      if (here != 0 || count <= 0) {
        return fmt::format("{} visits {} twice or for nothing", now_.pod_sets[s].name, host);
      }
      here = count;
    }
    return std::nullopt;
  }

  // Promised for a gang of one pod set.
  Fault could_place_more(const std::vector<int>& counts) {
    if (counts.size() != 1 || counts[0] == now_.pod_sets[0].count) {
      return std::nullopt;
    }
    const Problem more = with_counts(now_, {counts[0] + 1});
    if (const auto fits = ask(solver_.any, more); fits.solution) {
      return fmt::format("placed {} pods, but {} fit: {}", counts[0], counts[0] + 1,
                         describe(more, fits.solution->assignment));
    }
    return std::nullopt;
  }

  Fault could_be_better(const Problem& problem, const Assignment& assignment) {
    if (!problem.scored) {
      return std::nullopt;
    }
    const auto best = ask(solver_.best, problem);
    if (!best.proven) {
      return std::nullopt;
    }
    const Score reached = score(problem, assignment);
    if (!best.solution || reached < best.solution->score) {
      return fmt::format("the solver is wrong: it knows nothing as good as {} of {}", reached,
                         describe(problem, assignment));
    }
    if (best.solution->score < reached) {
      return fmt::format("reached {} with {}, but {} is possible with {}", reached, describe(problem, assignment),
                         best.solution->score, describe(problem, best.solution->assignment));
    }
    return std::nullopt;
  }

  Problem now_;
  Problem empty_;
  const Solver& solver_;
  Verdict& verdict_;
};

Shares by_host(const std::vector<test::NamedShares>& shares) {
  Shares found;
  for (const test::NamedShares& pod_set : shares) {
    found.emplace_back(pod_set.begin(), pod_set.end());
  }
  return found;
}

}  // namespace

Solver trying() {
  auto best = [](const Problem& problem) { return ProvenAnswer{.proven = true, .solution = best_by_trying(problem)}; };
  auto any = [](const Problem& problem) { return ProvenAnswer{.proven = true, .solution = any_by_trying(problem)}; };
  return {.any = any, .best = best};
}

Solver programming() {
  return {.any = any_by_program, .best = best_by_program};
}

Fault rank_fault(const Problem& problem, std::size_t pod_set, const test::NamedShares& shares) {
  const Problem::PodSet& set = problem.pod_sets[pod_set];
  for (std::size_t level = 0; level < problem.domain.size(); ++level) {
    std::vector<int> by_rank;
    std::set<int> left;
    for (const auto& [host, count] : shares) {
      const auto h = static_cast<std::size_t>(std::ranges::find(problem.hosts, host) - problem.hosts.begin());
      const int here = problem.domain[level][h];
      if (!by_rank.empty() && by_rank.back() != here) {
        left.insert(by_rank.back());
      }
      if (left.contains(here)) {
        return fmt::format("the ranks of {} leave a domain of level {} and come back", set.name, level);
      }
      by_rank.insert(by_rank.end(), static_cast<std::size_t>(count), here);
    }
    for (const Slice& slice : set.slices) {
      const auto size = static_cast<std::size_t>(slice.size);
      for (std::size_t rank = 0; slice.level == static_cast<int>(level) && rank < by_rank.size(); ++rank) {
        if (by_rank[rank] != by_rank[rank - rank % size]) {
          return fmt::format("the ranks of a slice of {} of {} lie in two domains", slice.size, set.name);
        }
      }
    }
  }
  return std::nullopt;
}

Verdict judge(const Instance& instance, const Solver& solver) {
  Verdict verdict;
  test::World world(instance);
  std::vector<Booking> booked;
  for (const GangSpec& spec : instance.gangs) {
    const Gang gang = world.gang(spec);
    const Outcome outcome = world.engine().place(gang);
    Hearing hearing(instance, spec, booked, solver, verdict);
    if (outcome.placement) {
      const auto shares = world.named(*outcome.placement);
      verdict.fault = hearing.placed(shares, outcome.counts);
      if (!verdict.fault) {
        world.engine().take(gang, *outcome.placement);
        booked.push_back({.gang = spec, .shares = by_host(shares)});
        ++verdict.placed;
      }
    } else {
      verdict.fault = hearing.refused(outcome);
      ++verdict.refused;
    }
    if (verdict.fault) {
      verdict.fault = spec.name + ": " + *verdict.fault;
      break;
    }
  }
  return verdict;
}

}  // namespace gantree::oracle
