// The way out for gangs that hold room with which they cannot start.
//
// A process that dies while it binds a gang leaves it half bound. It is completed before anybody else gets room, but
// where others took that meanwhile it cannot be, and two such gangs could hold each other up for ever. So a gang that
// never had its minimum gives its room back after a while. Where the room of those behind it in the order is what it
// lacks, they give it back instead of it: the first of them starts.
//
//                       fits, or would when those that are leaving have left
//   half bound ──time──► ┬──────────────────────────────────────────────► completed (in the end it gives back, too)
//                        ├─ fits where later ones give back ► those do ──► completed
//                        └─ neither ────────────────────────────────────► gives back
#include <fmt/format.h>

#include <algorithm>

#include "cycle/cycle.h"
#include "pods/pod_family.h"
#include "queue/quota.h"

namespace gantree {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// All that is half bound is read for it.
constexpr milliseconds kGiveBackEvery = seconds(1);
// So many at once, those first that have waited longest.
constexpr std::size_t kMostHalves = 64;
// Who would fit, and yet is not bound, is given so many times the wait: its bindings may be refused for ever, or those
// that should leave may stay.
constexpr int kPatience = 4;

}  // namespace

// Bindings that are under way may yet complete it.
bool PodFamily::is_in_flight(const Bundle& bundle) {
  return std::any_of(bundle.begin(), bundle.end(), [&](const std::string& id) {
    const LiveGang* gang = table_.find(id);
    return gang != nullptr && gang->placed != gang->counts.bound;
  });
}

void PodFamily::follow_half_bound(Time now) {
  std::map<std::string, HalfBound> followed;
  std::set<std::string> seen;
  for (const std::string& id : table_.partial()) {
    if (seen.contains(id)) {
      continue;
    }
    const Bundle bundle = table_.bundle(id);
    seen.insert(bundle.begin(), bundle.end());
    const bool holds_room = std::any_of(bundle.begin(), bundle.end(), [&](const std::string& member) {
      const LiveGang* gang = table_.find(member);
      return gang != nullptr && gang->placed > 0;
    });
    if (!holds_room) {
      continue;
    }
    const auto known = half_bound_.find(bundle.front());
    followed.emplace(bundle.front(), known == half_bound_.end() ? HalfBound{.since = now} : known->second);
  }
  half_bound_ = std::move(followed);
}

bool PodFamily::is_given_back(const std::string& gang) {
  const auto known = half_bound_.find(table_.bundle(gang).front());
  return known != half_bound_.end() && known->second.given_back.has_value();
}

void PodFamily::give_back(Time now, Step& step) {
  follow_half_bound(now);
  std::optional<Time> due;
  for (const auto& [id, half] : half_bound_) {
    if (!half.given_back) {
      const Time then = half.since + patience_of(half);
      due = std::min(then, due.value_or(then));
    }
  }
  if (!due) {
    return;
  }
  if (const Time then = std::max(*due, next_give_back_); now < then) {
    step.wake_by(then);
    return;
  }
  next_give_back_ = now + kGiveBackEvery;
  step.wake_by(next_give_back_);
  std::vector<Half> halves = read_half_bound(now, step);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const HalfBound& half = half_bound_.at(halves[i].bundle.front());
    if (!half.given_back && now - half.since >= patience_of(half)) {
      resolve(halves, i, now, step);
    }
  }
}

// All that are to be considered, in the order in which they go.
std::vector<PodFamily::Half> PodFamily::read_half_bound(Time now, Step& step) {
  std::vector<std::pair<Time, std::string>> oldest;
  for (const auto& [id, half] : half_bound_) {
    oldest.emplace_back(half.since, id);
  }
  std::sort(oldest.begin(), oldest.end());
  oldest.resize(std::min(oldest.size(), kMostHalves));
  std::vector<Half> halves;
  for (const auto& [since, id] : oldest) {
    Bundle bundle = table_.bundle(id);
    if (is_in_flight(bundle)) {
      continue;
    }
    HalfBound& known = half_bound_.at(id);
    if (auto half = half_started(bundle, step)) {
      known.patience = half->patience;
      halves.push_back(std::move(*half));
    } else if (now - since >= options_.give_back_after) {
      // It had its minimum once, or what it lacks is not there: that may change.
      known = {.since = now};
    }
  }
  std::sort(halves.begin(), halves.end(),
            [](const Half& a, const Half& b) { return goes_before(a.submission, b.submission); });
  return halves;
}

