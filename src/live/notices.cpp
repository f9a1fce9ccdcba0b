#include "live/notices.h"

#include <fmt/format.h>

#include "json/write.h"

namespace gantree {

namespace {

// What the API allows of an event's note and name.
constexpr std::size_t kLongestNote = 1024;
constexpr std::size_t kLongestName = 200;

// At most so many bytes, without half a character at the end.
std::string_view clipped(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return text;
  }
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
    --most;
  }
  return text.substr(0, most);
}

json::Out condition(std::string_view type, std::string_view status, std::string_view reason, std::string_view message,
                    Time now) {
  json::Out condition = json::Out::object();
  condition.add("type", type).add("status", status).add("reason", reason).add("message", message);
  condition.add("lastProbeTime", json::Out()).add("lastTransitionTime", rfc3339(now));
  return condition;
}

Write status_patch(const ObjectRef& pod, json::Out status) {
  json::Out patch = json::Out::object();
  patch.add("metadata", json::Out::object().add("uid", pod.uid));
  patch.add("status", std::move(status));
  return {.verb = WriteVerb::kPatchStatus, .object = pod, .node = {}, .body = patch.to_json(false)};
}

}  // namespace

ObjectRef pod_ref(std::string_view key, std::string_view uid) {
  const std::size_t slash = key.find('/');
  return {.group = "",
          .version = "v1",
          .kind = "Pod",
          .ns = std::string(key.substr(0, slash)),
          .name = std::string(key.substr(slash + 1)),
          .uid = std::string(uid)};
}

std::string condition_message(const Verdict& verdict) {
  return fmt::format("{}: {}", to_string(verdict.reason), verdict.message);
}

Write pod_waits(const ObjectRef& pod, const Verdict& verdict, std::optional<std::string_view> nominated, Time now) {
  json::Out status = json::Out::object();
  status.add("conditions",
             json::Out::Array{condition("PodScheduled", "False", kUnschedulable, condition_message(verdict), now)});
  if (nominated) {
    status.add("nominatedNodeName", nominated->empty() ? json::Out() : json::Out(*nominated));
  }
  return status_patch(pod, std::move(status));
}

Write clear_nomination(const ObjectRef& pod) {
  return status_patch(pod, json::Out::object().add("nominatedNodeName", json::Out()));
}

Write preempt_pod(const ObjectRef& pod, const Preemptor& by, Time now) {
  std::string message =
      fmt::format("{}: preempting to accommodate higher priority pods, preemptor: {}", by.scheduler, by.gang);
  if (!by.pod.empty()) {
    message += fmt::format(", triggerpod: {}", by.pod);
  }
  json::Out status = json::Out::object();
  status.add("conditions",
             json::Out::Array{condition("DisruptionTarget", "True", "PreemptionByScheduler", message, now)});
  Write write = status_patch(pod, std::move(status));
  write.verb = WriteVerb::kPreempt;
  return write;
}

Write event(const Notice& notice, std::string_view instance, std::uint64_t number, Time now) {
  const ObjectRef& about = notice.about;
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const std::string name =
      fmt::format("{}.{:x}.{:x}", clipped(about.name, kLongestName), now.time_since_epoch().count(), number);
  json::Out regarding = json::Out::object();
  regarding.add("apiVersion", about.group.empty() ? about.version : about.group + "/" + about.version);
  regarding.add("kind", about.kind).add("name", about.name).add("namespace", about.ns).add("uid", about.uid);
  json::Out event = json::Out::object();
  event.add("apiVersion", "events.k8s.io/v1").add("kind", "Event");
  event.add("metadata", json::Out::object().add("name", name).add("namespace", ns));
  event.add("eventTime", rfc3339_micro(now));
  event.add("type", notice.warning ? "Warning" : "Normal").add("reason", notice.reason).add("action", notice.action);
  event.add("note", clipped(notice.note, kLongestNote)).add("regarding", std::move(regarding));
  event.add("reportingController", "gantree").add("reportingInstance", clipped(instance, 128));
  return {.verb = WriteVerb::kCreate,
          .object = {.group = "events.k8s.io", .version = "v1", .kind = "Event", .ns = ns, .name = name, .uid = {}},
          .node = {},
          .body = event.to_json(false)};
}

}  // namespace gantree
