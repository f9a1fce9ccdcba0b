#include "engine/preempt.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "engine/alike.h"
#include "engine/budget.h"
#include "engine/freed_slots.h"
#include "engine/gang_plan.h"
#include "engine/least_gang.h"
#include "engine/part_need.h"
#include "engine/search.h"
#include "engine/victim_cost.h"
#include "engine/victim_search.h"

namespace gantree {

namespace {

// Steps are hosts changed in trials, and sets looked at.
constexpr std::int64_t kSteps = std::int64_t{512} * 1024;
// What placing the gang counts for: large ones of many parts in large clusters take longer.
constexpr std::int64_t kPlacementSteps = 256;
constexpr std::int64_t kPlacementStepsPerHost = 2;
constexpr std::int64_t kPlacementStepsPerPod = 64;
constexpr std::int64_t kPlacementStepsPerPart = 256;
constexpr std::int64_t kPlacementStepsPerPair = 4;  // of parts
constexpr std::int64_t kCountsPerHost = 2;          // what counting a shape on all hosts takes, in changes of a host
// To spare some more of a set that would do, steps beyond the limit may be taken, and so many trials in any case.
constexpr std::int64_t kMoreSteps = 4 * kSteps;
constexpr int kLeastTrials = 16;
constexpr std::size_t kFewCandidates = 32;   // all of whom may be evicted even where the work did not suffice
constexpr std::int64_t kAdmissionSteps = 8;  // what asking for quota counts for, beside the victims named
constexpr std::size_t kAllForQuota = 32;     // candidates up to which any may be evicted for quota alone
constexpr std::size_t kNearHosts = 32'768;
constexpr std::size_t kMaxRemembered = std::size_t{256} * 1024;  // victims, in all sets whose trial is remembered

// On very many hosts each step takes longer: what is looked at is nowhere near.
std::int64_t usual_work(std::size_t hosts) {
  const WorkLimit limit = work_limit(hosts);
  return hosts <= kNearHosts ? limit.placing : limit.victims;
}

class Preemption {
 public:
  Preemption(Engine& engine, const PreemptionRequest& request)
      : engine_(engine),
        request_(request),
        least_(least_of(request.gang)),
        victims_(request.candidates, request.budgets),
        everyone_(victims_.size()) {
    std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
  }

  PreemptionAnswer run();
  // That it took so far.
  [[nodiscard]] std::int64_t work() const { return limit_ - work_.left(); }

 private:
  PreemptionAnswer none() {
    answer_.verdict = PreemptionVerdict::kNone;
    answer_.exact = true;
    return std::move(answer_);
  }
  PreemptionAnswer gave_up() {
    answer_.verdict = PreemptionVerdict::kGaveUp;
    return std::move(answer_);
  }
  PreemptionAnswer for_quota();
  PreemptionAnswer for_room();
  PreemptionAnswer finish(VictimSearch& search, bool exact);
  void read_plan();
  [[nodiscard]] VictimPool pool(std::uint32_t domain) const;
  [[nodiscard]] std::vector<std::size_t> for_quota_alone();
  [[nodiscard]] VictimChecks checks();
  [[nodiscard]] bool all_would_do();
  [[nodiscard]] std::int64_t counting() const;
  bool places();
  // Calls `look` as if the candidates at these positions were gone.
  template <class Look>
  auto without(const std::vector<std::size_t>& positions, Look look);

