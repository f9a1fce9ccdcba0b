#include "kueue/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "dialects/kueue/assignment.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "json/decode.h"

namespace gantree::kueue {

namespace {

enum class Version : std::uint8_t { kV1beta1, kV1beta2 };

constexpr std::string_view kWorkloadClasses = "kueue.x-k8s.io/workloadpriorityclass";
constexpr std::string_view kPodClasses = "scheduling.k8s.io/priorityclass";
constexpr std::string_view kMayStopSearch = "MayStopSearch";

// The sentence of whoever finds a value of the wrong kind is that of the Reader.
struct Conversion {
  json::Reader& read;
  Version to;
  ExpansionBudget& budget;

  [[nodiscard]] bool newer() const { return to == Version::kV1beta2; }
};

// Adds what becomes of a member to `out`: as it is, by another name, or not at all.
using Member = std::function<void(std::string_view key, json::Value value, json::Out& out)>;

// An object member by member. What is no object stays as it is: the schema of either version will say so.
json::Out each_member(json::Value object, const Member& member) {
  if (object.kind() != json::Kind::kObject) {
    return json::copy(object);
  }
  json::Out out = json::Out::object();
  for (const json::MemberData& data : object.members()) {
    member(data.key, json::Value(&data.value), out);
  }
  return out;
}

json::Out each_item(json::Value list, const std::function<json::Out(json::Value)>& item) {
  if (list.kind() != json::Kind::kArray) {
    return json::copy(list);
  }
  json::Out out = json::Out::array();
  for (const json::NodeData& data : list.items()) {
    out.push(item(json::Value(&data)));
  }
  return out;
}

bool is_text(json::Value value, std::string_view text) {
  return value && value.kind() == json::Kind::kString && value.text() == text;
}

json::Out without(json::Value object, std::string_view dropped) {
  return each_member(object, [&](std::string_view key, json::Value value, json::Out& out) {
    if (key != dropped) {
      out.add(key, json::copy(value));
    }
  });
}

// --- ClusterQueue ---

// Both of the old words mean what is one word now.
json::Out fungibility(json::Value value) {
  return each_member(value, [](std::string_view key, json::Value word, json::Out& out) {
    const bool old =
        (key == "whenCanBorrow" && is_text(word, "Borrow")) || (key == "whenCanPreempt" && is_text(word, "Preempt"));
    out.add(key, old ? json::Out(kMayStopSearch) : json::copy(word));
  });
}

bool has_items(json::Value list) {
  return list && list.kind() == json::Kind::kArray && !list.items().empty();
}

// The plain list of checks as one by flavor, on all of them.
json::Out check_strategy(json::Value names) {
  json::Out rules = json::Out::array();
  for (const json::NodeData& name : names.items()) {
    json::Out rule = json::Out::object();
    rule.add("name", json::copy(json::Value(&name)));
    rules.push(std::move(rule));
  }
  json::Out strategy = json::Out::object();
  strategy.add("admissionChecks", std::move(rules));
  return strategy;
}

json::Out cluster_queue_spec(const Conversion& conversion, json::Value spec) {
  if (!conversion.newer()) {
    return each_member(spec, [](std::string_view key, json::Value value, json::Out& out) {
      if (key != "concurrentAdmissionPolicy") {
        out.add(key == "cohortName" ? "cohort" : key, json::copy(value));
      }
    });
  }
  const bool plain = spec.kind() == json::Kind::kObject && has_items(spec["admissionChecks"]);
  return each_member(spec, [&](std::string_view key, json::Value value, json::Out& out) {
    if (key == "cohort") {
      out.add("cohortName", json::copy(value));
    } else if (key == "flavorFungibility") {
      out.add(key, fungibility(value));
    } else if (key == "admissionChecks") {
      if (plain) {
        out.add("admissionChecksStrategy", check_strategy(value));
      }
    } else if (key == "admissionChecksStrategy") {
      // The plain list goes first; an empty strategy is none.
      if (!plain && value.kind() == json::Kind::kObject && has_items(value["admissionChecks"])) {
        out.add(key, json::copy(value));
      }
    } else {
      out.add(key, json::copy(value));
    }
  });
}

// What was used in the past is kept for LocalQueues only.
json::Out cluster_queue_status(const Conversion& conversion, json::Value status) {
  return each_member(status, [&](std::string_view key, json::Value value, json::Out& out) {
    if (conversion.newer() && key == "pendingWorkloadsStatus") {
      return;
    }
    out.add(key, conversion.newer() && key == "fairSharing" ? without(value, "admissionFairSharingStatus")
                                                            : json::copy(value));
  });
}

// --- LocalQueue ---

json::Out local_queue_status(const Conversion& conversion, json::Value status) {
  return each_member(status, [&](std::string_view key, json::Value value, json::Out& out) {
    if (conversion.newer() && key == "flavors") {
      return;
    }
    const std::string_view from = conversion.newer() ? "flavorUsage" : "flavorsUsage";
    const std::string_view to = conversion.newer() ? "flavorsUsage" : "flavorUsage";
    out.add(key == from ? to : key, json::copy(value));
  });
}

// --- Workload ---

json::Out pod_set(const Conversion& conversion, json::Value value) {
  return each_member(value, [&](std::string_view key, json::Value part, json::Out& out) {
    const bool drops = key == "topologyRequest" && !conversion.newer();
    out.add(key, drops ? without(part, "podsetSliceRequiredTopologyConstraints") : json::copy(part));
  });
}

// Adds the class of a priority to a spec of v1beta2. A name whose source is not said names nothing.
void add_class_reference(json::Value spec, json::Out& out) {
  const json::Value source = spec["priorityClassSource"];
  const json::Value name = spec["priorityClassName"];
  const bool of_workloads = is_text(source, kWorkloadClasses);
  if (!name || name.kind() != json::Kind::kString || name.text().empty() ||
      (!of_workloads && !is_text(source, kPodClasses))) {
    return;
  }
  json::Out reference = json::Out::object();
  reference.add("group", of_workloads ? kGroup : "scheduling.k8s.io");
  reference.add("kind", of_workloads ? "WorkloadPriorityClass" : "PriorityClass");
  reference.add("name", name.text());
  out.add("priorityClassRef", std::move(reference));
}

// The same the other way.
void add_class_name(json::Value reference, json::Out& out) {
  if (reference.kind() != json::Kind::kObject || !reference["name"]) {
    return;
  }
  const bool of_workloads = is_text(reference["group"], kGroup);
  out.add("priorityClassName", json::copy(reference["name"]));
  out.add("priorityClassSource", of_workloads ? kWorkloadClasses : kPodClasses);
}

json::Out workload_spec(const Conversion& conversion, json::Value spec) {
  json::Out converted = each_member(spec, [&](std::string_view key, json::Value value, json::Out& out) {
    if (key == "podSets") {
      out.add(key, each_item(value, [&](json::Value item) { return pod_set(conversion, item); }));
    } else if (key == "priorityClassRef" && !conversion.newer()) {
      add_class_name(value, out);
    } else if (key != "preemptionGates" && key != "priorityClassName" && key != "priorityClassSource") {
      out.add(key, json::copy(value));
    }
  });
  if (conversion.newer() && spec.kind() == json::Kind::kObject) {
    add_class_reference(spec, converted);
  }
  return converted;
}

json::Out flat_assignment(const TopologyAssignment& assignment) {
  json::Out levels = json::Out::array();
  for (const std::string& level : assignment.levels) {
    levels.push(level);
  }
  json::Out domains = json::Out::array();
  for (const AssignedDomain& domain : assignment.domains) {
    json::Out values = json::Out::array();
    for (const std::string& value : domain.values) {
      values.push(value);
    }
    json::Out entry = json::Out::object();
    entry.add("values", std::move(values)).add("count", domain.count);
    domains.push(std::move(entry));
  }
  json::Out out = json::Out::object();
  out.add("levels", std::move(levels)).add("domains", std::move(domains));
  return out;
}

// Takes what an assignment grows to from the budget. False, with a complaint, where that is too little.
bool spend(const Conversion& conversion, json::Value assignment) {
  const AssignmentSize size = assignment_size(assignment);
  ExpansionBudget& budget = conversion.budget;
  if (size.values > budget.values || size.bytes > budget.bytes) {
    conversion.read.complain(assignment,
                             "the topology assignments of what was asked for are too large to be converted at once");
    return false;
  }
  budget.values -= size.values;
  budget.bytes -= size.bytes;
  return true;
}

json::Out pod_set_assignment(const Conversion& conversion, json::Value value) {
  return each_member(value, [&](std::string_view key, json::Value part, json::Out& out) {
    if (key != "topologyAssignment" || part.kind() == json::Kind::kNull) {
      out.add(key, json::copy(part));
      return;
    }
    if (!spend(conversion, part)) {
      return;
    }
    const TopologyAssignment assignment = read_assignment(conversion.read, part);
    out.add(key, conversion.newer() ? write_assignment(assignment) : flat_assignment(assignment));
  });
}

json::Out admission(const Conversion& conversion, json::Value value) {
  return each_member(value, [&](std::string_view key, json::Value part, json::Out& out) {
    out.add(key, key == "podSetAssignments"
                     ? each_item(part, [&](json::Value item) { return pod_set_assignment(conversion, item); })
                     : json::copy(part));
  });
}

json::Out workload_status(const Conversion& conversion, json::Value status) {
  // The older version misspelt it.
  constexpr std::string_view kOldTime = "accumulatedPastExexcutionTimeSeconds";
  constexpr std::string_view kNewTime = "accumulatedPastExecutionTimeSeconds";
  return each_member(status, [&](std::string_view key, json::Value value, json::Out& out) {
    if (key == "admission") {
      out.add(key, admission(conversion, value));
    } else if (key == (conversion.newer() ? kOldTime : kNewTime)) {
      out.add(conversion.newer() ? kNewTime : kOldTime, json::copy(value));
    } else if (conversion.newer() || key != "preemptionGates") {
      out.add(key, json::copy(value));
    }
  });
}

// --- all kinds ---

json::Out unchanged(const Conversion&, json::Value value) {
  return json::copy(value);
}

using Part = json::Out (*)(const Conversion& conversion, json::Value value);

struct Converted {
  std::string_view kind;
  Part spec = unchanged;
  Part status = unchanged;
};

constexpr Converted kKinds[] = {
    {"Topology"},
    {"ResourceFlavor"},
    {"WorkloadPriorityClass"},
    {"Cohort", unchanged, cluster_queue_status},
    {"ClusterQueue", cluster_queue_spec, cluster_queue_status},
    {"LocalQueue", unchanged, local_queue_status},
    {"Workload", workload_spec, workload_status},
};

Result<Version> version_of(std::string_view api_version) {
  if (api_version == fmt::format("{}/v1beta1", kGroup)) {
    return Version::kV1beta1;
  }
  if (api_version == fmt::format("{}/v1beta2", kGroup)) {
    return Version::kV1beta2;
  }
  return invalid(fmt::format("there is no version \"{}\" to convert from or to", api_version));
}

std::string title_of(json::Value object, std::string_view kind) {
  const auto text = [&](std::string_view key) {
    const json::Value value = object["metadata"][key];
    return value && value.kind() == json::Kind::kString ? std::string(value.text()) : std::string();
  };
  const std::string ns = text("namespace");
  return fmt::format("{} \"{}{}{}\"", kind, ns, ns.empty() ? "" : "/", text("name"));
}

}  // namespace

std::span<const std::string_view> converted_definitions() {
  static constexpr std::string_view kDefinitions[] = {"clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io",
                                                      "workloads.kueue.x-k8s.io"};
  return kDefinitions;
}

Result<json::Out> convert(json::Value object, std::string_view api_version, ExpansionBudget& budget) {
  json::Reader read("request", object, "an object to convert");
  const std::string_view kind_name = read.require_text(object, "kind");
  const std::string_view from_text = read.require_text(object, "apiVersion");
  if (!read.ok()) {
    return read.error();
  }
  const std::string title = title_of(object, kind_name);
  read.rename(title);
  const auto from = version_of(from_text);
  const auto to = version_of(api_version);
  if (!from || !to) {
    return invalid(fmt::format("{}: {}", title, (from ? to : from).error().message));
  }
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const Converted& candidate) { return candidate.kind == kind_name; });
  if (kind == std::end(kKinds)) {
    return invalid(fmt::format("{}: objects of this kind are not converted here", title));
  }
  if (*from == *to) {
    return json::copy(object);
  }
  const Conversion conversion{.read = read, .to = *to, .budget = budget};
  json::Out converted = each_member(object, [&](std::string_view key, json::Value value, json::Out& out) {
    if (key == "apiVersion") {
      out.add(key, api_version);
    } else if (key == "spec") {
      out.add(key, kind->spec(conversion, value));
    } else if (key == "status") {
      out.add(key, kind->status(conversion, value));
    } else {
      out.add(key, json::copy(value));
    }
  });
  if (!read.ok()) {
    return read.error();
  }
  return converted;
}

}  // namespace gantree::kueue
