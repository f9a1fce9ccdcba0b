#include "dialects/kueue/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "dialects/core/pod.h"
#include "dialects/intake.h"
#include "dialects/kueue/admin.h"
#include "dialects/kueue/job_request.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pod_rules.h"
#include "dialects/objection.h"
#include "dialects/pod_count.h"
#include "json/equal.h"
#include "json/patch.h"

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
  if (const auto unfit = spec ? unfit_pod(spec) : std::nullopt) {
    read.complain(spec, fmt::format("{}: {}", read.path(spec), *unfit));
  }
  for (const std::string_view list : {"containers", "initContainers"}) {
    const json::Value containers = read.array(spec, list);
    for (const json::NodeData& item : containers ? containers.items() : std::span<const json::NodeData>()) {
      const json::Value resources = read.object(json::Value(&item), "resources");
      for (const std::string_view which : {"requests", "limits"}) {
        if (const json::Value pods = read.object(resources, which)["pods"]) {
          read.complain(pods, fmt::format("{}: every pod counts as one by itself", read.path(pods)));
        }
      }
    }
  }
}

// All of the spec of a Workload, in either version, but `active`.
constexpr std::string_view kCounted[] = {"podSets",
                                         "queueName",
                                         "priority",
                                         "priorityClassRef",
                                         "priorityClassName",
                                         "priorityClassSource",
                                         "maximumExecutionTimeSeconds",
                                         "preemptionGates"};

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
  const json::Value selector = spec["namespaceSelector"];
  if (!selector || selector.kind() == json::Kind::kNull) {
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
  std::int64_t pods = 0;
  for (const json::NodeData& item : pod_sets ? pod_sets.items() : std::span<const json::NodeData>()) {
    const json::Value pod_set(&item);
    check_pod_set(read, pod_set, inventory);
    partial += read.any(pod_set, "minCount") ? 1 : 0;
    pods += read.integer(pod_set, "count", 0, std::numeric_limits<std::int32_t>::max()).value_or(1);
  }
  if (pods > kMostPods) {
    read.complain(pod_sets, too_many_pods(pods));
  }
  if (partial > 1) {
    read.complain(pod_sets, "spec.podSets: only one of them can have a minCount");
  }
  return read.ok() ? Admission{} : refused(named, read.error().value());
}

Mutation mark_in_use(const NamedObject& named) {
  const auto finalizers = items_of(named.object.metadata()["finalizers"]);
  const bool marked = std::any_of(finalizers.begin(), finalizers.end(), [](const json::NodeData& item) {
    return item.kind == json::Kind::kString && json::Value(&item).text() == kInUse;
  });
  json::Patch patch(named.object.value);
  if (!marked) {
    patch.append({"metadata", "finalizers"}, kInUse);
  }
  return {.patch = patch.take()};
}

std::optional<std::string> reserved_in_workload(const NamedObject& named, const Object* old) {
  const auto sentence = [&](std::string_view what) {
    return fmt::format("Workload \"{}/{}\": {} by those who may update ClusterQueues", named.ns, named.name, what);
  };
  if (old == nullptr) {
    return fmt::format("{}; a job that names a queue (label {}) gets its Workload by itself",
                       sentence("a Workload of its own is made only"), kQueueName);
  }
  if (is_leaving(named.object)) {
    return std::nullopt;
  }
  if (!json::equal(named.object.metadata()["ownerReferences"], old->metadata()["ownerReferences"])) {
    return sentence("metadata.ownerReferences can be changed only");
  }
  const json::Value now = named.object.value["spec"];
  const json::Value before = old->value["spec"];
  const auto* const changed = std::find_if(std::begin(kCounted), std::end(kCounted), [&](std::string_view field) {
    return !json::equal(now[field], before[field]);
  });
  return changed == std::end(kCounted) ? std::nullopt
                                       : std::optional(sentence(fmt::format("spec.{} can be changed only", *changed)));
}

std::optional<std::string> forbidden_in_workload(const NamedObject& named, const Object& old) {
  if (!holds_quota(old) || json::equal(named.object.value["spec"]["podSets"], old.value["spec"]["podSets"])) {
    return std::nullopt;
  }
  return fmt::format("Workload \"{}/{}\": spec.podSets cannot be changed while quota is reserved", named.ns,
                     named.name);
}

}  // namespace gantree::kueue
