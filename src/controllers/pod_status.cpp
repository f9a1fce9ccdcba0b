#include "controllers/pod_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>
#include <vector>

namespace gantree::controllers {

namespace {

constexpr std::string_view kProbed = "lastProbeTime";
constexpr std::string_view kCrashLoop = "CrashLoopBackOff";

// "10s", "2m40s": as Go says it.
std::string duration_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  return seconds < 60 ? fmt::format("{}s", seconds) : fmt::format("{}m{}s", seconds / 60, seconds % 60);
}

void set_ready(Array& conditions, bool ready, std::string_view reason, std::string_view message, Time now) {
  const std::string_view status = ready ? "True" : "False";
  set_condition(conditions, {"Ready", status, reason, message, {}, kProbed}, now);
  set_condition(conditions, {"ContainersReady", status, reason, message, {}, kProbed}, now);
}

// An address that stays the same for the same name.
std::string made_up_address(int first, std::string_view name) {
  const std::size_t hash = std::hash<std::string_view>()(name);
  return fmt::format("10.{}.{}.{}", first + static_cast<int>(hash % 64), (hash >> 8) % 256, 1 + (hash >> 16) % 254);
}

std::string address_of(const Item* node) {
  if (node == nullptr) {
    return "127.0.0.1";
  }
  const Object root = node->value();
  const Array* addresses = array_at(root, {"status", "addresses"});
  for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
    if (text_at((*addresses)[i], {"type"}) == "InternalIP") {
      return std::string(text_at((*addresses)[i], {"address"}));
    }
  }
  return made_up_address(64, node->name);
}

const Value* status_of(const Object& pod, std::string_view list, std::string_view container) {
  const Array* statuses = array_at(pod, {"status", list});
  for (std::size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
    if (text_at((*statuses)[i], {"name"}) == container) {
      return &(*statuses)[i];
    }
  }
  return nullptr;
}

// A container's id is another one after each start. Ours tells when that was, to the millisecond (times of the API are
// whole seconds, too coarse where a minute takes one), and how often it had crashed by then.
constexpr std::string_view kScheme = "simulated://";

std::string new_id(const Object& pod, std::string_view container, Crashes crashes, Time now) {
  return fmt::format("{}{}-{}-{:x}-{:x}", kScheme, text_at(pod, {"metadata", "uid"}), container,
                     now.time_since_epoch().count(), crashes);
}

