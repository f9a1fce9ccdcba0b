#include "dialects/kueue/admitted_room.h"

#include <algorithm>

#include "dialects/gangs.h"
#include "model/topology.h"

namespace gantree::kueue {

namespace {

// The only one may go by another name: groups of pods have sets that nobody named.
const PodSetRequest* set_of(const AdmittedSet& admitted, const GangRecord& record, const JobRequest& request) {
  for (const PodSetRequest& set : request.pod_sets) {
    if (set.name == admitted.name) {
      return &set;
    }
  }
  const bool only = record.sets.size() == 1 && request.pod_sets.size() == 1;
  return only ? &request.pod_sets.front() : nullptr;
}

void confine_sets(Group& group, const AdmittedSet& admitted, Interner& strings) {
  for (PodSet& set : group.pod_sets) {
    if (set.name == admitted.name) {
      confine(set.shape, {.name = {}, .levels = admitted.levels}, admitted.domains.front().values, strings);
    }
  }
  for (Group& nested : group.groups) {
    confine_sets(nested, admitted, strings);
  }
}

bool is_one_domain(const AdmittedSet& admitted) {
  return !admitted.domains.empty() &&
         std::all_of(admitted.domains.begin(), admitted.domains.end(),
                     [&](const AdmittedDomain& domain) { return domain.values == admitted.domains.front().values; });
}

}  // namespace

std::vector<Holding> admitted_holdings(const GangRecord& record, const JobRequest& request, Inventory& inventory) {
  std::vector<Holding> holdings;
  for (const AdmittedSet& admitted : record.sets) {
    const PodSetRequest* set = set_of(admitted, record, request);
    if (set == nullptr || admitted.levels.empty() || admitted.levels.back() != kHostnameLabel) {
      return {};
    }
    for (const AdmittedDomain& domain : admitted.domains) {
      holdings.push_back({.node = inventory.reserve(domain.values.back()),
                          .requests = set->shape.requests,
                          .count = domain.count,
                          .pod_set = set->name});
    }
  }
  return holdings;
}

void hold_rest(std::vector<Holding> admitted, int most, RunningGang& gang, Inventory& inventory) {
  // A pod may be known by another name of its set than the admission has.
  std::vector<Holding> present = gang.holdings;
  for (const bool by_name : {true, false}) {
    for (Holding& has : present) {
      for (Holding& given : admitted) {
        const bool same = given.node == has.node && (!by_name || has.pod_set == given.pod_set);
        const int met = same ? std::min(has.count, given.count) : 0;
        given.count -= met;
        has.count -= met;
      }
    }
  }
  for (Holding& rest : admitted) {
    rest.count = std::min(rest.count, most);
    if (rest.count > 0) {
      most -= rest.count;
      inventory.take(rest.node, rest.requests, rest.count);
      gang.holdings.push_back(std::move(rest));
    }
  }
}

void keep_to_admission(const GangRecord& record, Submission& submission, Interner& strings) {
  submission.begun = submission.begun == Begun::kNot ? Begun::kTooFew : submission.begun;
  for (const AdmittedSet& admitted : record.sets) {
    if (!is_one_domain(admitted)) {
      continue;
    }
    for (std::vector<Alternative>& ways : submission.parts) {
      for (Alternative& way : ways) {
        confine_sets(way.gang.root, admitted, strings);
      }
    }
  }
}

}  // namespace gantree::kueue
