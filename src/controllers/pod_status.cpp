#include "controllers/pod_status.h"

#include <fmt/format.h>

#include <functional>

namespace gantree::controllers {

namespace {

constexpr std::string_view kProbed = "lastProbeTime";

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

Object container_status(const Object& pod, const Value& container, Object state, bool runs, int more_restarts) {
  const std::string_view name = text_at(container, {"name"});
  const Value* before = status_of(pod, "containerStatuses", name);
  Object status;
  status["name"] = name;
  status["image"] = text_at(container, {"image"});
  status["imageID"] = "";
  status["containerID"] = fmt::format("simulated://{}-{}", text_at(pod, {"metadata", "uid"}), name);
  status["ready"] = runs;
  status["started"] = runs;
  status["restartCount"] = (before == nullptr ? 0 : whole_at(*before, {"restartCount"})) + more_restarts;
  status["state"] = std::move(state);
  status["lastState"] = Object();
  return status;
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
    Object status = container_status(pod, (*containers)[i], std::move(state), sidecar, 0);
    status["ready"] = true;
    statuses.push_back(std::move(status));
  }
  return statuses;
}

}  // namespace

Object running_status(const Object& pod, const Item* node, std::string_view uid, bool restarted, Time now) {
  const std::string time = rfc3339(now);
  Object status;
  status["phase"] = "Running";
  if (text_at(pod, {"status", "startTime"}).empty()) {
    status["startTime"] = time;
  }
  const std::string host = address_of(node);
  const bool on_host = flag_at(pod, {"spec", "hostNetwork"});
  const std::string address = on_host ? host : made_up_address(128, uid);
  status["hostIP"] = host;
  status["hostIPs"] = Array{Object{{"ip", host}}};
  status["podIP"] = address;
  status["podIPs"] = Array{Object{{"ip", address}}};
  Array conditions = conditions_of(pod);
  set_condition(conditions, {"PodReadyToStartContainers", "True", "", "", {}, kProbed}, now);
  set_condition(conditions, {"Initialized", "True", "", "", {}, kProbed}, now);
  set_ready(conditions, true, "", "", now);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    return container_status(pod, container, Object{{"running", Object{{"startedAt", time}}}}, true, restarted ? 1 : 0);
  });
  if (Array init = ended_init_statuses(pod, now); !init.empty() && !restarted) {
    status["initContainerStatuses"] = std::move(init);
  }
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
  const std::int64_t since = started_at(pod);
  const std::string started = since == 0 ? rfc3339(now) : rfc3339(Time(std::chrono::seconds(since)));
  status["containerStatuses"] = container_statuses(pod, [&](const Value& container) {
    Object ended{{"exitCode", exit_code},
                 {"reason", good ? "Completed" : "Error"},
                 {"startedAt", started},
                 {"finishedAt", rfc3339(now)}};
    return container_status(pod, container, Object{{"terminated", std::move(ended)}}, false, 0);
  });
  return status;
}

Object readiness_status(const Object& pod, bool ready, std::string_view reason, std::string_view message, Time now) {
  Array conditions = conditions_of(pod);
  set_ready(conditions, ready, reason, message, now);
  return Object{{"conditions", std::move(conditions)}};
}

std::int64_t started_at(const Object& pod) {
  const Array* statuses = array_at(pod, {"status", "containerStatuses"});
  const std::int64_t running =
      statuses == nullptr || statuses->empty() ? 0 : time_at((*statuses)[0], {"state", "running", "startedAt"});
  return running != 0 ? running : time_at(pod, {"status", "startTime"});
}

}  // namespace gantree::controllers
