#include "plan_equals_run/answers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "cycle/cycle.h"
#include "dialects/dialects.h"
#include "dialects/family_marks.h"
#include "view/decision_json.h"

namespace gantree::test {

namespace {

std::vector<std::string> texts(const Tree* list) {
  std::vector<std::string> words;
  for (const Tree& item : list == nullptr ? std::vector<Tree>() : list->items) {
    words.push_back(item.text);
  }
  return words;
}

PodSetAnswer pod_set_of(const Tree& entry) {
  PodSetAnswer answer;
  const Tree* assignment = entry.find({"topologyAssignment"});
  if (assignment == nullptr) {
    return answer;
  }
  answer.levels = texts(assignment->find({"levels"}));
  for (const Tree& domain : assignment->find({"domains"})->items) {
    const std::string path = fmt::format("{}", fmt::join(texts(domain.find({"values"})), "/"));
    answer.places.insert(answer.places.end(), static_cast<std::size_t>(domain.num({"count"}, 0)), path);
    for (std::string& pod : texts(domain.find({"pods"}))) {
      answer.pods.push_back(std::move(pod));
    }
  }
  return answer;
}

std::string places_in_words(const std::vector<std::string>& places) {
  std::vector<std::pair<std::string, int>> runs;
  for (const std::string& place : places) {
    if (runs.empty() || runs.back().first != place) {
      runs.emplace_back(place, 0);
    }
    ++runs.back().second;
  }
  std::vector<std::string> words;
  for (const auto& [place, count] : runs) {
    words.push_back(count == 1 ? place : fmt::format("{} x{}", place, count));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::string GangAnswer::text() const {
  if (state != "Placed") {
    return reason.empty() ? state : fmt::format("{} ({})", state, reason);
  }
  std::vector<std::string> words;
  for (const auto& [name, set] : pod_sets) {
    words.push_back(fmt::format("{}: {}", name, places_in_words(set.places)));
  }
  return fmt::format("{} ({})", state, fmt::join(words, "; "));
}

namespace {

bool has_marks(const Tree& object) {
  for (const std::string_view part : {"labels", "annotations"}) {
    const Tree* marks = object.find({"metadata", part});
    if (marks != nullptr && std::any_of(marks->members.begin(), marks->members.end(),
                                        [](const auto& mark) { return is_family_mark(mark.first); })) {
      return true;
    }
  }
  return false;
}

// Pods that name Gantree's own scheduler and no family are placed one by one, in plans by KAI's rules.
bool is_plain_pod(const ManifestFile& file, const Tree& gang) {
  return std::any_of(file.objects.begin(), file.objects.end(), [&](const Manifest& object) {
    return gang.str({"kind"}) == "Pod" && object.kind == "Pod" && object.name == gang.str({"name"}) &&
           (object.ns.empty() ? "default" : object.ns) == gang.str({"namespace"}) &&
           object.tree.str({"spec", "schedulerName"}) == "gantree" && !has_marks(object.tree);
  });
}

bool is_live(const ManifestFile& file, const Tree& gang) {
  static const std::set<std::string> kNotLive = {"kai", "lws"};
  return !kNotLive.contains(gang.str({"dialect"})) || is_plain_pod(file, gang);
}

}  // namespace

Answers plan_answers(const ManifestFile& file) {
  Cluster cluster;
  Quota quota;
  quota.evict_by_share(file.shares);
  auto reading = take_in(file.documents, {}, cluster, quota);
  if (!reading) {
    fmt::print("{}\n", reading.error().message);
  }
  GANTREE_CHECK(reading);
  const Plan plan = run_cycle(cluster, quota, std::move(reading->queue));
  const Tree told = Tree::parse(plan_to_json(plan, cluster).to_json(false));
  Answers answers;
  for (const Tree& gang : told.find({"gangs"})->items) {
    GangAnswer answer{.kind = gang.str({"kind"}),
                      .live = is_live(file, gang),
                      .state = gang.str({"state"}),
                      .reason = gang.str({"reason"})};
    for (const Tree& set : gang.find({"podSets"})->items) {
      answer.pod_sets.emplace(set.str({"name"}), pod_set_of(set));
    }
    answers.gangs.emplace(gang.str({"namespace"}) + "/" + gang.str({"name"}), std::move(answer));
  }
  for (const Tree& eviction : told.find({"evictions"})->items) {
    answers.evictions.emplace(eviction.str({"namespace"}) + "/" + eviction.str({"name"}),
                              fmt::format("for {}: {}", eviction.str({"for"}), eviction.str({"reason"})));
  }
  return answers;
}

}  // namespace gantree::test
