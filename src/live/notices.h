// What users are told on their objects: the condition of a pod that waits, and events.
#pragma once

#include <optional>
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
// PodScheduled=False; and the node on which room is made for it, "" where it is made nowhere, where that is to be
// changed.
[[nodiscard]] Write pod_waits(const ObjectRef& pod, const Verdict& verdict, std::optional<std::string_view> nominated,
                              Time now);
// The pod is not waiting for room on a node any more that others leave.
[[nodiscard]] Write clear_nomination(const ObjectRef& pod);

struct Preemptor {
  std::string scheduler;  // by whose name it is placed
  std::string gang;       // namespace/name
  std::string pod = {};   // one of its pods, by namespace/name; "" where it has none as yet
};
// The pod is deleted to make room for a gang.
[[nodiscard]] Write preempt_pod(const ObjectRef& pod, const Preemptor& by, Time now);

struct Notice {
  ObjectRef about;
  bool warning = false;
  std::string_view reason;
  std::string_view action;
  std::string_view note;
};
// An Event. `instance` names the process; `number` numbers the events of one process.
[[nodiscard]] Write event(const Notice& notice, std::string_view instance, std::uint64_t number, Time now);

}  // namespace gantree