  Engine& engine_;
  const PreemptionRequest& request_;
  const Gang least_;
  Victims victims_;
  std::vector<std::size_t> everyone_;
  bool quota_ = false;  // quota alone keeps the gang from starting
  GangPlan plan_;
  std::optional<AlikePlan> alike_;
  SureNeed sure_;
  std::optional<JointNeed> together_;
  std::optional<JointNeed> siblings_;
  FreedParts parts_;
  int level_ = -1;                                               // of the domains looked at
  std::vector<std::pair<std::uint32_t, std::uint32_t>> helped_;  // (domain of that level, candidate), sorted
  std::vector<std::size_t> for_quota_;                           // in every domain
  bool must_place_ = false;                                      // room for each part by itself is no proof
  bool all_pools_ = true;                                        // every candidate that can matter is in the pools
  bool gave_up_ = false;
  Budget steps_{kSteps};
  const std::int64_t limit_ = request_.work.value_or(usual_work(engine_.inventory().size()));
  Budget work_{limit_};  // of all that is tried, placements above all
  std::int64_t placement_steps_ = kPlacementSteps;
  std::int64_t shapes_ = 0;  // that are counted, in slices or not
  int trials_ = 0;
  std::map<std::vector<std::size_t>, std::optional<bool>> placed_;  // none: the search gave up
  std::size_t remembered_ = 0;                                      // victims in all of its sets
  PreemptionAnswer answer_;
};

template <class Look>
auto Preemption::without(const std::vector<std::size_t>& positions, Look look) {
  for (const std::size_t position : positions) {
    engine_.evict(*request_.candidates[position]);
  }
  auto seen = look();
  for (std::size_t i = positions.size(); i-- > 0;) {
    engine_.restore(*request_.candidates[positions[i]]);
  }
  return seen;
}

// What it takes to count all shapes of the gang again on the hosts of the victims chosen now, there and back.
std::int64_t Preemption::counting() const {
  std::int64_t changes = 0;
  for (const std::size_t i : victims_.all_chosen()) {
    changes += static_cast<std::int64_t>(victims_.gang(i).holdings.size());
  }
  // Where too much changes, everything is counted once.
  const auto hosts = static_cast<std::int64_t>(engine_.inventory().size());
  return 2 * shapes_ * std::min(changes, kCountsPerHost * hosts);
}

// Whether the gang fits without the victims chosen now.
bool Preemption::places() {
  const auto [it, fresh] = placed_.try_emplace(victims_.positions());
  if (!fresh) {
    gave_up_ = gave_up_ || !it->second;
    return it->second.value_or(false);
  }
  steps_.spend(placement_steps_);
  ++trials_;
  const std::int64_t counts = counting();
  const bool affordable = work_.can_spend(counts);
  work_.spend(affordable ? counts : work_.left() + 1);
  const std::optional<bool> fits = it->second =
      affordable ? without(it->first, [&] { return engine_.fits(least_, work_); }) : std::nullopt;
  gave_up_ = gave_up_ || !fits;
  if ((remembered_ += it->first.size()) > kMaxRemembered) {
    placed_.clear();
    remembered_ = 0;
  }
  return fits.value_or(false);
}

VictimChecks Preemption::checks() {
  VictimChecks checks;
  checks.each_in = siblings_ ? siblings_->slices.front().level : -1;
  if (quota_) {
    checks.admits = [this] {
      const std::int64_t asked = kAdmissionSteps + static_cast<std::int64_t>(victims_.all_chosen().size());
      steps_.spend(asked);
      work_.spend(asked);
      return request_.admits(victims_.positions());
    };
  }
  if (must_place_) {
    checks.places = [this] { return places(); };
    checks.patient = [this] { return !work_.exhausted() && (trials_ < kLeastTrials || steps_.left() > -kMoreSteps); };
  }
  return checks;
}

PreemptionAnswer Preemption::run() {
  if (request_.admits) {
    quota_ = !request_.admits({});
    for (const std::size_t i : everyone_) {
      victims_.add(i);
    }
    const bool hopeless = quota_ && !request_.admits(victims_.positions());
    for (const std::size_t i : everyone_) {
      victims_.remove(i);
    }
    if (hopeless) {
      return none();
    }
  }
  const std::optional<bool> now = engine_.fits(least_, work_);
  if (now.value_or(false)) {
    return for_quota();
  }
  if (everyone_.empty()) {
    return now ? none() : gave_up();
  }
  gave_up_ = !now;
  return for_room();
}

// The gang fits as things are: nothing but quota is to be freed.
PreemptionAnswer Preemption::for_quota() {
  FreedParts nothing;
  VictimSearch search(victims_, nothing, checks(), steps_, work_);
  const VictimPool all{kWholeTree, everyone_};
  const VictimPool one{kWholeTree, {}};
  (void)search.estimate(quota_ ? all : one);
  return finish(search, search.exhaust(quota_ ? all : one));
}

void Preemption::read_plan() {
  std::vector<PartNeed> needs;
  if (has_spare_pods(least_)) {
    must_place_ = true;
    sure_ = sure_need(least_);
    level_ = sure_.level;
    needs = sure_.needs();
  } else {
    std::vector<int> counts;
    for (const PodSet* set : pod_sets(least_.root)) {
      counts.push_back(set->count);
    }
    plan_ = make_plan(least_, counts);
    alike_ = AlikePlan::of(plan_);
    const GangPlan& counted = alike_ ? alike_->merged() : plan_;
    level_ = common_level(plan_);
    const std::vector<PartNeed> own = without_implied(needs_of(counted));
    must_place_ = plan_.parts.size() > 1;
    // What all of them need together says most, and comes first.
    if (must_place_ && own.size() > 1) {
      std::vector<const Part*> parts;
      for (const PartNeed& need : own) {
        parts.push_back(need.part);
      }
      together_ = joint_need(parts, engine_.inventory());
      siblings_ = sibling_need(counted, engine_.inventory());
    }
    for (std::optional<JointNeed>* joint : {&siblings_, &together_}) {
      if (*joint) {
        needs.push_back((*joint)->need(level_));
      }
    }
    needs.insert(needs.end(), own.begin(), own.end());
  }
  parts_ = FreedParts(engine_, least_.exclusive_kind, victims_, needs);
  all_pools_ = parts_.all();
  std::int64_t pods = 0;
  std::set<std::pair<std::vector<Slice>, PodShape>> shapes;
  for (const PodSet* set : pod_sets(least_.root)) {
    pods += set->count;
    shapes.emplace(std::vector<Slice>{}, set->shape);
  }
  if (alike_) {
    for (const Part& part : alike_->merged().parts) {
      shapes.emplace(part.slices, *part.shape);
    }
  }
  shapes_ = static_cast<std::int64_t>(shapes.size());
  const auto hosts = static_cast<std::int64_t>(engine_.inventory().size());
  const auto parts = static_cast<std::int64_t>(pod_sets(least_.root).size());
  placement_steps_ = kPlacementSteps + kPlacementStepsPerHost * hosts + kPlacementStepsPerPod * pods +
                     kPlacementStepsPerPart * parts + kPlacementStepsPerPair * parts * parts;
}

// Few enough that each domain can take them in: all candidates, or some that suffice.
std::vector<std::size_t> Preemption::for_quota_alone() {
  if (!quota_ || everyone_.size() <= kAllForQuota) {
    return quota_ ? everyone_ : std::vector<std::size_t>{};
  }
  all_pools_ = false;
  FreedParts nothing;
  VictimSearch search(victims_, nothing, {.admits = checks().admits, .places = {}, .patient = {}}, steps_, work_);
  (void)search.estimate({kWholeTree, everyone_});
  return search.best() ? search.best()->members : std::vector<std::size_t>{};  // none: the work is exhausted
}

// Those whose eviction may help in a domain. Made when it is looked at: all of them at once may be very many.
VictimPool Preemption::pool(std::uint32_t domain) const {
  if (sure_.exclusive) {
    return {kWholeTree, everyone_};
  }
  VictimPool pool{level_ < 0 ? kWholeTree : Domain{level_, domain}, for_quota_};
  for (auto next = std::lower_bound(helped_.begin(), helped_.end(), std::pair(domain, std::uint32_t{0}));
       next != helped_.end() && next->first == domain; ++next) {
    pool.members.push_back(next->second);
  }
  std::sort(pool.members.begin(), pool.members.end());
  pool.members.erase(std::unique(pool.members.begin(), pool.members.end()), pool.members.end());
  return pool;
}

// Whether the gang could be placed if every candidate were gone.
bool Preemption::all_would_do() {
  for (const std::size_t i : everyone_) {
    victims_.add(i);
  }
  const bool would = places();
  for (const std::size_t i : everyone_) {
    victims_.remove(i);
  }
  return would;
}

PreemptionAnswer Preemption::for_room() {
  read_plan();
  std::uint32_t domains = 1;
  if (!sure_.exclusive) {
    helped_ = parts_.helped(level_);
    for_quota_ = for_quota_alone();
    domains = level_ < 0 ? 1 : parts_.tree().size(level_);
  }
  answer_.domains = static_cast<int>(domains);
  VictimSearch search(victims_, parts_, checks(), steps_, work_);
  std::vector<std::pair<EvictionCost, std::uint32_t>> hopeful;  // (cost, domain)
  for (std::uint32_t domain = 0; domain < domains; ++domain) {
    if (const auto cost = search.estimate(pool(domain))) {
      hopeful.emplace_back(*cost, domain);
    }
    if (work_.exhausted()) {
      break;
    }
  }
  if (hopeful.empty()) {
    return work_.exhausted() ? gave_up() : none();
  }
  std::stable_sort(hopeful.begin(), hopeful.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  bool exact = all_pools_ && !work_.exhausted();
  if (must_place_) {
    for (const auto& [cost, domain] : hopeful) {
      if (steps_.can_spend(kSteps / 2) || domain == hopeful.front().second) {
        search.sketch(pool(domain));
      }
    }
    if (!search.best()) {
      gave_up_ = false;
      if (!all_would_do()) {
        return gave_up_ ? gave_up() : none();
      }
      search.sketch({kWholeTree, everyone_});
    }
  }
  for (const auto& [cost, domain] : hopeful) {
    exact = search.best() && search.exhaust(pool(domain)) && exact;
  }
  return finish(search, exact && !gave_up_);
}

PreemptionAnswer Preemption::finish(VictimSearch& search, bool exact) {
  if (!search.best()) {
    return gave_up();
  }
  if (!exact) {
    search.tidy();
  }
  const VictimSearch::Best& best = *search.best();
  // Rather none than most of what runs, without having looked whether fewer would do.
  if (work_.exhausted() && !exact && everyone_.size() > kFewCandidates && 2 * best.members.size() > everyone_.size()) {
    return gave_up();
  }
  for (const std::size_t i : best.members) {
    victims_.add(i);
  }
  answer_.victims = victims_.positions();
  answer_.cost = victims_.cost();
  answer_.outcome = without(answer_.victims, [&] { return engine_.place(request_.gang); });
  if (!answer_.outcome.placement) {
    answer_.victims.clear();
    answer_.cost = {};
    return gave_up();
  }
  answer_.verdict = PreemptionVerdict::kFound;
  answer_.exact = exact;
  return std::move(answer_);
}

}  // namespace

PreemptionAnswer find_victims(Engine& engine, const PreemptionRequest& request) {
  Preemption preemption(engine, request);
  PreemptionAnswer answer = preemption.run();
  answer.work = preemption.work();
  return answer;
}

}  // namespace gantree