// What the bundle asks for, where it is half started by what its family knows of it.
std::optional<PodFamily::Half> PodFamily::half_started(const Bundle& bundle, Step& step) {
  for (const std::string& id : bundle) {
    const LiveGang* gang = table_.find(id);
    // Queues admit and evict whole jobs.
    if (gang != nullptr && std::any_of(gang->pods.begin(), gang->pods.end(),
                                       [&](const std::string& key) { return table_.find_pod(key)->queued; })) {
      return std::nullopt;
    }
  }
  Result<Reading> reading = read_alone(bundle, step);
  if (!reading) {
    return std::nullopt;
  }
  for (Submission& submission : reading->queue) {
    if (const auto known = reading->half_started.find(submission.key); known != reading->half_started.end()) {
      submission.may_evict = false;
      return Half{.submission = std::move(submission), .bundle = bundle, .patience = known->second};
    }
  }
  return std::nullopt;
}

// Whether there is room for it; it keeps its quota whatever happens here.
bool PodFamily::would_fit(Submission submission) {
  Quota quota;
  submission.queue.reset();
  for (std::vector<Alternative>& ways : submission.parts) {
    for (Alternative& way : ways) {
      way.demand.assign(way.demand.size(), {});
    }
  }
  const Plan plan = run_cycle(cluster_, quota, {std::move(submission)});
  if (plan.decisions.front().state != GangState::kPlaced) {
    return false;
  }
  undo(plan.decisions.front());
  return true;
}

// The one of that position has waited long enough.
void PodFamily::resolve(std::vector<Half>& halves, std::size_t which, Time now, Step& step) {
  const Half& half = halves[which];
  const milliseconds waited = now - half_bound_.at(half.bundle.front()).since;
  const std::string why = fmt::format(
      "gives its room back: for {} s some of its pods had nodes and there was no room "
      "for the others without which it cannot start",
      std::chrono::duration_cast<seconds>(waited).count());
  if (obstacle(half.bundle)) {
    give_back(half, why, now, step);
    return;
  }
  std::set<std::string> lent;
  const auto lend = [&](const std::string& key) {
    if (!cluster_.node_of(key).empty() && lent.insert(key).second) {
      cluster_.lend(key);
    }
  };
  const auto lend_room_of = [&](const Half& other) {
    for (const std::string& id : other.bundle) {
      const LiveGang* gang = table_.find(id);
      for (const std::string& key : gang == nullptr ? std::set<std::string>() : gang->pods) {
        lend(key);
      }
    }
  };
  for (const auto& [key, since] : going_) {
    if (promises_ == nullptr || !promises_->outlives(key)) {
      lend(key);
    }
  }
  for (const Half& other : halves) {
    if (half_bound_.at(other.bundle.front()).given_back) {
      lend_room_of(other);
    }
  }
  const bool fits = would_fit(half.submission);
  bool makes_room = false;
  std::size_t last = halves.size();
  while (!fits && !makes_room && --last > which) {
    if (!half_bound_.at(halves[last].bundle.front()).given_back) {
      lend_room_of(halves[last]);
      makes_room = would_fit(half.submission);
    }
  }
  for (const std::string& key : lent) {
    cluster_.take_back(key);
  }
  if (makes_room) {
    for (std::size_t i = last; i < halves.size(); ++i) {
      if (!half_bound_.at(halves[i].bundle.front()).given_back) {
        give_back(halves[i],
                  fmt::format("gives its room back, with which it could not start, to {}/{}, which goes before it",
                              half.submission.key.ns, half.submission.key.name),
                  now, step);
      }
    }
  } else if (!fits || waited >= kPatience * patience_of(half_bound_.at(half.bundle.front()))) {
    give_back(half, why, now, step);
  }
}

void PodFamily::give_back(const Half& half, std::string_view why, Time now, Step& step) {
  half_bound_.at(half.bundle.front()).given_back = now;
  evict(half.bundle, "GaveBack", why, nullptr, now, step);
}

}  // namespace gantree