// The number at the end of the id, or the one before it.
std::optional<std::int64_t> number_in_id(const Object& pod, int from_end) {
  const Array* statuses = array_at(pod, {"status", "containerStatuses"});
  std::string_view id =
      statuses == nullptr || statuses->empty() ? std::string_view() : text_at((*statuses)[0], {"containerID"});
  if (!id.starts_with(kScheme)) {
    return std::nullopt;
  }
  for (; from_end > 0 && id.find('-') != std::string_view::npos; --from_end) {
    id = id.substr(0, id.rfind('-'));
  }
  id.remove_prefix(id.rfind('-') + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number, 16);
  return error == std::errc() && end == id.data() + id.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

Object container_status(const Object& pod, const Value& container, Object state, bool runs) {
  const std::string_view name = text_at(container, {"name"});
  const Value* before = status_of(pod, "containerStatuses", name);
  const std::string_view id = before == nullptr ? std::string_view() : text_at(*before, {"containerID"});
  const Object* last = before == nullptr ? nullptr : object_at(*before, {"lastState"});
  Object status;
  status["name"] = name;
  status["image"] = text_at(container, {"image"});
  status["imageID"] = "";
  status["containerID"] = id;
  status["ready"] = runs;
  status["started"] = runs;
  status["restartCount"] = before == nullptr ? 0 : whole_at(*before, {"restartCount"});
  status["state"] = std::move(state);
  status["lastState"] = last == nullptr ? Object() : *last;
  return status;
}

// How the container that runs ends now.
Object terminated_state(const Object& pod, std::string_view container, int exit_code, Time now) {
  const Value* before = status_of(pod, "containerStatuses", container);
  std::string started = before == nullptr ? "" : std::string(text_at(*before, {"state", "running", "startedAt"}));
  const std::string_view id = before == nullptr ? std::string_view() : text_at(*before, {"containerID"});
  return Object{{"terminated", Object{{"containerID", id},
                                      {"exitCode", exit_code},
                                      {"reason", exit_code == 0 ? "Completed" : "Error"},
                                      {"startedAt", started.empty() ? rfc3339(now) : std::move(started)},
                                      {"finishedAt", rfc3339(now)}}}};
}

Array container_statuses(const Object& pod, const std::function<Object(const Value&)>& make) {
  Array statuses;
  if (const Array* containers = array_at(pod, {"spec", "containers"})) {
    for (const Value& container : *containers) {
      statuses.push_back(make(container));
    }
  }
  return statuses;
}

// Init containers have done their work before the others start.
Array ended_init_statuses(const Object& pod, Time now) {
  Array statuses;
  const Array* containers = array_at(pod, {"spec", "initContainers"});
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    const bool sidecar = text_at((*containers)[i], {"restartPolicy"}) == "Always";
    const std::string time = rfc3339(now);
    Object state =
        sidecar ? Object{{"running", Object{{"startedAt", time}}}}
                : Object{{"terminated",
                          Object{{"exitCode", 0}, {"reason", "Completed"}, {"startedAt", time}, {"finishedAt", time}}}};
    Object status = container_status(pod, (*containers)[i], std::move(state), sidecar);
    status["containerID"] = new_id(pod, text_at((*containers)[i], {"name"}), 0, now);
    status["ready"] = true;
    statuses.push_back(std::move(status));
  }
  return statuses;
}

// Where it is, and since when.
Object place_status(const Object& pod, const Item* node, const std::string& address, Time now) {
  Object status;
  if (text_at(pod, {"status", "startTime"}).empty()) {
    status["startTime"] = rfc3339(now);
  }
  const std::string host = address_of(node);
  const std::string own = flag_at(pod, {"spec", "hostNetwork"}) ? host : address;
  status["hostIP"] = host;
  status["hostIPs"] = Array{Object{{"ip", host}}};
  if (!own.empty()) {
    status["podIP"] = own;
    status["podIPs"] = Array{Object{{"ip", own}}};
  }
  return status;
}

std::string unready_text(const Object& pod) {
  std::vector<std::string_view> names;
  const Array* containers = array_at(pod, {"spec", "containers"});
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    names.push_back(text_at((*containers)[i], {"name"}));
  }
  return fmt::format("containers with unready status: [{}]", fmt::join(names, " "));
}

}  // namespace

Object creating_status(const Object& pod, const Item* node, const std::string& address, std::string_view reason,
                       std::string_view message, Time now) {
  Object status = place_status(pod, node, address, now);
  Array conditions = conditions_of(pod);
  set_condition(conditions, {"PodReadyToStartContainers", address.empty() ? "False" : "True", "", "", {}, kProbed},
                now);
  set_condition(conditions, {"Initialized", "True", "", "", {}, kProbed}, now);
  set_ready(conditions, false, "ContainersNotReady", unready_text(pod), now);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    Object waiting{{"reason", reason}};
    if (!message.empty()) {
      waiting["message"] = message;
    }
    Object one = container_status(pod, container, Object{{"waiting", std::move(waiting)}}, false);
    one.erase("containerID");
    return one;
  });
  return status;
}

