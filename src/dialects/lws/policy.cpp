#include "dialects/lws/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dialects/lws/names.h"
#include "dialects/pod_count.h"
#include "model/topology.h"

namespace gantree::lws {

namespace {

class PolicyReader {
 public:
  PolicyReader(json::Reader& read, Objection& objection) : read_(read), objection_(objection) {}

  void object_to(json::Value at, std::string_view message) {
    objection_.raise(at, fmt::format("{} {}", read_.path(at), message));
  }

  // A label key; "" where it is missing or wrong.
  std::string key(json::Value parent, std::string_view member) {
    const auto text = read_.text(parent, member);
    if (!text || text->empty()) {
      return "";
    }
    if (!is_label_key(*text)) {
      object_to(parent[member], fmt::format("must be a label key, not \"{}\"", *text));
      return "";
    }
    return std::string(*text);
  }

  // The field, or the annotation that says the same.
  std::string either(json::Value parent, std::string_view member, const Workload& workload,
                     std::string_view annotation) {
    std::string field = key(parent, member);
    const json::Value older = text_at(workload.annotations, annotation);
    if (!older) {
      return field;
    }
    if (!is_label_key(older.text())) {
      objection_.raise(older, fmt::format("{} must be a label key, not \"{}\"", annotation, older.text()));
    } else if (!field.empty() && field != older.text()) {
      object_to(parent[member],
                fmt::format("is \"{}\", but the annotation {} says \"{}\"", field, annotation, older.text()));
    }
    return field.empty() ? std::string(older.text()) : field;
  }

  void subgroups(json::Value group, Policy& policy) {
    const json::Value wanted = read_.object(group, "subGroupPolicy");
    if (!wanted) {
      return;
    }
    SubGroups& subgroups = policy.subgroups.emplace();
    const auto size =
        read_.integer(wanted, "subGroupSize", std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    const std::string_view type = read_.text(wanted, "subGroupPolicyType").value_or("LeaderWorker");
    if (!size || *size < 1) {
      object_to(size ? wanted["subGroupSize"] : wanted, size ? "must be at least 1" : "needs a subGroupSize");
      return;
    }
    subgroups.size = static_cast<int>(*size);
    if (type != "LeaderWorker" && type != "LeaderExcluded") {
      object_to(wanted["subGroupPolicyType"], fmt::format("must be LeaderWorker or LeaderExcluded, not \"{}\"", type));
    }
    subgroups.with_leader = type != "LeaderExcluded";
    const bool whole =
        (policy.size - 1) % subgroups.size == 0 || (subgroups.with_leader && policy.size % subgroups.size == 0);
    if (!whole) {
      object_to(wanted["subGroupSize"], fmt::format("is {}, which divides neither the size {} nor the {} workers",
                                                    subgroups.size, policy.size, policy.size - 1));
    } else if (const int count = subgroups.count(policy.size); count > kMostGroupsTogether) {
      object_to(wanted["subGroupSize"], fmt::format("is {}, which makes {} subgroups; at most {} are placed together",
                                                    subgroups.size, count, kMostGroupsTogether));
    }
  }

  void exclusive(json::Value scheduling, const Workload& workload, Policy& policy) {
    const json::Value wanted = read_.object(scheduling, "exclusiveTopology");
    policy.per_replica = either(wanted, "perReplica", workload, kExclusive);
    policy.per_subgroup = either(wanted, "perSubGroup", workload, kSubGroupExclusive);
    if (!policy.per_subgroup.empty() && !policy.subgroups) {
      if (const json::Value field = wanted["perSubGroup"]) {
        object_to(field, "needs a subGroupPolicy: this LeaderWorkerSet has no subgroups");
      } else {
        objection_.raise(
            text_at(workload.annotations, kSubGroupExclusive),
            fmt::format("{} needs a subGroupPolicy: this LeaderWorkerSet has no subgroups", kSubGroupExclusive));
      }
    }
  }

  // A subgroup lies inside its group, so its domain must lie inside the group's.
  void order(json::Value group, const Policy& policy) {
    const bool both = !policy.per_replica.empty() && !policy.per_subgroup.empty();
    if (both && (policy.per_replica == policy.per_subgroup || policy.per_replica == kHostnameLabel)) {
      objection_.raise(group, fmt::format("the domain of a subgroup ({}) must be smaller than that of its group ({})",
                                          policy.per_subgroup, policy.per_replica));
    }
  }

  void unique(json::Value scheduling, Policy& policy) {
    const json::Value wanted = read_.object(scheduling, "uniqueNodeGroup");
    policy.unique_node_selector = key(wanted, "replicaUniqueNodeSelector");
    const json::Value toleration = read_.object(wanted, "replicaUniqueToleration");
    if (!toleration) {
      return;
    }
    policy.unique_toleration = key(toleration, "key");
    if (policy.unique_toleration.empty()) {
      object_to(toleration, "needs a key");
    }
    const auto effect = read_.text(toleration, "effect");
    if (!effect) {
      object_to(toleration, "needs an effect");
    } else if (*effect == "PreferNoSchedule") {
      policy.unique_effect = TaintEffect::kPreferNoSchedule;
    } else if (*effect == "NoExecute") {
      policy.unique_effect = TaintEffect::kNoExecute;
    } else if (*effect != "NoSchedule") {
      object_to(toleration["effect"],
                fmt::format("must be NoSchedule, PreferNoSchedule or NoExecute, not \"{}\"", *effect));
    }
  }

 private:
  json::Reader& read_;
  Objection& objection_;
};

}  // namespace

std::optional<int> SubGroups::of(int worker_index, int group_size) const {
  if (!with_leader) {
    return worker_index == 0 ? std::nullopt : std::optional((worker_index - 1) / size);
  }
  // Where only the workers come out even, the leader is one more in the first subgroup.
  const bool leader_is_extra = group_size % size != 0;
  return leader_is_extra ? (worker_index == 0 ? 0 : (worker_index - 1) / size) : worker_index / size;
}

int SubGroups::count(int group_size) const {
  return of(group_size - 1, group_size).value_or(-1) + 1;
}

Policy read_policy(json::Reader& read, Objection& objection, const Workload& workload) {
  Policy policy;
  PolicyReader reader(read, objection);
  const json::Value group = read.object(read.object(workload.object.value, "spec"), "leaderWorkerTemplate");
  // Sizes that are no sizes have been objected to when the workload was read.
  const auto size = read.integer(group, "size", std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  policy.size = static_cast<int>(std::max<std::int64_t>(1, size.value_or(1)));
  reader.subgroups(group, policy);
  const json::Value scheduling = read.object(group, "schedulingPolicy");
  reader.exclusive(scheduling, workload, policy);
  reader.order(group, policy);
  reader.unique(scheduling, policy);
  return policy;
}

}  // namespace gantree::lws
