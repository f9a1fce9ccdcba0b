#include "dialects/signs.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/lws/names.h"
#include "dialects/running.h"
#include "model/decision.h"

namespace gantree {

namespace {

// As submissions call it: replicas that are admitted one by one have names of their own.
GangKey key_of(std::span<const std::unique_ptr<Dialect>> dialects, const PodRecord& pod, const Intake& intake) {
  GangKey key = gang_of_pod(dialects, pod, intake).key;
  const json::Value replica = text_at(pod.labels(), lws::kGroupIndex);
  if (replica && pod.workload != nullptr && key == pod.workload->key && key.kind == lws::kKind && !pod.bound()) {
    key.name = fmt::format("{}-{}", key.name, replica.text());
  }
  return key;
}

void read_pod_signs(const PodRecord& pod, GangSigns& signs) {
  const json::Value status = map_at(pod.object.value, "status");
  signs.stored = signs.stored || text_at(pod.object.metadata(), "uid").present();
  if (pod.workload != nullptr && pod.workload->key.kind != "Pod") {
    signs.maker = pod.workload->key;
  }
  if (!pod.bound()) {
    signs.pending += pod.deleting ? 0 : 1;
    const json::Value refused = condition_with(status, "PodScheduled", "False");
    // One that is held back was not looked at: whoever holds it back says why.
    if (refused && !pod.deleting && text_in(refused, "reason") != "SchedulingGated") {
      hear(signs.waits, saying_of(refused));
    }
    return;
  }
  ++signs.bound;
  signs.begun += text_in(status, "phase") == "Pending" ? 0 : 1;
  if (pod.deleting) {
    ++signs.leaving;
    hear(signs.leaves, saying_of(condition_with(status, "DisruptionTarget", "True")));
  }
}

}  // namespace

json::Value condition_with(json::Value status, std::string_view type, std::string_view value) {
  for (const json::NodeData& item : items_of(status ? status["conditions"] : json::Value())) {
    const json::Value one(&item);
    if (one.kind() == json::Kind::kObject && text_in(one, "type") == type && text_in(one, "status") == value) {
      return one;
    }
  }
  return {};
}

Saying saying_of(std::string_view reason, std::string_view message, std::string_view since) {
  Saying saying{.reason = std::string(reason), .message = std::string(message), .since = std::string(since)};
  const std::size_t colon = message.find(": ");
  const std::string_view word = message.substr(0, colon == std::string_view::npos ? 0 : colon);
  for (int i = 0; i <= static_cast<int>(kLastReason); ++i) {
    if (word == to_string(static_cast<Reason>(i))) {
      saying.reason = word;
      saying.message = message.substr(colon + 2);
      break;
    }
  }
  return saying;
}

Saying saying_of(json::Value condition) {
  return saying_of(text_in(condition, "reason"), text_in(condition, "message"),
                   text_in(condition, "lastTransitionTime"));
}

void hear(Saying& heard, Saying said) {
  if (!said.empty() && (heard.empty() || said.since > heard.since)) {
    heard = std::move(said);
  }
}

void take_signs(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake) {
  auto& all = intake.reading.signs;
  for (const Workload& workload : intake.workloads) {
    if (!workload.dialect.empty() && text_at(workload.object.metadata(), "uid")) {
      all[workload.key].stored = true;
    }
  }
  for (const PodRecord& pod : intake.pods) {
    if (pod.owner.kind != "DaemonSet" && pod.owner.kind != "Node") {
      read_pod_signs(pod, all[key_of(dialects, pod, intake)]);
    }
  }
  for (const auto& dialect : dialects) {
    dialect->take_signs(intake);
  }
}

}  // namespace gantree
