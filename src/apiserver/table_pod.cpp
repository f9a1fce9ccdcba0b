// What `kubectl get pods` shows.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/table_cells.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

bool is_sidecar(const Value& pod, std::string_view name) {
  const Array* containers = array_at(pod, {"spec", "initContainers"});
  return containers != nullptr && std::any_of(containers->begin(), containers->end(), [&](const Value& container) {
           return text_at(container, {"name"}) == name && text_at(container, {"restartPolicy"}) == "Always";
         });
}

bool is_true(const Value* value) {
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::string ending_of(const Value& terminated) {
  const std::string_view reason = text_at(terminated, {"reason"});
  if (!reason.empty()) {
    return std::string(reason);
  }
  const std::int64_t signal = number_at(terminated, {"signal"});
  return signal != 0 ? fmt::format("Signal:{}", signal)
                     : fmt::format("ExitCode:{}", number_at(terminated, {"exitCode"}));
}

class PodRow {
 public:
  explicit PodRow(const Value& pod) : pod_(pod) {
    reason_ = text_at(pod, {"status", "phase"});
    if (const std::string_view reason = text_at(pod, {"status", "reason"}); !reason.empty()) {
      reason_ = reason;
    }
    const Array* conditions = array_at(pod, {"status", "conditions"});
    for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
      if (text_at((*conditions)[i], {"type"}) == "PodScheduled" &&
          text_at((*conditions)[i], {"reason"}) == "SchedulingGated") {
        reason_ = "SchedulingGated";
      }
    }
    count_containers();
    const bool initializing = look_at_init_containers();
    if (!initializing || has_condition(pod, "Initialized")) {
      look_at_containers();
    }
    look_at_deletion();
  }

  void put(std::int64_t now, Array& cells) const {
    cells.push_back(Value(name_of(pod_)));
    cells.push_back(Value(fmt::format("{}/{}", ready_, total_)));
    cells.push_back(Value(reason_));
    const bool dated = restarts_ != 0 && last_restart_ != 0;
    cells.push_back(Value(dated ? fmt::format("{} ({} ago)", restarts_, human_duration(now - last_restart_))
                                : std::to_string(restarts_)));
    cells.push_back(Value(age_of(pod_, now)));
    const Array* addresses = array_at(pod_, {"status", "podIPs"});
    cells.push_back(Value(or_none(addresses == nullptr || addresses->empty() ? "" : text_at((*addresses)[0], {"ip"}))));
    cells.push_back(Value(or_none(text_at(pod_, {"spec", "nodeName"}))));
    cells.push_back(Value(or_none(text_at(pod_, {"status", "nominatedNodeName"}))));
    cells.push_back(Value(readiness_gates()));
  }

 private:
  void count_containers() {
    const Array* containers = array_at(pod_, {"spec", "containers"});
    total_ = containers == nullptr ? 0 : static_cast<std::int64_t>(containers->size());
    const Array* init = array_at(pod_, {"spec", "initContainers"});
    for (std::size_t i = 0; init != nullptr && i < init->size(); ++i) {
      ++init_total_;
      total_ += text_at((*init)[i], {"restartPolicy"}) == "Always" ? 1 : 0;
    }
  }

  void count_restarts(const Value& status) {
    restarts_ += number_at(status, {"restartCount"});
    const auto ended = parse_time(text_at(status, {"lastState", "terminated", "finishedAt"}));
    last_restart_ = std::max(last_restart_, ended.value_or(0));
  }

  // True while one of them has yet to do its work.
  bool look_at_init_containers() {
    const Array* statuses = array_at(pod_, {"status", "initContainerStatuses"});
    for (std::size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
      const Value& status = (*statuses)[i];
      count_restarts(status);
      const Value* ended = find(status, {"state", "terminated"});
      const bool sidecar = is_sidecar(pod_, text_at(status, {"name"}));
      if (ended != nullptr && number_at(*ended, {"exitCode"}) == 0) {
        continue;
      }
      if (sidecar && is_true(find(status, {"started"}))) {
        ready_ += is_true(find(status, {"ready"})) ? 1 : 0;
        continue;
      }
      const std::string_view waiting = text_at(status, {"state", "waiting", "reason"});
      if (ended != nullptr) {
        reason_ = "Init:" + ending_of(*ended);
      } else if (!waiting.empty() && waiting != "PodInitializing") {
        reason_ = "Init:" + std::string(waiting);
      } else {
        reason_ = fmt::format("Init:{}/{}", i, init_total_);
      }
      return true;
    }
    return false;
  }

  void look_at_containers() {
    const Array* init = array_at(pod_, {"status", "initContainerStatuses"});
    restarts_ = 0;
    last_restart_ = 0;
    for (std::size_t i = 0; init != nullptr && i < init->size(); ++i) {
      if (is_sidecar(pod_, text_at((*init)[i], {"name"}))) {
        count_restarts((*init)[i]);
      }
    }
    bool running = false;
    std::string failure;
    const Array* statuses = array_at(pod_, {"status", "containerStatuses"});
    for (std::size_t i = statuses == nullptr ? 0 : statuses->size(); i > 0; --i) {
      const Value& status = (*statuses)[i - 1];
      count_restarts(status);
      const std::string_view waiting = text_at(status, {"state", "waiting", "reason"});
      const Value* ended = find(status, {"state", "terminated"});
      if (!waiting.empty()) {
        reason_ = waiting;
      } else if (ended != nullptr) {
        reason_ = ending_of(*ended);
        failure = number_at(*ended, {"exitCode"}) != 0 ? reason_ : failure;
      } else if (is_true(find(status, {"ready"})) && find(status, {"state", "running"}) != nullptr) {
        running = true;
        ++ready_;
      }
    }
    if (reason_ != "Completed") {
      return;
    }
    if (running && has_condition(pod_, "Ready")) {
      reason_ = "Running";
    } else if (!failure.empty()) {
      reason_ = failure;
    } else if (running) {
      reason_ = "NotReady";
    }
  }

  void look_at_deletion() {
    if (text_at(pod_, {"metadata", "deletionTimestamp"}).empty()) {
      return;
    }
    const std::string_view phase = text_at(pod_, {"status", "phase"});
    if (text_at(pod_, {"status", "reason"}) == "NodeLost") {
      reason_ = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      reason_ = "Terminating";
    }
  }

  [[nodiscard]] std::string readiness_gates() const {
    const Array* gates = array_at(pod_, {"spec", "readinessGates"});
    if (gates == nullptr || gates->empty()) {
      return "<none>";
    }
    const auto open = std::count_if(gates->begin(), gates->end(), [&](const Value& gate) {
      return has_condition(pod_, text_at(gate, {"conditionType"}));
    });
    return fmt::format("{}/{}", open, gates->size());
  }

  const Value& pod_;
  std::string reason_;
  std::int64_t ready_ = 0;
  std::int64_t total_ = 0;
  std::int64_t init_total_ = 0;
  std::int64_t restarts_ = 0;
  std::int64_t last_restart_ = 0;
};

}  // namespace

void pod_cells(const Value& pod, std::int64_t now, Array& cells) {
  PodRow(pod).put(now, cells);
}

}  // namespace gantree::apiserver
