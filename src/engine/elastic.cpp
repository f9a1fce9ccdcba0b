#include "engine/elastic.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace gantree {

namespace {

constexpr int kAttempts = 256;
constexpr int kCostOfGivingUp = 64;       // a search that gives up takes long
constexpr std::size_t kMostChoices = 64;  // of groups to leave out
constexpr std::size_t kMostCounts = 512;  // in one box
constexpr std::array kSharings{Sharing::kEvenly, Sharing::kFirstSets, Sharing::kLastSets};

class Chooser {
 public:
  Chooser(const Group& root, const Fits& fits) : groups_(root), fits_(fits) {}

  CountChoice most();
  CountChoice least();

 private:
  bool attempt(const Counts& counts);
  // The smallest counts of a box that are worth an attempt; `all` is cleared where there are others.
  static std::vector<Counts> smallest_of(const Box& box, bool& all);
  std::optional<Counts> any_in(const Box& box);
  void note_hopeless_groups();

  void grow_in(const Box& box);
  void grow_along(const Box& box, const Counts& from, Sharing sharing);
  void raise_each(const Box& box, Counts counts);
  LeftOut leave(const std::vector<std::size_t>& order, std::size_t number) const;
  void leave_fewest(bool largest_first);
  void keep_better(const Counts& counts) {
    if (!best_ || total(counts) > total(*best_)) {
      best_ = counts;
    }
  }
  [[nodiscard]] bool cannot_improve(const Box& box) const { return best_ && total(box.most) <= total(*best_); }

  Admissible groups_;
  const Fits& fits_;
  LeftOut hopeless_ = groups_.nothing_left_out();  // groups that do not fit even alone
  int attempts_ = kAttempts;
  std::map<Counts, SearchVerdict> tried_;
  std::vector<Counts> too_many_;
  bool proven_ = true;  // all that was not found to fit is known not to
  std::optional<Counts> best_;
};

bool Chooser::attempt(const Counts& counts) {
  if (const auto it = tried_.find(counts); it != tried_.end()) {
    proven_ = proven_ && it->second != SearchVerdict::kGaveUp;
    return it->second == SearchVerdict::kFound;
  }
  const auto contains = [&](const Counts& fewer) {
    return std::equal(fewer.begin(), fewer.end(), counts.begin(), [](int few, int many) { return few <= many; });
  };
  if (std::any_of(too_many_.begin(), too_many_.end(), contains)) {
    return false;
  }
  if (attempts_ <= 0) {
    proven_ = false;
    return false;
  }
  const SearchVerdict verdict = fits_(counts);
  attempts_ -= verdict == SearchVerdict::kGaveUp ? kCostOfGivingUp : 1;
  if (verdict == SearchVerdict::kGaveUp) {
    proven_ = false;
  } else if (verdict == SearchVerdict::kNone) {
    too_many_.push_back(counts);
  }
  tried_[counts] = verdict;
  return verdict == SearchVerdict::kFound;
}

std::vector<Counts> Chooser::smallest_of(const Box& box, bool& all) {
  std::vector<Counts> found;
  if (total(smallest(box, Sharing::kEvenly)) == 0) {
    // Wholly elastic: one pod is the least that can be said to start.
    for (std::size_t s = 0; s < box.most.size(); ++s) {
      if (box.most[s] > 0) {
        found.emplace_back(box.most.size(), 0)[s] = 1;
      }
    }
    return found;
  }
  for (const Sharing sharing : kSharings) {
    const Counts counts = smallest(box, sharing);
    if (std::find(found.begin(), found.end(), counts) == found.end()) {
      found.push_back(counts);
    }
  }
  if (box.pools.empty() || found.size() == 1) {
    return found;  // there is only one way to share out
  }
  // Only pools leave a choice, and none of their sets gets more than is lacking.
  Box choice = box;
  choice.most = box.least;
  for (const Pool& pool : box.pools) {
    std::int64_t lacking = pool.least;
    for (std::size_t s = pool.begin; s < pool.end; ++s) {
      lacking -= box.least[s];
    }
    for (std::size_t s = pool.begin; s < pool.end; ++s) {
      choice.most[s] = static_cast<int>(std::min<std::int64_t>(box.most[s], box.least[s] + lacking));
    }
  }
  const auto listed = all_counts(choice, kMostCounts);
  if (!listed) {
    all = false;
    return found;
  }
  for (const Counts& counts : *listed) {
    if (total(counts) == total(found.front()) && std::find(found.begin(), found.end(), counts) == found.end()) {
      found.push_back(counts);
    }
  }
  return found;
}

std::optional<Counts> Chooser::any_in(const Box& box) {
  if (box.short_of_pods != nullptr) {
    return std::nullopt;
  }
  bool all = true;
  for (const Counts& counts : smallest_of(box, all)) {
    if (attempt(counts)) {
      return counts;
    }
  }
  proven_ = proven_ && all;
  return std::nullopt;
}

// What does not fit alone rules out every choice that keeps it.
void Chooser::note_hopeless_groups() {
  for (const std::size_t kind : groups_.optional_kinds()) {
    const Box alone = groups_.only(kind);
    if (total(smallest(alone, Sharing::kEvenly)) == 0 || any_in(alone)) {
      continue;
    }
    for (const std::size_t group : groups_.alike(kind)) {
      hopeless_[group] = true;
    }
  }
  proven_ = true;  // that was for orientation only
}

CountChoice Chooser::least() {
  note_hopeless_groups();
  std::vector<LeftOut> choices;
  for (const bool largest_first : {true, false}) {
    const auto order = groups_.order_of_leaving(largest_first, hopeless_);
    choices.push_back(leave(order, order.size()));
  }
  if (auto all = groups_.choices(kMostChoices)) {
    std::vector<std::pair<std::int64_t, LeftOut>> order;
    for (LeftOut& left_out : *all) {
      order.emplace_back(total(smallest(groups_.box(left_out), Sharing::kEvenly)), std::move(left_out));
    }
    std::sort(order.begin(), order.end());
    for (auto& [pods, left_out] : order) {
      choices.push_back(std::move(left_out));
    }
  } else {
    proven_ = false;
  }
  for (const LeftOut& left_out : choices) {
    if (auto counts = any_in(groups_.box(left_out))) {
      return {std::move(counts), true};
    }
  }
  return {std::nullopt, proven_};
}

// The most pods between two counts, every set growing in its share.
void Chooser::grow_along(const Box& box, const Counts& from, Sharing sharing) {
  std::int64_t low = -1;  // the largest number of extra pods known to fit
  std::int64_t high = total(box.most) - total(from) + 1;
  Counts fitting;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    Counts counts = grown(from, box.most, middle, sharing);
    if (attempt(counts)) {
      low = middle;
      fitting = std::move(counts);
    } else {
      high = middle;
    }
  }
  if (low >= 0) {
    raise_each(box, std::move(fitting));
  }
}

