#include "live/budgets.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "dialects/core/metadata.h"

namespace gantree {

namespace {

// Where a namespace has more budgets, or longer ones, nobody of it is evicted: who is protected would take too long to
// find out.
constexpr std::size_t kMostBudgets = 200;
constexpr std::size_t kMostBudgetBytes = 1U << 20U;

}  // namespace

void Budgets::see(const LiveObject& object, const Object& parsed) {
  json::Reader read(kNoFile, parsed.value, object.name);
  const json::Value spec = read.object(parsed.value, "spec");
  const json::Value status = read.object(parsed.value, "status");
  Budget budget;
  budget.bytes = object.text.size();
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

bool Budgets::any_in(std::string_view ns) const {
  const auto first = budgets_.lower_bound({std::string(ns), ""});
  return first != budgets_.end() && first->first.first == ns;
}

bool Budgets::too_many_in(std::string_view ns) const {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (auto it = budgets_.lower_bound({std::string(ns), ""}); it != budgets_.end() && it->first.first == ns; ++it) {
    ++count;
    bytes += it->second.bytes;
  }
  return count > kMostBudgets || bytes > kMostBudgetBytes;
}

std::map<Budgets::Key, int> Budgets::pods_under(const Victim& victim) const {
  std::map<Key, int> under;
  const std::string& ns = victim.gang.key.ns;
  for (auto it = budgets_.lower_bound({ns, ""}); it != budgets_.end() && it->first.first == ns; ++it) {
    for (const auto& [labels, pods] : victim.labels) {
      if (matches(it->second.selector, labels)) {
        under[it->first] += pods;
      }
    }
  }
  return under;
}

void Budgets::shield(std::vector<Victim>& victims) const {
  if (budgets_.empty()) {
    return;
  }
  std::map<std::string_view, bool> crowded;  // namespaces with too many
  std::vector<std::pair<RunningGang*, std::map<Key, int>>> covered;
  for (Victim& victim : victims) {
    const auto [it, fresh] = crowded.try_emplace(victim.gang.key.ns, false);
    it->second = fresh ? too_many_in(victim.gang.key.ns) : it->second;
    if (it->second) {
      victim.gang.evictable = false;
    } else if (std::map<Key, int> under = pods_under(victim); !under.empty()) {
      covered.emplace_back(&victim.gang, std::move(under));
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

}  // namespace gantree
