#include "dialects/kai/pod_group_status.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "json/write.h"

namespace gantree::kai {

namespace {

constexpr std::string_view kUnschedulableOnNodePool = "UnschedulableOnNodePool";
constexpr std::string_view kUnschedulable = "Unschedulable";
constexpr std::string_view kDefaultPool = "default";

std::string_view string_at(json::Value object, std::string_view key) {
  const json::Value value = text_at(object, key);
  return value ? value.text() : std::string_view();
}

// The one that says that it cannot be scheduled; the only one that there is.
json::Value condition_in(json::Value status) {
  const json::Value conditions = status ? status["schedulingConditions"] : json::Value();
  if (conditions && conditions.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : conditions.items()) {
      if (string_at(json::Value(&item), "type") == kUnschedulableOnNodePool) {
        return json::Value(&item);
      }
    }
  }
  return {};
}

// Its reasons have a list of their own: those that KAI has a word for.
std::string_view word_for(const Verdict& verdict) {
  if (verdict.message.find(kEvictsNobodyBefore) != std::string::npos) {
    return "PreemptionDelayNotElapsed";
  }
  switch (verdict.reason) {
    case Reason::kQueueNotFound:
      return "QueueDoesNotExist";
    case Reason::kQuotaExceeded:
      return verdict.message.find("non-preemptible quota") != std::string::npos ? "NonPreemptibleOverQuota"
                                                                                : "OverLimit";
    default:
      return "";
  }
}

// Counts the times that it came to be so; every reader knows by it whether there is something new.
std::string next_transition(json::Value before) {
  const std::string_view last = string_at(before, "transitionID");
  std::uint32_t number = 0;
  std::from_chars(last.data(), last.data() + last.size(), number);
  return std::to_string(number + 1);
}

json::Out condition_of(const Verdict& verdict, json::Value before, std::string_view pool, const std::string& now) {
  json::Out condition = json::Out::object();
  condition.add("lastTransitionTime", now);
  condition.add("message", verdict.message);
  condition.add("nodePool", pool);
  condition.add("reason", kUnschedulable);
  if (const std::string_view word = word_for(verdict); !word.empty()) {
    json::Out::Array reasons;
    reasons.push_back(json::Out::object().add("message", verdict.message).add("reason", word));
    condition.add("reasons", std::move(reasons));
  }
  condition.add("status", "True");
  condition.add("transitionID", next_transition(before));
  condition.add("type", kUnschedulableOnNodePool);
  return condition;
}

}  // namespace

std::string_view reason_of(const Verdict& verdict) {
  const std::string_view word = word_for(verdict);
  return !word.empty() ? word : verdict.reason == Reason::kGangIncomplete ? "NotReady" : kUnschedulable;
}

std::optional<Write> pod_group_status(const GangReport& report) {
  const json::Value metadata = report.object.metadata();
  const json::Value object = report.object.value;
  const json::Value old =
      object["status"] && object["status"].kind() == json::Kind::kObject ? object["status"] : json::Value();
  const json::Value before = condition_in(old);
  // It is not said of gangs that have begun, nor kept where nothing waits any more.
  const bool none = report.members.bound > 0 || report.members.pending == 0;
  const bool placed = report.verdict != nullptr && report.verdict->state == GangState::kPlaced;
  const bool news = report.verdict != nullptr && !placed && string_at(before, "message") != report.verdict->message;
  json::Out::Array conditions;
  if (none || placed) {
    if (!before) {
      return std::nullopt;
    }
  } else if (news) {
    const std::string_view pool = string_at(map_at(metadata, "labels"), kNodePool);
    conditions.push_back(condition_of(*report.verdict, before, pool.empty() ? kDefaultPool : pool, report.now));
  } else {
    return std::nullopt;
  }
  json::Out status = json::Out::object();
  status.add("schedulingConditions", std::move(conditions));
  json::Out patch = json::Out::object();
  patch.add("metadata", json::Out::object().add("uid", string_at(metadata, "uid")));
  patch.add("status", std::move(status));
  return Write{.verb = WriteVerb::kPatchStatus,
               .object = {.group = std::string(kSchedulingGroup),
                          .version = "v2alpha2",
                          .kind = "PodGroup",
                          .ns = std::string(string_at(metadata, "namespace")),
                          .name = std::string(string_at(metadata, "name")),
                          .uid = std::string(string_at(metadata, "uid"))},
               .body = patch.to_json(false)};
}

}  // namespace gantree::kai
