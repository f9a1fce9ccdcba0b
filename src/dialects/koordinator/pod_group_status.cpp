#include "dialects/koordinator/pod_group_status.h"

#include <algorithm>
#include <string>

#include "dialects/koordinator/names.h"
#include "dialects/workloads/workload.h"
#include "json/write.h"

namespace gantree::koordinator {

namespace {

std::int64_t number_at(json::Value object, std::string_view key) {
  json::Reader read("", "");
  return read.integer(object, key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())
      .value_or(0);
}

std::string_view string_at(json::Value object, std::string_view key) {
  const json::Value value = text_at(object, key);
  return value ? value.text() : std::string_view();
}

json::Value condition_in(json::Value status, std::string_view type) {
  const json::Value conditions = status ? status["conditions"] : json::Value();
  if (conditions && conditions.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : conditions.items()) {
      if (string_at(json::Value(&item), "type") == type) {
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
  condition.add("status", status).add("type", kScheduledCondition);
  return condition;
}

// Whether it ever had its minimum, as it should say from now on; nothing where it is as it was. That is kept for good,
// until nobody of the group has a node any more: then it starts anew.
std::optional<bool> once_whole(const GangReport& report, int min, json::Value before) {
  const std::string_view said = before ? string_at(before, "status") : std::string_view();
  if (report.members.bound + report.members.succeeded >= std::max(min, 1)) {
    return said == "True" ? std::nullopt : std::optional(true);
  }
  return report.idle && said != "False" ? std::optional(false) : std::nullopt;
}

json::Out once_whole_condition(bool whole, const std::string& now) {
  json::Out condition = json::Out::object();
  condition.add("lastTransitionTime", now);
  condition.add("message", whole ? "it had its minimum" : "it did not have its minimum yet");
  condition.add("reason", whole ? "HadMinimum" : "NotYet");
  condition.add("status", whole ? "True" : "False").add("type", kOnceSatisfiedCondition);
  return condition;
}

// As it was.
void keep(json::Out::Array& conditions, json::Value before) {
  if (!before) {
    return;
  }
  json::Out condition = json::Out::object();
  for (const std::string_view key : {"lastTransitionTime", "message", "reason", "status", "type"}) {
    condition.add(key, string_at(before, key));
  }
  conditions.push_back(std::move(condition));
}

bool says(json::Value condition, const Verdict& verdict) {
  return condition && string_at(condition, "message") == verdict.message &&
         string_at(condition, "status") == (verdict.state == GangState::kPlaced ? "True" : "False") &&
         string_at(condition, "reason") == (verdict.state == GangState::kPlaced ? "Placed" : to_string(verdict.reason));
}

// The conditions as they should be; nothing where they are so already. They are the only ones that there are, so the
// list may be written whole.
std::optional<json::Out::Array> new_conditions(const GangReport& report, int min, json::Value old) {
  const json::Value scheduled = condition_in(old, kScheduledCondition);
  const json::Value recorded = condition_in(old, kOnceSatisfiedCondition);
  const auto whole = once_whole(report, min, recorded);
  const bool news = report.verdict != nullptr && !says(scheduled, *report.verdict);
  if (!news && !whole) {
    return std::nullopt;
  }
  json::Out::Array conditions;
  if (news) {
    conditions.push_back(condition_of(*report.verdict, scheduled, report.now));
  } else {
    keep(conditions, scheduled);
  }
  if (whole) {
    conditions.push_back(once_whole_condition(*whole, report.now));
  } else {
    keep(conditions, recorded);
  }
  return conditions;
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
  const int min = static_cast<int>(number_at(object["spec"], "minMember"));
  const std::string_view phase = phase_of(members, min);
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
  if (auto conditions = new_conditions(report, min, old)) {
    status.add("conditions", std::move(*conditions));
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
