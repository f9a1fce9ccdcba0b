#include "dialects/koordinator/roll.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dialects/koordinator/names.h"

namespace gantree::koordinator {

namespace {

GangKey key_of(const GangId& id) {
  const std::size_t slash = id.find('/');
  return {.ns = id.substr(0, slash), .name = id.substr(slash + 1), .kind = "PodGroup"};
}

// The first of those connected, by position. Shortens the way there for the next time.
std::size_t root_of(std::vector<std::size_t>& first, std::size_t at) {
  while (first[at] != at) {
    first[at] = first[first[at]];
    at = first[at];
  }
  return at;
}

// The first few names: lists may be long, and every pod of theirs is told.
std::string some_of(const std::vector<GangId>& ids) {
  constexpr std::size_t kShown = 5;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(kShown, ids.size()));
  const std::string names = fmt::format("{}", fmt::join(ids.begin(), ids.begin() + shown, ", "));
  return ids.size() <= kShown ? names : fmt::format("{} and {} more", names, ids.size() - kShown);
}

}  // namespace

void Roll::add(GangRules rules) {
  GangId id = rules.id();
  bundle_of_.emplace(id, 0);
  rules_.insert_or_assign(std::move(id), std::move(rules));
}

void Roll::take_metadata(std::string_view ns, std::string_view file, json::Value metadata, Unused& unused) {
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  const std::string_view name = gang_name(labels, annotations);
  if (name.empty()) {
    return;
  }
  const GangId id = gang_id(ns, name);
  bundle_of_.emplace(id, 0);
  const auto known = rules_.find(id);
  if (!has_rules(labels, annotations) || (known != rules_.end() && known->second.by_pod_group)) {
    return;
  }
  if (known == rules_.end()) {
    rules_.emplace(id, read_pod_rules(ns, file, metadata, unused));
    return;
  }
  Unused counted_already;
  const GangRules other = read_pod_rules(ns, file, metadata, counted_already);
  GangRules& first = known->second;
  if (!first.objection && other.objection) {
    first.objection = other.objection;
  } else if (!first.objection && !agree(first, other)) {
    first.objection =
        fmt::format("{}: the pods of {} contradict each other in their {}* annotations (another is at {})",
                    json::to_string(other.place), first.title(), kGangPrefix, json::to_string(first.place));
  }
}

void Roll::settle(const Intake& intake, Unused& unused) {
  for (const Workload& workload : intake.workloads) {
    for (const PodTemplate& part : workload.templates) {
      take_metadata(workload.key.ns, workload.object.file, part.metadata, unused);
    }
  }
  for (const PodRecord& pod : intake.pods) {
    take_metadata(pod.ns, pod.object.file, pod.object.metadata(), unused);
  }
  bundle();
}

void Roll::bundle() {
  for (const auto& [id, rules] : rules_) {
    for (const GangId& other : rules.group) {
      bundle_of_.emplace(other, 0);
    }
  }
  // By position in the order of names, so that the first is the smallest.
  std::vector<std::size_t> first;
  first.reserve(bundle_of_.size());
  for (auto& [id, position] : bundle_of_) {
    position = first.size();
    first.push_back(position);
  }
  for (const auto& [id, rules] : rules_) {
    for (const GangId& other : rules.group) {
      const std::size_t a = root_of(first, bundle_of_.at(id));
      const std::size_t b = root_of(first, bundle_of_.at(other));
      first[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::optional<std::size_t>> bundle_at(first.size());
  for (auto& [id, position] : bundle_of_) {
    auto& bundle = bundle_at[root_of(first, position)];
    if (!bundle) {
      bundle = bundles_.size();
      bundles_.push_back({.gangs = {}, .key = key_of(id), .objection = {}});
    }
    position = *bundle;
    bundles_[position].gangs.push_back(id);
  }
  for (Bundle& bundle : bundles_) {
    check(bundle);
  }
}

// All of a bundle must be valid in themselves and want the same.
void Roll::check(Bundle& bundle) const {
  const GangRules* lists = nullptr;
  const GangRules* gathers = nullptr;
  for (const GangId& id : bundle.gangs) {
    const GangRules* one = rules(id);
    if (one == nullptr || bundle.objection) {
      continue;
    }
    if (one->objection) {
      bundle.objection = one->objection;
      return;
    }
    if (lists != nullptr && lists->group != one->group) {
      const json::Value at = one->group_at ? one->group_at : lists->group_at;
      const GangRules* where = one->group_at ? one : lists;
      bundle.objection = fmt::format("{}: {}: {} and {} contradict each other: the first lists [{}], the second [{}]",
                                     json::to_string({where->place.file, at ? at.line() : where->place.line}), kGroups,
                                     lists->title(), one->title(), some_of(lists->group), some_of(one->group));
      return;
    }
    lists = lists == nullptr ? one : lists;
    if (one->gather.present() && gathers != nullptr && !(gathers->gather.rules == one->gather.rules)) {
      bundle.objection = fmt::format("{}: {}: {} and {} are of one group, but ask for different topologies",
                                     json::to_string({one->gather.file, one->gather.at.line()}), kTopologySpec,
                                     gathers->title(), one->title());
      return;
    }
    gathers = one->gather.present() && gathers == nullptr ? one : gathers;
  }
}

const GangRules* Roll::rules(const GangId& id) const {
  const auto it = rules_.find(id);
  return it == rules_.end() ? nullptr : &it->second;
}

const Bundle* Roll::bundle_of(const GangId& id) const {
  const auto it = bundle_of_.find(id);
  return it == bundle_of_.end() ? nullptr : &bundles_[it->second];
}

}  // namespace gantree::koordinator
