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

}  // namespace

void SetupRelease::changed(const std::string& key, const LiveObject& object, const Object& parsed) {
  const json::Value metadata = parsed.metadata();
  std::vector<std::string> finalizers = finalizers_of(metadata);
  const bool ours = std::erase(finalizers, kInUse) > 0;
  if (object.group != kGroup || !ours || !text_at(metadata, "deletionTimestamp")) {
    leaving_.erase(key);
    return;
  }
  Leaving& leaving = leaving_[key];
  leaving.ref = {.group = object.group,
                 .version = object.version,
                 .kind = object.kind,
                 .ns = object.ns,
                 .name = object.name,
                 .uid = object.uid};
  const json::Value version = text_at(metadata, "resourceVersion");
  leaving.resource_version = version ? version.text() : std::string_view();
  leaving.kept = std::move(finalizers);
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
  for (auto& [key, leaving] : leaving_) {
    if (leaving.guard.closed(leaving.resource_version, now)) {
      if (!leaving.guard.in_flight()) {
        step.wake_by(std::max(leaving.guard.opens(), now + std::chrono::seconds(1)));
      }
      continue;
    }
    if (is_used(leaving.ref)) {
      continue;
    }
    json::Out kept = json::Out::array();
    for (const std::string& finalizer : leaving.kept) {
      kept.push(finalizer);
    }
    json::Out metadata = json::Out::object();
    metadata.add("uid", leaving.ref.uid).add("resourceVersion", leaving.resource_version);
    metadata.add("finalizers", std::move(kept));
    json::Out body = json::Out::object();
    body.add("metadata", std::move(metadata));
    const std::uint64_t id = outbox_.order(
        step, Urgency::kStatus,
        {.verb = WriteVerb::kPatch, .object = leaving.ref, .node = {}, .body = body.to_json(false)}, {.leaving = key});
    leaving.guard.sent(id, leaving.resource_version);
  }
}

void SetupRelease::answered(const std::string& key, Answer answer, Time now) {
  if (const auto it = leaving_.find(key); it != leaving_.end()) {
    it->second.guard.answered(answer, now);
  }
}

}  // namespace gantree::kueue
