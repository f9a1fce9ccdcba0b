#include "dialects/koordinator/pod_group_status.h"

#include <algorithm>
#include <string>

#include "dialects/koordinator/names.h"
#include "dialects/workloads/workload.h"
#include "json/write.h"

namespace gantree::koordinator {

namespace {

constexpr std::string_view kCondition = "Scheduled";

std::int64_t number_at(json::Value object, std::string_view key) {
  json::Reader read("", "");
  return read.integer(object, key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())
      .value_or(0);
}

std::string_view string_at(json::Value object, std::string_view key) {
  const json::Value value = text_at(object, key);
  return value ? value.text() : std::string_view();
}

json::Value condition_in(json::Value status) {
  const json::Value conditions = status ? status["conditions"] : json::Value();
  if (conditions && conditions.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : conditions.items()) {
      if (string_at(json::Value(&item), "type") == kCondition) {
        return json::Value(&item);
      }
    }
  }
  return {};
}

// The condition as it should be; lastTransitionTime moves only where the status does.
json::Out condition_of(const Verdict& verdict, json::Value before, const std::string& now) {
  const std::string_view status = verdict.state == GangState::kPlaced ? "True" : "False";
  const bool same = before && string_at(before, "status") == status;
  const std::string_view since = same ? string_at(before, "lastTransitionTime") : std::string_view();
  json::Out condition = json::Out::object();
  condition.add("lastTransitionTime", since.empty() ? std::string_view(now) : since);
  condition.add("message", verdict.message);
  condition.add("reason", verdict.state == GangState::kPlaced ? "Placed" : to_string(verdict.reason));
  condition.add("status", status).add("type", kCondition);
  return condition;
}

bool says(json::Value condition, const Verdict& verdict) {
  return condition && string_at(condition, "message") == verdict.message &&
         string_at(condition, "status") == (verdict.state == GangState::kPlaced ? "True" : "False") &&
         string_at(condition, "reason") == (verdict.state == GangState::kPlaced ? "Placed" : to_string(verdict.reason));
}

}  // namespace

std::string_view phase_of(const MemberCounts& members, int min) {
  const int least = std::max(min, 1);
  const int alive = members.pending + members.bound;
  if (members.succeeded >= least && alive == 0) {
    return "Finished";
  }
  if (alive == 0 && members.failed > 0) {
    return "Failed";
  }
  // Those that have succeeded had their place.
  const int placed = members.bound + members.succeeded;
  if (members.running > 0 && members.running + members.succeeded >= least) {
    return "Running";
  }
  if (placed >= least) {
    return "Scheduled";
  }
  return alive + members.succeeded >= least ? "PreScheduling" : "Pending";
}

std::optional<Write> pod_group_status(const GangReport& report) {
  const json::Value object = report.object.value;
  const json::Value metadata = report.object.metadata();
  const json::Value old =
      object["status"] && object["status"].kind() == json::Kind::kObject ? object["status"] : json::Value();
  const MemberCounts& members = report.members;
  const std::string_view phase = phase_of(members, static_cast<int>(number_at(object["spec"], "minMember")));
  json::Out status = json::Out::object();
  bool differs = false;
  if (string_at(old, "phase") != phase) {
    status.add("phase", phase);
    differs = true;
  }
  const std::pair<std::string_view, int> counts[] = {{"scheduled", members.bound},
                                                     {"running", members.running},
                                                     {"succeeded", members.succeeded},
                                                     {"failed", members.failed}};
  for (const auto& [name, count] : counts) {
    if (number_at(old, name) != count) {
      status.add(name, count);
      differs = true;
    }
  }
  if (members.bound > 0 && string_at(old, "scheduleStartTime").empty()) {
    status.add("scheduleStartTime", report.now);
    differs = true;
  }
  const json::Value condition = condition_in(old);
  if (report.verdict != nullptr && !says(condition, *report.verdict)) {
    // The only condition there is, so the list may be written whole.
    status.add("conditions", json::Out::Array{condition_of(*report.verdict, condition, report.now)});
    differs = true;
  }
  if (!differs) {
    return std::nullopt;
  }
  json::Out patch = json::Out::object();
  patch.add("metadata", json::Out::object().add("uid", string_at(metadata, "uid")));
  patch.add("status", std::move(status));
  return Write{.verb = WriteVerb::kPatchStatus,
               .object = {.group = std::string(kPodGroupGroup),
                          .version = "v1alpha1",
                          .kind = "PodGroup",
                          .ns = std::string(string_at(metadata, "namespace")),
                          .name = std::string(string_at(metadata, "name")),
                          .uid = std::string(string_at(metadata, "uid"))},
               .body = patch.to_json(false)};
}

}  // namespace gantree::koordinator
