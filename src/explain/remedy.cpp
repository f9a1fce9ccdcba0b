#include "explain/remedy.h"

#include <algorithm>
#include <iterator>

namespace gantree {

namespace {

void append(std::vector<Remedy>& all, std::vector<Remedy> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

// The same quota, with more in some cells; with `above`, in all the cells above them too.
Quota raised(const Quota& quota, const std::vector<QuotaNeed>& missing, bool above) {
  std::vector<std::int64_t> more(quota.size(), 0);
  for (const QuotaNeed& need : missing) {
    for (std::optional<QuotaId> at = need.cell; at; at = above ? quota.cell(*at).parent : std::nullopt) {
      more[at->index()] += need.missing();
    }
  }
  Quota changed;
  for (std::size_t queue = 0; queue < quota.queues(); ++queue) {
    changed.add_queue(quota.rules(make_id<QueueTag>(queue)));
  }
  for (std::size_t i = 0; i < quota.size(); ++i) {
    QuotaCell cell = quota.cell(make_id<QuotaTag>(i));
    if (cell.nominal != kUnlimited) {
      cell.nominal += more[i];
    }
    changed.add(std::move(cell));
  }
  return changed;
}

// Quota alone, where there is a place already.
std::vector<Remedy> remedies_of_quota(const Plight& plight) {
  Remedy remedy{.kind = RemedyKind::kMoreQuota};
  for (const QuotaNeed& need : plight.needs) {
    if (need.missing() > 0) {
      remedy.quota.push_back(need);
    }
  }
  const auto trial = try_gang(plight, plight.alternative.gang);
  if (remedy.quota.empty() || !trial || trial->quota) {
    return {};
  }
  const QuotaDemand demand = Quota::sum(plight.alternative.demand, least_counts(plight.alternative.gang));
  const auto enough = [&](bool above) {
    return raised(plight.quota, remedy.quota, above).fits(demand, plight.submission.borrowing);
  };
  if (!enough(false) && !enough(true)) {
    return {};
  }
  for (const std::vector<HostShare>& hosts : trial->outcome.placement->pod_sets) {
    remedy.place.insert(remedy.place.end(), hosts.begin(), hosts.end());
  }
  return {remedy};
}

// Two changes at once, for gangs that none helps by itself: no levels, and others evicted.
std::vector<Remedy> remedies_together(const Plight& plight) {
  Alternative loose = plight.alternative;
  loose.gang = without_levels(std::move(loose.gang));
  auto remedy = remedy_by_eviction({.cluster = plight.cluster,
                                    .quota = plight.quota,
                                    .submission = plight.submission,
                                    .alternative = loose,
                                    .planned = plight.planned,
                                    .settled = plight.settled,
                                    .needs = plight.needs});
  if (!remedy) {
    return {};
  }
  remedy->relaxed = true;
  return {std::move(*remedy)};
}

}  // namespace

const char* to_string(RemedyKind kind) {
  switch (kind) {
    case RemedyKind::kFewerPods:
      return "FewerPods";
    case RemedyKind::kFewerGroups:
      return "FewerGroups";
    case RemedyKind::kCoarserLevel:
      return "CoarserLevel";
    case RemedyKind::kPreferred:
      return "PreferredLevel";
    case RemedyKind::kNoSlices:
      return "NoSlices";
    case RemedyKind::kShared:
      return "SharedDomain";
    case RemedyKind::kSmallerPods:
      return "SmallerPods";
    case RemedyKind::kNoSelector:
      return "NoNodeSelector";
    case RemedyKind::kTolerate:
      return "Tolerate";
    case RemedyKind::kGoFirst:
      return "GoFirst";
    case RemedyKind::kEvict:
      return "Evict";
    case RemedyKind::kMendHosts:
      return "MendHosts";
    case RemedyKind::kMoreHosts:
      return "MoreHosts";
    case RemedyKind::kMoreDomains:
      return "MoreDomains";
    case RemedyKind::kMoreQuota:
      return "MoreQuota";
  }
  return "";
}

std::optional<Trial> try_gang(const Plight& plight, const Gang& gang) {
  Trial trial;
  trial.outcome = plight.cluster.engine().place(gang);
  if (!trial.outcome.placement) {
    return std::nullopt;
  }
  trial.quota =
      plight.quota.fits(Quota::sum(plight.alternative.demand, least_counts(gang)), plight.submission.borrowing);
  return trial;
}

std::vector<Remedy> find_remedies(const Plight& plight, const Survey& survey) {
  std::vector<Remedy> all = remedies_of_request(plight, survey.measure(), survey.hosts());
  append(all, remedies_of_others(plight));
  append(all, remedies_of_quota(plight));
  // Last: the survey ends where nodes come and go.
  append(all, remedies_of_hosts(plight, survey));
  if (all.empty()) {
    append(all, remedies_together(plight));
  }
  std::stable_sort(all.begin(), all.end(), [](const Remedy& a, const Remedy& b) { return a.kind < b.kind; });
  return all;
}

}  // namespace gantree
