#include "kueue/budgets.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "dialects/core/metadata.h"

namespace gantree::kueue {

namespace {

// The labels that pods of a pod set have, as far as their template tells.
LabelMap labels_of(const PodSetRequest& set) {
  json::Reader read(kNoFile, set.at, "template");
  const json::Value metadata = read.object(read.object(set.at, "template"), "metadata");
  LabelMap labels = read_labels(read, metadata, "labels");
  return read.ok() ? labels : LabelMap();
}

}  // namespace

void Budgets::see(const LiveObject& object, const Object& parsed) {
  json::Reader read(kNoFile, parsed.value, object.name);
  const json::Value spec = read.object(parsed.value, "spec");
  const json::Value status = read.object(parsed.value, "status");
  Budget budget;
  budget.selector = read_label_selector(read, spec, "selector");
  budget.allowed = static_cast<int>(
      read.integer(status, "disruptionsAllowed", 0, std::numeric_limits<std::int32_t>::max()).value_or(0));
  // One that selects nothing at all protects nothing.
  if (!read.ok() || !spec || !spec["selector"]) {
    lose(object.ns, object.name);
    return;
  }
  budgets_.insert_or_assign({object.ns, object.name}, std::move(budget));
}

void Budgets::lose(std::string_view ns, std::string_view name) {
  budgets_.erase({std::string(ns), std::string(name)});
}

std::map<Budgets::Key, int> Budgets::pods_under(const RunningGang& gang, const Entry& entry) const {
  std::map<Key, int> under;
  for (auto it = budgets_.lower_bound({gang.key.ns, ""}); it != budgets_.end() && it->first.first == gang.key.ns;
       ++it) {
    for (const SetAssignment& set : entry.object.admission->sets) {
      const PodSetRequest* wanted = entry.pod_set(set.name);
      const int pods = set.count - entry.object.given_back(set);
      if (wanted != nullptr && pods > 0 && matches(it->second.selector, labels_of(*wanted))) {
        under[it->first] += pods;
      }
    }
  }
  return under;
}

void Budgets::shield(std::vector<std::pair<RunningGang, const Entry*>>& running) const {
  if (budgets_.empty()) {
    return;
  }
  std::vector<std::pair<RunningGang*, std::map<Key, int>>> covered;
  for (auto& [gang, entry] : running) {
    if (std::map<Key, int> under = pods_under(gang, *entry); !under.empty()) {
      covered.emplace_back(&gang, std::move(under));
    }
  }
  std::sort(covered.begin(), covered.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first->priority, -a.first->started_seconds, a.first->key) <
           std::tuple(b.first->priority, -b.first->started_seconds, b.first->key);
  });
  std::map<Key, int> left;
  for (const auto& [key, budget] : budgets_) {
    left.emplace(key, budget.allowed);
  }
  for (auto& [gang, under] : covered) {
    const bool goes =
        std::all_of(under.begin(), under.end(), [&](const auto& item) { return item.second <= left.at(item.first); });
    gang->evictable = gang->evictable && goes;
    for (const auto& [key, pods] : under) {
      left.at(key) -= gang->evictable ? pods : 0;
    }
  }
}

}  // namespace gantree::kueue