void Chooser::raise_each(const Box& box, Counts counts) {
  for (std::size_t s = 0; s < counts.size(); ++s) {
    int high = box.most[s] + 1;
    while (high - counts[s] > 1) {
      Counts more = counts;
      more[s] = counts[s] + (high - counts[s]) / 2;
      if (attempt(more)) {
        counts[s] = more[s];
      } else {
        high = more[s];
      }
    }
  }
  keep_better(counts);
}

void Chooser::grow_in(const Box& box) {
  if (cannot_improve(box)) {
    return;
  }
  const auto least = any_in(box);
  if (!least) {
    return;
  }
  if (attempt(box.most)) {
    best_ = box.most;
    return;
  }
  std::size_t elastic = 0;
  for (std::size_t s = 0; s < box.most.size(); ++s) {
    elastic += box.most[s] > box.least[s] ? 1 : 0;
  }
  for (const Sharing sharing : kSharings) {
    if (sharing == Sharing::kEvenly || elastic > 1) {
      grow_along(box, total(*least) == 1 ? *least : smallest(box, sharing), sharing);
    }
  }
  raise_each(box, *least);
  if (elastic < 2) {
    return;
  }
  for (const Counts& counts : all_counts(box, kMostCounts).value_or(std::vector<Counts>{})) {
    if (total(counts) <= total(*best_) || attempt(counts)) {
      keep_better(counts);
      return;
    }
  }
}

LeftOut Chooser::leave(const std::vector<std::size_t>& order, std::size_t number) const {
  LeftOut left_out = groups_.nothing_left_out();
  for (std::size_t i = 0; i < number; ++i) {
    left_out[order[i]] = true;
  }
  return left_out;
}

// Leaving out more never makes it harder: the fewest are found by halving. Then whatever else still fits.
void Chooser::leave_fewest(bool largest_first) {
  const auto order = groups_.order_of_leaving(largest_first, hopeless_);
  std::size_t low = 0;
  std::size_t high = order.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (any_in(groups_.box(leave(order, middle)))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  LeftOut left_out = leave(order, low);
  for (std::size_t i = 0; i < low; ++i) {
    left_out[order[i]] = false;
    left_out[order[i]] = !any_in(groups_.box(left_out));
  }
  grow_in(groups_.box(left_out));
}

CountChoice Chooser::most() {
  const Box all = groups_.box(groups_.nothing_left_out());
  if (all.short_of_pods == nullptr && attempt(all.most)) {
    return {all.most, true};
  }
  attempts_ = kAttempts;
  proven_ = true;
  const CountChoice least = this->least();
  if (!least.counts) {
    return least;
  }
  keep_better(*least.counts);
  attempts_ = kAttempts;
  leave_fewest(true);
  leave_fewest(false);
  if (const auto choices = groups_.choices(kMostChoices)) {
    std::vector<std::pair<std::int64_t, Box>> order;
    for (const LeftOut& left_out : *choices) {
      Box box = groups_.box(left_out);
      order.emplace_back(-total(box.most), std::move(box));
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [pods, box] : order) {
      grow_in(box);
    }
  }
  return {std::move(best_), true};
}

}  // namespace

CountChoice most_that_fit(const Group& root, const Fits& fits) {
  return Chooser(root, fits).most();
}

CountChoice least_that_fit(const Group& root, const Fits& fits) {
  return Chooser(root, fits).least();
}

Smallest smallest_start(const Group& root) {
  const Admissible groups(root);
  const Box whole = groups.box(groups.nothing_left_out());
  std::optional<Smallest> best;
  for (const bool largest_first : {true, false}) {
    LeftOut left_out = groups.nothing_left_out();
    for (const std::size_t group : groups.order_of_leaving(largest_first, left_out)) {
      left_out[group] = true;
    }
    const Box box = groups.box(left_out);
    Smallest found{smallest(box, Sharing::kEvenly), box.short_of_pods};
    if (total(found.counts) == 0) {
      std::transform(whole.most.begin(), whole.most.end(), found.counts.begin(),
                     [](int most) { return std::min(most, 1); });
    }
    if (!best || total(found.counts) < total(best->counts)) {
      best = std::move(found);
    }
  }
  return *best;
}

}  // namespace gantree
