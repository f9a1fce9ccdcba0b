// What users are told on their objects: the condition of a pod that waits, and events.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "dialects/live.h"
#include "dialects/write.h"

namespace gantree {

[[nodiscard]] ObjectRef pod_ref(std::string_view key, std::string_view uid);

// The reason of the condition is the one that cluster autoscalers know; the typed one starts the message.
inline constexpr std::string_view kUnschedulable = "Unschedulable";
[[nodiscard]] std::string condition_message(const Verdict& verdict);
// PodScheduled=False.
[[nodiscard]] Write pod_waits(const ObjectRef& pod, const Verdict& verdict, Time now);

struct Notice {
  ObjectRef about;
  bool warning = false;
  std::string_view reason;
  std::string_view action;
  std::string_view note;
};
// An Event. `instance` names the process; `number` tells events of one process apart.
[[nodiscard]] Write event(const Notice& notice, std::string_view instance, std::uint64_t number, Time now);

}  // namespace gantree
