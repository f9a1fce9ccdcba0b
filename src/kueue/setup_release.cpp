#include "kueue/setup_release.h"

#include <algorithm>
#include <span>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"
#include "json/write.h"

namespace gantree::kueue {

namespace {

std::vector<std::string> finalizers_of(json::Value metadata) {
  const json::Value list = metadata["finalizers"];
  std::vector<std::string> all;
  const bool listed = list && list.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? list.items() : std::span<const json::NodeData>()) {
    if (const json::Value one(&item); one.kind() == json::Kind::kString) {
      all.emplace_back(one.text());
    }
  }
  return all;
}

bool may_be_in_use(std::string_view kind) {
  return kind == "ClusterQueue" || kind == "ResourceFlavor" || kind == "Topology";
}

}  // namespace

void SetupRelease::changed(const std::string& key, const LiveObject& object, const Object& parsed) {
  const json::Value metadata = parsed.metadata();
  std::vector<std::string> finalizers = finalizers_of(metadata);
  const bool ours = std::erase(finalizers, kInUse) > 0;
  const bool leaving = static_cast<bool>(text_at(metadata, "deletionTimestamp"));
  if (object.group != kGroup || !may_be_in_use(object.kind) || ours != leaving) {
    unsettled_.erase(key);
    return;
  }
  Unsettled& one = unsettled_[key];
  one.ref = {.group = object.group,
             .version = object.version,
             .kind = object.kind,
             .ns = object.ns,
             .name = object.name,
             .uid = object.uid};
  const json::Value version = text_at(metadata, "resourceVersion");
  one.resource_version = version ? version.text() : std::string_view();
  one.others = std::move(finalizers);
  one.leaving = leaving;
}

bool SetupRelease::is_used(const ObjectRef& object) const {
  const Setup& setup = ledger_.setup;
  if (object.kind == "ClusterQueue") {
    const auto in_it = [&](const std::optional<Admission>& given) {
      return given && given->cluster_queue == object.name;
    };
    return std::any_of(ledger_.holders.begin(), ledger_.holders.end(),
                       [&](const auto& item) { return in_it(item.second->admission()); });
  }
  if (object.kind == "ResourceFlavor") {
    return std::any_of(setup.cluster_queues.begin(), setup.cluster_queues.end(), [&](const auto& item) {
      return std::any_of(item.second.groups.begin(), item.second.groups.end(), [&](const ResourceGroup& group) {
        return std::any_of(group.flavors.begin(), group.flavors.end(),
                           [&](const FlavorQuota& quota) { return quota.flavor_name == object.name; });
      });
    });
  }
  return object.kind == "Topology" && std::any_of(setup.flavors.begin(), setup.flavors.end(), [&](const auto& item) {
           return item.second.topology_name == object.name;
         });
}

void SetupRelease::release(Time now, Step& step) {
  for (auto& [key, one] : unsettled_) {
    if (one.guard.closed(one.resource_version, now)) {
      if (!one.guard.in_flight()) {
        step.wake_by(std::max(one.guard.opens(), now + std::chrono::seconds(1)));
      }
      continue;
    }
    if (one.leaving && is_used(one.ref)) {
      continue;
    }
    json::Out finalizers = json::Out::array();
    for (const std::string& finalizer : one.others) {
      finalizers.push(finalizer);
    }
    if (!one.leaving) {
      finalizers.push(kInUse);
    }
    json::Out metadata = json::Out::object();
    metadata.add("uid", one.ref.uid).add("resourceVersion", one.resource_version);
    metadata.add("finalizers", std::move(finalizers));
    json::Out body = json::Out::object();
    body.add("metadata", std::move(metadata));
    const std::uint64_t id = outbox_.order(
        step, Urgency::kStatus, {.verb = WriteVerb::kPatch, .object = one.ref, .node = {}, .body = body.to_json(false)},
        {.leaving = key});
    one.guard.sent(id, one.resource_version);
  }
}

void SetupRelease::answered(const std::string& key, Answer answer, Time now) {
  if (const auto it = unsettled_.find(key); it != unsettled_.end()) {
    it->second.guard.answered(answer, now);
  }
}

}  // namespace gantree::kueue
