#include "dialects/kueue/workload_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string_view>

#include "dialects/core/label_selector.h"
#include "dialects/core/metadata.h"
#include "dialects/objection.h"
#include "json/decode.h"
#include "json/equal.h"
#include "model/topology.h"

namespace gantree::kueue {

namespace {

constexpr std::int64_t kMostCounted = std::numeric_limits<std::int32_t>::max();

// A count for each pod set, by its name.
using Counts = std::map<std::string_view, std::int64_t>;

Counts counts_in(json::Reader& read, json::Value list, std::int64_t otherwise) {
  Counts counts;
  for (const json::NodeData& item : items_of(list)) {
    const json::Value one(&item);
    counts.emplace(read.require_text(one, "name"), read.integer(one, "count", 0, kMostCounted).value_or(otherwise));
  }
  return counts;
}

Unit unit_of(std::string_view resource) {
  return resource == "cpu" ? Unit::kMilli : Unit::kOne;
}

bool holds_quota(json::Reader& read, json::Value status) {
  return condition(read, status, "QuotaReserved").value_or(false);
}

void check_admission(json::Reader& read, json::Value admission, const Counts& pod_sets) {
  for (const json::NodeData& item : items_of(admission["podSetAssignments"])) {
    const json::Value given(&item);
    const std::string_view name = read.require_text(given, "name");
    if (!pod_sets.contains(name)) {
      read.complain(given, fmt::format("{}.name: there is no pod set \"{}\"", read.path(given), name));
    }
    const std::int64_t count = read.integer(given, "count", 0, kMostCounted).value_or(0);
    const json::Value usage = read.object(given, "resourceUsage");
    for (const json::MemberData& member : usage&& count > 0 ? usage.members() : std::span<const json::MemberData>()) {
      const auto amount = read.quantity(usage, member.key, unit_of(member.key), Round::kUp);
      if (amount && *amount % count != 0) {
        read.complain(given, fmt::format("{}.resourceUsage.{} cannot be shared out evenly among {} pods",
                                         read.path(given), member.key, count));
      }
    }
  }
}

// The same amounts, however they are written.
bool uses_the_same(json::Value now, json::Value before) {
  if (!now || !before) {
    return !now && !before;
  }
  const auto members = now.members();
  return members.size() == before.members().size() &&
         std::all_of(members.begin(), members.end(), [&](const json::MemberData& member) {
           json::Reader read("", "");
           const Unit unit = unit_of(member.key);
           const auto one = read.quantity(now, member.key, unit, Round::kUp);
           return one && one == read.quantity(before, member.key, unit, Round::kUp);
         });
}

// Where pods go may change as long as they are the same pods.
bool gives_the_same(json::Value now, json::Value before) {
  const auto now_given = items_of(now["podSetAssignments"]);
  const auto given_before = items_of(before["podSetAssignments"]);
  const auto same_but_place = [](const json::NodeData& a, const json::NodeData& b) {
    const json::Value one(&a);
    const json::Value other(&b);
    return json::equal(one["name"], other["name"]) && json::equal(one["flavors"], other["flavors"]) &&
           json::equal(one["count"], other["count"]) &&
           uses_the_same(map_at(one, "resourceUsage"), map_at(other, "resourceUsage"));
  };
  return json::equal(now["clusterQueue"], before["clusterQueue"]) &&
         std::equal(now_given.begin(), now_given.end(), given_before.begin(), given_before.end(), same_but_place);
}

void check_reclaimable(json::Reader& read, json::Value status, const Counts& pod_sets) {
  for (const json::NodeData& item : items_of(status["reclaimablePods"])) {
    const json::Value one(&item);
    const std::string_view name = read.require_text(one, "name");
    const std::int64_t count = read.integer(one, "count", 0, kMostCounted).value_or(0);
    const auto set = pod_sets.find(name);
    if (set == pod_sets.end()) {
      read.complain(one, fmt::format("{}.name: there is no pod set \"{}\"", read.path(one), name));
    } else if (count > set->second) {
      read.complain(one, fmt::format("{}.count can be at most {}, the count of pod set \"{}\"", read.path(one),
                                     set->second, name));
    }
  }
}

void check_reclaimed_before(json::Reader& read, json::Value status, json::Value before) {
  const Counts now = counts_in(read, status["reclaimablePods"], 0);
  for (const auto& [name, count] : counts_in(read, before["reclaimablePods"], 0)) {
    const auto it = now.find(name);
    if (it == now.end() || it->second < count) {
      read.complain(status, fmt::format("status.reclaimablePods of pod set \"{}\" cannot go below {} while quota is "
                                        "reserved",
                                        name, count));
    }
  }
}

void check_update_of_pods(json::Reader& read, json::Value update, const Counts& pod_sets) {
  const std::string_view name = read.require_text(update, "name");
  if (!pod_sets.contains(name)) {
    read.complain(update, fmt::format("{}.name: there is no pod set \"{}\"", read.path(update), name));
  }
  check_labels(read, read.texts(update, "labels"));
  check_labels(read, read.texts(update, "nodeSelector"));
  const json::Value annotations = read.texts(update, "annotations");
  for (const json::MemberData& member : annotations ? annotations.members() : std::span<const json::MemberData>()) {
    if (!is_label_key(member.key)) {
      read.complain(annotations,
                    fmt::format("{}: \"{}\" is no name of an annotation", read.path(annotations), member.key));
    }
  }
  for (const json::NodeData& item : items_of(update["tolerations"])) {
    const json::Value toleration(&item);
    const std::string_view key = read.text(toleration, "key").value_or("");
    if (!key.empty() && !is_label_key(key)) {
      read.complain(toleration, fmt::format("{}.key: \"{}\" is not a label key", read.path(toleration), key));
    }
  }
}

void check_checks(json::Reader& read, json::Value status, json::Value before, const Counts& pod_sets) {
  for (const json::NodeData& item : items_of(status["admissionChecks"])) {
    const json::Value check(&item);
    for (const json::NodeData& update : items_of(check["podSetUpdates"])) {
      check_update_of_pods(read, json::Value(&update), pod_sets);
    }
    for (const json::NodeData& other : items_of(before["admissionChecks"])) {
      const json::Value old(&other);
      const bool ready = read.text(check, "state") == "Ready" && read.text(old, "state") == "Ready";
      if (ready && json::equal(check["name"], old["name"]) &&
          !json::equal(check["podSetUpdates"], old["podSetUpdates"])) {
        read.complain(check,
                      fmt::format("{}.podSetUpdates cannot be changed while the check is ready", read.path(check)));
      }
    }
  }
}

// The cluster that a Workload is sent to is one of those that were nominated for it.
void check_cluster(json::Reader& read, json::Value status, json::Value before) {
  const std::string_view cluster = read.text(status, "clusterName").value_or("");
  const auto nominated = items_of(before["nominatedClusterNames"]);
  const bool known = std::any_of(nominated.begin(), nominated.end(), [&](const json::NodeData& item) {
    return item.kind == json::Kind::kString && json::Value(&item).text() == cluster;
  });
  if (!cluster.empty() && !before["clusterName"] && !known) {
    read.complain(status["clusterName"],
                  fmt::format("status.clusterName: \"{}\" was not among status.nominatedClusterNames", cluster));
  }
}

}  // namespace

std::optional<std::string> wrong_in_status(const NamedObject& named, const Object& old) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Workload \"{}/{}\"", named.ns, named.name));
  const json::Value status = read.object(object.value, "status");
  const json::Value before = map_at(old.value, "status");
  const json::Value admission = read.object(status, "admission");
  const json::Value admission_before = map_at(before, "admission");
  const Counts pod_sets = counts_in(read, map_at(object.value, "spec")["podSets"], 1);
  json::Reader past(old.file, old.value, "before");
  const bool held = holds_quota(past, before);
  const bool holds = holds_quota(read, status);
  if (holds && !admission && !(held && !admission_before)) {
    read.complain(status, "status.admission is missing: quota is reserved by it");
  }
  if (holds && admission) {
    check_admission(read, admission, pod_sets);
  }
  if (admission && admission_before && !gives_the_same(admission, admission_before)) {
    read.complain(admission, "status.admission cannot be changed, only taken away and given anew");
  }
  if (!json::equal(status["reclaimablePods"], before["reclaimablePods"])) {
    check_reclaimable(read, status, pod_sets);
    if (holds && held) {
      check_reclaimed_before(read, status, before);
    }
  }
  check_checks(read, status, before, pod_sets);
  check_cluster(read, status, before);
  return read.ok() ? std::nullopt : std::optional(without_place(object.file, read.error().value().message));
}

}  // namespace gantree::kueue
