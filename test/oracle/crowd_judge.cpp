#include "oracle/crowd_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "oracle/milp.h"
#include "support/world.h"

namespace gantree::oracle {
namespace {

const char* name_of(Refusal refusal) {
  return refusal == Refusal::kBusy ? "busy" : refusal == Refusal::kTooLarge ? "too large" : "search limit";
}

std::vector<Booking> place_others(const Instance& instance, test::World& world) {
  std::vector<Booking> booked;
  for (std::size_t i = 0; i + 1 < instance.gangs.size(); ++i) {
    const Gang gang = world.gang(instance.gangs[i]);
    if (const Outcome outcome = world.engine().place(gang); outcome.placement) {
      world.engine().take(gang, *outcome.placement);
      Shares shares;
      for (const test::NamedShares& set : world.named(*outcome.placement)) {
        shares.emplace_back(set.begin(), set.end());
      }
      booked.push_back({.gang = instance.gangs[i], .shares = std::move(shares)});
    }
  }
  return booked;
}

bool has_minima(const Problem& problem, const Problem::Group& group) {
  return group.min_pods || group.min_groups ||
         std::ranges::any_of(
             group.pod_sets,
             [&](std::size_t s) { return problem.pod_sets[s].min_count < problem.pod_sets[s].count; }) ||
         std::ranges::any_of(group.groups, [&](const Problem::Group& nested) { return has_minima(problem, nested); });
}

Proof fits(const Problem& problem, double seconds) {
  return has_minima(problem, problem.root) ? most_pods(problem, seconds).fits : all_fit(problem, seconds);
}

CrowdVerdict refused(const Outcome& outcome, const Problem& now, const Problem& empty, double seconds) {
  const Proof fits_now = fits(now, seconds);
  const bool limit = outcome.refusal == Refusal::kSearchLimit;
  if (fits_now == Proof::kYes) {
    return {.finding = limit ? Finding::kGaveUp : Finding::kMissed,
            .detail = fmt::format("refused ({}), but it fits", name_of(outcome.refusal))};
  }
  const Proof ever = fits(empty, seconds);
  if ((outcome.refusal == Refusal::kTooLarge && ever == Proof::kYes) ||
      (outcome.refusal == Refusal::kBusy && ever == Proof::kNo)) {
    return {.finding = Finding::kWrongReason,
            .detail = fmt::format("refused as {}, but empty it {}", name_of(outcome.refusal),
                                  ever == Proof::kYes ? "fits" : "does not fit either")};
  }
  if (limit && fits_now == Proof::kNo) {
    return {.finding = Finding::kUnsure,
            .detail = fmt::format("search limit, but it does not fit{}", ever == Proof::kNo ? ", nor when all is empty"
                                                                         : ever == Proof::kYes ? " until others leave"
                                                                                               : "")};
  }
  return {.finding = fits_now == Proof::kUnknown || ever == Proof::kUnknown ? Finding::kUnproven : Finding::kRight,
          .detail = {}};
}

CrowdVerdict placed(const Outcome& outcome, const std::vector<test::NamedShares>& shares, const Problem& now,
                    double seconds) {
  CrowdVerdict verdict{.finding = Finding::kRight, .placed = true, .detail = {}};
  Problem problem = now;
  Assignment assignment(shares.size(), std::vector<int>(now.hosts.size(), 0));
  for (std::size_t s = 0; s < shares.size(); ++s) {
    problem.pod_sets[s].count = outcome.counts[s];
    for (const auto& [host, count] : shares[s]) {
      const auto at = std::ranges::find(now.hosts, host) - now.hosts.begin();
      assignment[s][static_cast<std::size_t>(at)] += count;
    }
  }
  if (const auto wrong = fault(problem, assignment)) {
    verdict.finding = Finding::kIllegal;
    verdict.detail = *wrong;
    return verdict;
  }
  if (has_minima(now, now.root)) {
    const int pods = std::accumulate(outcome.counts.begin(), outcome.counts.end(), 0);
    const MostPods most = most_pods(now, seconds);
    if (most.fits == Proof::kNo || (most.proven && pods > most.pods)) {
      verdict.finding = Finding::kIllegal;
      verdict.detail = fmt::format("{} pods start, {} could by the minima", pods, most.pods);
      return verdict;
    }
    if (most.pods > pods) {
      verdict.finding = Finding::kTooFew;
      verdict.detail = fmt::format("{} pods start, {} could", pods, most.pods);
      return verdict;
    }
  }
  if (!problem.scored) {
    return verdict;
  }
  const Score reached = score(problem, assignment);
  const Improvement better = improve(problem, reached, seconds);
  if (better.possible == Proof::kYes) {
    verdict.finding = Finding::kWorse;
    verdict.excess = 100.0 * (reached[better.part] - better.least) / better.least;
    verdict.detail = fmt::format("reached {}, but {} is possible", reached, better.solution->score);
  } else if (better.possible == Proof::kUnknown) {
    verdict.finding = Finding::kUnproven;
  }
  return verdict;
}

}  // namespace

const char* to_string(Finding finding) {
  switch (finding) {
    case Finding::kRight:
      return "right";
    case Finding::kUnproven:
      return "unproven";
    case Finding::kIllegal:
      return "illegal";
    case Finding::kMissed:
      return "missed";
    case Finding::kGaveUp:
      return "gave up though it fits";
    case Finding::kUnsure:
      return "gave up where none fits";
    case Finding::kWrongReason:
      return "wrong reason";
    case Finding::kTooFew:
      return "too few pods";
    case Finding::kWorse:
      return "too many domains";
  }
  return "?";
}

CrowdVerdict judge_crowd(const Instance& instance, double seconds) {
  test::World world(instance);
  bool broken = false;
  world.engine().on_broken_answer([&](const BrokenAnswer&) { broken = true; });
  const std::vector<Booking> booked = place_others(instance, world);
  const GangSpec& spec = instance.gangs.back();
  const Gang gang = world.gang(spec);
  const std::clock_t begin = std::clock();
  const Outcome outcome = world.engine().place(gang);
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (broken) {
    return {.finding = Finding::kIllegal, .detail = outcome.message};
  }
  const Problem now = make_problem(instance, spec, booked, Moment::kNow);
  CrowdVerdict verdict = outcome.placement
                             ? placed(outcome, world.named(*outcome.placement), now, seconds)
                             : refused(outcome, now, make_problem(instance, spec, booked, Moment::kEmpty), seconds);
  verdict.seconds = took;
  return verdict;
}

}  // namespace gantree::oracle