Object running_status(const Object& pod, const Item* node, const std::string& address, Time now) {
  const std::string time = rfc3339(now);
  Object status = place_status(pod, node, address, now);
  status["phase"] = "Running";
  Array conditions = conditions_of(pod);
  set_condition(conditions, {"PodReadyToStartContainers", "True", "", "", {}, kProbed}, now);
  set_condition(conditions, {"Initialized", "True", "", "", {}, kProbed}, now);
  set_ready(conditions, true, "", "", now);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    Object one = container_status(pod, container, Object{{"running", Object{{"startedAt", time}}}}, true);
    one["containerID"] = new_id(pod, text_at(container, {"name"}), 0, now);
    return one;
  });
  if (Array init = ended_init_statuses(pod, now); !init.empty()) {
    status["initContainerStatuses"] = std::move(init);
  }
  return status;
}

Object restarted_status(const Object& pod, int exit_code, Crashes crashes, Time now) {
  Object status;
  const bool waited = waiting_since(pod).has_value();
  Array conditions = conditions_of(pod);
  set_ready(conditions, true, "", "", now);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    const std::string_view name = text_at(container, {"name"});
    Object one = container_status(pod, container, Object{{"running", Object{{"startedAt", rfc3339(now)}}}}, true);
    one["restartCount"] = one["restartCount"].as_int64() + 1;
    one["containerID"] = new_id(pod, name, crashes, now);
    if (!waited) {
      one["lastState"] = terminated_state(pod, name, exit_code, now);
    }
    return one;
  });
  return status;
}

Object waiting_status(const Object& pod, int exit_code, std::chrono::seconds pause, Time now) {
  Object status;
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    const std::string_view name = text_at(container, {"name"});
    Object waiting{
        {"reason", kCrashLoop},
        {"message", fmt::format("back-off {} restarting failed container={} pod={}_{}({})", duration_text(pause), name,
                                text_at(pod, {"metadata", "name"}), text_at(pod, {"metadata", "namespace"}),
                                text_at(pod, {"metadata", "uid"}))}};
    Object one = container_status(pod, container, Object{{"waiting", std::move(waiting)}}, false);
    one["lastState"] = terminated_state(pod, name, exit_code, now);
    return one;
  });
  Array conditions = conditions_of(pod);
  set_ready(conditions, false, "ContainersNotReady", unready_text(pod), now);
  status["conditions"] = std::move(conditions);
  return status;
}

Object ended_status(const Object& pod, int exit_code, Time now) {
  Object status;
  const bool good = exit_code == 0;
  status["phase"] = good ? "Succeeded" : "Failed";
  Array conditions = conditions_of(pod);
  set_condition(conditions, {"PodReadyToStartContainers", "False", "", "", {}, kProbed}, now);
  set_ready(conditions, false, good ? "PodCompleted" : "PodFailed", "", now);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    return container_status(pod, container, terminated_state(pod, text_at(container, {"name"}), exit_code, now), false);
  });
  return status;
}

Object readiness_status(const Object& pod, bool ready, std::string_view reason, std::string_view message, Time now) {
  Array conditions = conditions_of(pod);
  set_ready(conditions, ready, reason, message, now);
  return Object{{"conditions", std::move(conditions)}};
}

Time started_at(const Object& pod) {
  const Array* statuses = array_at(pod, {"status", "containerStatuses"});
  const std::int64_t running =
      statuses == nullptr || statuses->empty() ? 0 : time_at((*statuses)[0], {"state", "running", "startedAt"});
  const Time coarse(std::chrono::seconds(running != 0 ? running : time_at(pod, {"status", "startTime"})));
  const auto exact = number_in_id(pod, 1);
  return exact ? std::max(coarse, Time(std::chrono::milliseconds(*exact))) : coarse;
}

std::optional<Time> waiting_since(const Object& pod) {
  const Array* statuses = array_at(pod, {"status", "containerStatuses"});
  if (statuses == nullptr || statuses->empty() ||
      text_at((*statuses)[0], {"state", "waiting", "reason"}) != kCrashLoop) {
    return std::nullopt;
  }
  return Time(std::chrono::seconds(time_at((*statuses)[0], {"lastState", "terminated", "finishedAt"})));
}

Crashes crashes_of(const Object& pod) {
  return number_in_id(pod, 0).value_or(0);
}

}  // namespace gantree::controllers
