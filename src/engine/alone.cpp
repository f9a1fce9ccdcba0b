#include "engine/alone.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace gantree {

namespace {

class Alone {
 public:
  Alone(const SlotCounts& counts, const AloneRequest& request, const std::vector<bool>* occupied)
      : counts_(counts), tree_(counts.tree()), request_(request), best_(tree_.size(request.exclusive)) {
    offers_.resize(static_cast<std::size_t>(request.exclusive) + 1);
    std::vector<int>& lowest = offers_.back();
    lowest.assign(best_.size(), 0);
    for (std::uint32_t d = 0; d < best_.size(); ++d) {
      if (occupied == nullptr || !(*occupied)[d]) {
        best_[d] = tightest_in({request.exclusive, d});
        lowest[d] = best_[d] ? 1 : 0;
      }
    }
    for (int level = request.exclusive - 1; level >= 0; --level) {
      std::vector<int>& sums = offers_[static_cast<std::size_t>(level)];
      sums.assign(tree_.size(level), 0);
      const std::vector<int>& below = offers_[static_cast<std::size_t>(level) + 1];
      for (std::uint32_t d = 0; d < below.size(); ++d) {
        sums[tree_.parent(level + 1, d)] += below[d];
      }
    }
  }

  std::optional<std::vector<Domain>> run() {
    for (int level = std::min(request_.exclusive, request_.required); level >= std::max(request_.together, 0);
         --level) {
      std::optional<Domain> found;
      for (std::uint32_t d = 0; d < tree_.size(level); ++d) {
        const Domain domain{level, d};
        if (offers(domain) >= request_.groups && (!found || offers(domain) < offers(*found))) {
          found = domain;
        }
      }
      if (found) {
        choose(*found, request_.groups);
        return std::move(chosen_);
      }
    }
    if (request_.together >= 0 || offers(kWholeTree) < request_.groups) {
      return std::nullopt;
    }
    choose(kWholeTree, request_.groups);
    return std::move(chosen_);
  }

 private:
  [[nodiscard]] int offers(Domain domain) const {
    return domain.level < 0 ? std::accumulate(offers_.front().begin(), offers_.front().end(), 0)
                            : offers_[static_cast<std::size_t>(domain.level)][domain.index];
  }
  [[nodiscard]] std::optional<Domain> tightest_in(Domain own) const;
  void choose(Domain domain, int groups);

  const SlotCounts& counts_;
  const DomainTree& tree_;
  const AloneRequest& request_;
  std::vector<std::optional<Domain>> best_;  // by domain to be owned: where in it the group goes
  std::vector<std::vector<int>> offers_;     // by level and domain: groups that it could take
  std::vector<Domain> chosen_;
};

// The domain of the required level that just holds a group.
std::optional<Domain> Alone::tightest_in(Domain own) const {
  std::optional<Domain> found;
  const Range range = tree_.below(own, request_.required);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    const Domain domain{request_.required, d};
    if (counts_.capacity(domain) >= request_.each && (!found || counts_.capacity(domain) < counts_.capacity(*found))) {
      found = domain;
    }
  }
  return found;
}

// Requires that the domain offers so many.
void Alone::choose(Domain domain, int groups) {
  if (domain.level == request_.exclusive) {
    chosen_.push_back(*best_[domain.index]);
    return;
  }
  // (offers, room, child): above the owned domains few children count, at them the tightest.
  std::vector<std::tuple<int, int, std::uint32_t>> order;
  const Range range = tree_.children(domain);
  for (std::uint32_t c = range.begin; c < range.end; ++c) {
    const Domain child{domain.level + 1, c};
    if (const int offered = offers(child); offered > 0) {
      const int room = child.level == request_.exclusive ? counts_.capacity(*best_[c]) : counts_.capacity(child);
      order.emplace_back(offered, room, c);
    }
  }
  std::sort(order.begin(), order.end());
  // As few as the largest would do, but small ones where these suffice.
  std::size_t wanted = 0;
  for (int left = groups; left > 0; ++wanted) {
    left -= std::get<0>(order[order.size() - 1 - wanted]);
  }
  int left = groups;
  for (std::size_t next = 0; wanted > 0; ++next) {
    int largest = 0;  // of those behind it
    for (std::size_t i = 1; i < wanted; ++i) {
      largest += std::get<0>(order[order.size() - i]);
    }
    if (std::get<0>(order[next]) + largest < left) {
      continue;
    }
    const int share = std::min(left, std::get<0>(order[next]));
    choose({domain.level + 1, std::get<2>(order[next])}, share);
    left -= share;
    --wanted;
  }
}

}  // namespace

std::optional<std::vector<Domain>> domains_alone(const SlotCounts& counts, const AloneRequest& request,
                                                 const std::vector<bool>* occupied) {
  return Alone(counts, request, occupied).run();
}

}  // namespace gantree
