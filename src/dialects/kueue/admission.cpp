#include "dialects/kueue/admission.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "dialects/core/pod.h"
#include "dialects/intake.h"
#include "dialects/kueue/admin.h"
#include "dialects/objection.h"
#include "json/equal.h"

namespace gantree::kueue {

namespace {

Admission refused(const NamedObject& named, const Error& error) {
  return {.refusal = without_place(named.object.file, error.message), .warnings = {}};
}

// What a reader makes of the object in a cluster that has nothing else. What it would note becomes a warning.
template <class Read>
Admission validated(const NamedObject& named, const Read& read) {
  Cluster cluster;
  Quota quota;
  Intake intake{.cluster = cluster, .quota = quota, .quota_alone = true};
  Setup setup;
  if (const Result<> good = read(intake, setup); !good) {
    return refused(named, good.error());
  }
  return {.refusal = std::nullopt, .warnings = std::move(intake.reading.notes)};
}

constexpr std::string_view kWithoutEffect[] = {"concurrentAdmissionPolicy", "admissionScope"};

// Requires an object that was read.
void check_pod_set(json::Reader& read, json::Value pod_set, Inventory& inventory) {
  const json::Value spec = read.require_object(read.require_object(pod_set, "template"), "spec");
  static_cast<void>(read_pod_shape(read, spec, inventory));
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json::Value containers = read.array(spec, list);
    for (const json::NodeData& item : containers ? containers.items() : std::span<const json::NodeData>()) {
      const json::Value pods = read.object(read.object(json::Value(&item), "resources"), "requests")["pods"];
      if (pods) {
        read.complain(pods, fmt::format("{}: every pod counts as one by itself", read.path(pods)));
      }
    }
  }
}

bool holds_quota(const Object& workload) {
  json::Reader read(workload.file, workload.value, "Workload");
  return condition(read, read.object(workload.value, "status"), "QuotaReserved").value_or(false);
}

}  // namespace

Admission validate_topology(const NamedObject& named) {
  return validated(named, [&](Intake& intake, Setup& setup) { return read_topology(named, intake, setup); });
}

Admission validate_flavor(const NamedObject& named) {
  return validated(named, [&](Intake& intake, Setup& setup) { return read_flavor(named, intake, setup); });
}

Admission validate_cluster_queue(const NamedObject& named) {
  Admission admission =
      validated(named, [&](Intake& intake, Setup& setup) { return read_cluster_queue(named, intake, setup); });
  if (admission.refusal) {
    return admission;
  }
  const json::Value spec = named.object.value["spec"];
  if (const json::Value selector = spec["namespaceSelector"]; !selector || selector.kind() == json::Kind::kNull) {
    admission.warnings.push_back(fmt::format(
        "ClusterQueue \"{}\" has no spec.namespaceSelector, so no namespace may use it; {{}} is for all", named.name));
  }
  for (const std::string_view key : kWithoutEffect) {
    if (spec[key]) {
      admission.warnings.push_back(fmt::format("spec.{} of ClusterQueue \"{}\" has no effect", key, named.name));
    }
  }
  return admission;
}

Admission validate_cohort(const NamedObject& named) {
  return validated(named, [&](Intake& intake, Setup& setup) -> Result<> {
    if (auto good = read_cohort(named, intake, setup); !good) {
      return good;
    }
    return check_nesting(setup.cohorts);
  });
}

Admission validate_local_queue(const NamedObject& named) {
  return validated(named, [&](Intake&, Setup& setup) { return read_local_queue(named, setup); });
}

Admission validate_priority_class(const NamedObject& named) {
  return validated(named, [&](Intake&, Setup& setup) { return read_priority_class(named, setup); });
}

Admission validate_workload(const NamedObject& named) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Workload \"{}/{}\"", named.ns, named.name));
  const json::Value pod_sets = read.array(read.object(object.value, "spec"), "podSets");
  Inventory inventory;
  int partial = 0;
  for (const json::NodeData& item : pod_sets ? pod_sets.items() : std::span<const json::NodeData>()) {
    const json::Value pod_set(&item);
    check_pod_set(read, pod_set, inventory);
    partial += read.any(pod_set, "minCount") ? 1 : 0;
  }
  if (partial > 1) {
    read.complain(pod_sets, "spec.podSets: only one of them can have a minCount");
  }
  return read.ok() ? Admission{} : refused(named, read.error().value());
}

std::optional<std::string> forbidden_in_workload(const NamedObject& named, const Object& old) {
  if (!holds_quota(old) || json::equal(named.object.value["spec"]["podSets"], old.value["spec"]["podSets"])) {
    return std::nullopt;
  }
  return fmt::format("Workload \"{}/{}\": spec.podSets cannot be changed while quota is reserved", named.ns,
                     named.name);
}

}  // namespace gantree::kueue
