#include "dialects/koordinator/koordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dialects/signs.h"

namespace gantree::koordinator {

namespace {

// The classes that every installation has.
constexpr std::pair<std::string_view, std::int64_t> kClasses[] = {
    {"koord-prod", 9000}, {"koord-mid", 7000}, {"koord-batch", 5000}, {"koord-free", 3000}};

bool says(json::Value map, std::string_view key, std::string_view text) {
  const json::Value value = text_at(map, key);
  return value && value.text() == text;
}

}  // namespace

bool KoordinatorDialect::is_ours(const PodTemplate& part) const {
  const json::Value scheduler = text_at(part.spec, "schedulerName");
  return !gang_name(part.labels(), part.annotations()).empty() ||
         (scheduler && std::find(schedulers_.begin(), schedulers_.end(), scheduler.text()) != schedulers_.end());
}

std::span<const ApiKind> KoordinatorDialect::kinds() const {
  static const ApiKind kKinds[] = {
      {.group = kPodGroupGroup, .kind = "PodGroup", .versions = {"v1alpha1"}, .namespaced = true},
      {.group = kSchedulingGroup, .kind = kTopologyKind, .versions = {"v1alpha1"}, .namespaced = false},
  };
  return kKinds;
}

Result<> KoordinatorDialect::read(const NamedObject& named, Intake& intake) {
  if (named.object.kind == kTopologyKind) {
    if (named.name != kTopologyName) {
      intake.reading.notes.push_back(
          fmt::format("{} \"{}\" is not used: only the one named \"{}\" is", kTopologyKind, named.name, kTopologyName));
      return {};
    }
    auto network = read_network_topology(named);
    if (!network) {
      return tl::unexpected(network.error());
    }
    network_ = std::move(*network);
    return {};
  }
  auto rules = read_pod_group(named, unused_);
  if (!rules) {
    return tl::unexpected(rules.error());
  }
  roll_.add(std::move(*rules));
  groups_.emplace_back(gang_id(named.ns, named.name), named.object);
  return {};
}

Result<> KoordinatorDialect::connect(Intake& intake) {
  for (const auto& [name, value] : kClasses) {
    intake.core.priority_classes.try_emplace(std::string(name), value);
  }
  if (network_) {
    auto model = model_of(*network_, intake.cluster.inventory());
    if (!model) {
      return tl::unexpected(model.error());
    }
    Engine& engine = intake.cluster.engine();
    topology_ = {.network = *network_, .id = shared_topology(engine, std::move(*model), kFamily)};
    NamedTopology named{.family = std::string(kFamily), .name = network_->name, .id = topology_->id, .aliases = {}};
    for (const Layer& layer : network_->layers) {
      named.aliases.push_back(layer.name);
    }
    intake.topologies.add(std::move(named));
  }
  roll_.settle(intake, unused_);
  return {};
}

Claim KoordinatorDialect::claim(const Workload& workload, const Intake& intake) const {
  if (!with_marked_pods_) {
    with_marked_pods_.emplace();
    for (const PodRecord& pod : intake.pods) {
      if (pod.workload != nullptr && !pod.bound() && !gang_name(pod.labels(), pod.annotations()).empty()) {
        with_marked_pods_->insert(pod.workload);
      }
    }
  }
  const bool marked = std::any_of(workload.templates.begin(), workload.templates.end(),
                                  [&](const PodTemplate& part) { return is_ours(part); }) ||
                      with_marked_pods_->contains(&workload);
  return marked ? Claim::kMarked : Claim::kNone;
}

std::optional<GangKey> KoordinatorDialect::gang_of(const PodRecord& pod, const Intake&) const {
  const std::string_view name = gang_name(pod.labels(), pod.annotations());
  if (!name.empty()) {
    const Bundle* bundle = roll_.bundle_of(gang_id(pod.ns, name));
    return bundle == nullptr ? std::nullopt : std::optional(bundle->key);
  }
  // Pods of no gang come and go one by one, whatever made them.
  const bool known = std::find(schedulers_.begin(), schedulers_.end(), pod.scheduler) != schedulers_.end();
  const bool ours = known && (pod.workload == nullptr || pod.workload->dialect == kFamily);
  return ours ? std::optional(GangKey{std::string(pod.ns), std::string(pod.name), "Pod"}) : std::nullopt;
}

void KoordinatorDialect::describe(const Workload*, std::span<const PodRecord* const> pods, Intake&, RunningGang& gang) {
  const auto is_protected = [](const PodRecord* pod) {
    return says(pod->labels(), kDisablePreemptible, "true") || says(pod->labels(), kQuotaPreemptible, "false");
  };
  gang.evictable = gang.evictable && std::none_of(pods.begin(), pods.end(), is_protected);
}

void KoordinatorDialect::take_signs(Intake& intake) const {
  for (const auto& [id, group] : groups_) {
    const Bundle* bundle = roll_.bundle_of(id);
    if (bundle == nullptr) {
      continue;
    }
    GangSigns& signs = intake.reading.signs[bundle->key];
    signs.stored = signs.stored || text_at(group.metadata(), "uid").present();
    hear(signs.waits, saying_of(condition_with(map_at(group.value, "status"), kScheduledCondition, "False")));
  }
}

void KoordinatorDialect::note_pod_marks(Intake& intake) const {
  int quotas = 0;
  int selectors = 0;
  for (const Workload& workload : intake.workloads) {
    if (workload.dialect != kFamily) {
      continue;
    }
    const auto has = [&](std::string_view key, bool label) {
      return std::any_of(workload.templates.begin(), workload.templates.end(), [&](const PodTemplate& part) {
        return text_at(label ? part.labels() : part.annotations(), key).present();
      });
    };
    quotas += has(kQuotaName, true) ? 1 : 0;
    selectors += has(kTopologySelector, false) ? 1 : 0;
  }
  if (quotas > 0) {
    intake.reading.notes.push_back(
        fmt::format("label {} of {} workload{}: ElasticQuotas are not read, so no quota "
                    "holds them back",
                    kQuotaName, quotas, quotas == 1 ? "" : "s"));
  }
  if (selectors > 0) {
    intake.reading.notes.push_back(
        fmt::format("annotation {} of {} workload{} has no effect: existing pods attract "
                    "no others",
                    kTopologySelector, selectors, selectors == 1 ? "" : "s"));
  }
}

Result<> KoordinatorDialect::submit(Intake& intake) {
  const auto rosters = call_roll(intake);
  if (!rosters) {
    return tl::unexpected(rosters.error());
  }
  Submitter(intake, roll_, topology_).submit(*rosters);
  for (std::string& note : unused_.notes()) {
    intake.reading.notes.push_back(std::move(note));
  }
  note_pod_marks(intake);
  return {};
}

}  // namespace gantree::koordinator
