// The gangs that run, from the pods that have a node.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dialects/dialects.h"
#include "model/running.h"

namespace gantree {

// The gang of a pod, and who speaks for it ("" where nobody does): by what a dialect says, or else by what made it.
struct PodsGang {
  GangKey key;
  std::string_view dialect;
};
[[nodiscard]] PodsGang gang_of_pod(std::span<const std::unique_ptr<Dialect>> dialects, const PodRecord& pod,
                                   const Intake& intake);

// Gathers bound pods into gangs by what made them, or by what their dialect says, and lets the
// dialects describe them; workloads that run by their status alone are among them too, without
// pods. Pods of DaemonSets and of nodes themselves are no gangs: nobody evicts those. What a gang
// uses of quotas is taken. Requires that claims are settled.
void take_running(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake);

}  // namespace gantree
