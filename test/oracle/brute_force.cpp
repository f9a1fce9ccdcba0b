#include "oracle/brute_force.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gantree::oracle {
namespace {

class Trial {
 public:
  Trial(const Problem& problem, bool first_only) : problem_(problem), free_(problem.free), first_only_(first_only) {
    assignment_.assign(problem.pod_sets.size(), std::vector<int>(problem.hosts.size(), 0));
  }

  std::optional<Solution> run() {
    next_set(0);
    return std::move(best_);
  }

 private:
  void next_set(std::size_t s) {
    if (s == problem_.pod_sets.size()) {
      judge();
    } else {
      next_host(s, 0, problem_.pod_sets[s].count);
    }
  }

  void next_host(std::size_t s, std::size_t h, int left) {
    if (best_ && first_only_) {
      return;
    }
    if (left == 0) {
      if (cut_well(problem_, s, assignment_[s]) && together(s)) {
        next_set(s + 1);
      }
      return;
    }
    if (h == problem_.hosts.size()) {
      return;
    }
    const Problem::PodSet& set = problem_.pod_sets[s];
    const int most = set.allowed[h] ? std::min(left, room(free_[h], set.request)) : 0;
    for (int pods = most; pods >= 0; --pods) {
      book(s, h, pods);
      next_host(s, h + 1, left - pods);
      book(s, h, -pods);
    }
  }

  void book(std::size_t s, std::size_t h, int pods) {
    assignment_[s][h] += pods;
    for (std::size_t r = 0; r < free_[h].size(); ++r) {
      free_[h][r] -= pods * problem_.pod_sets[s].request[r];
    }
  }

  // Pods of sets that are not placed yet may only add domains.
  [[nodiscard]] bool together(std::size_t placed) const {
    for (const Problem::Unit& unit : problem_.units) {
      int domain = -1;
      for (const std::size_t s : unit.pod_sets) {
        for (std::size_t h = 0; unit.required && s <= placed && h < problem_.hosts.size(); ++h) {
          if (assignment_[s][h] == 0) {
            continue;
          }
          const int here = problem_.domain[static_cast<std::size_t>(*unit.required)][h];
          if (domain != -1 && domain != here) {
            return false;
          }
          domain = here;
        }
      }
    }
    return true;
  }

  void judge() {
    if (std::ranges::any_of(problem_.units, [](const Problem::Unit& unit) { return unit.exclusive.has_value(); }) &&
        fault(problem_, assignment_)) {
      return;
    }
    Score found = score(problem_, assignment_);
    if (!best_ || found < best_->score) {
      best_ = Solution{.assignment = assignment_, .score = std::move(found)};
    }
  }

  const Problem& problem_;
  std::vector<std::vector<std::int64_t>> free_;
  Assignment assignment_;
  std::optional<Solution> best_;
  bool first_only_;
};

}  // namespace

std::optional<Solution> best_by_trying(const Problem& problem) {
  return Trial(problem, false).run();
}

std::optional<Solution> any_by_trying(const Problem& problem) {
  return Trial(problem, true).run();
}

}  // namespace gantree::oracle
