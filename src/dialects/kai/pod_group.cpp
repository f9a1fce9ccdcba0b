#include "dialects/kai/pod_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <span>

#include "base/duration.h"
#include "base/timestamp.h"
#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "dialects/objection.h"
#include "dialects/pod_count.h"
#include "dialects/workloads/workload.h"
#include "json/decode.h"

namespace gantree::kai {

namespace {

// Settings that matter to a scheduler that goes on and on, not to a plan.
constexpr std::string_view kUnused[] = {"markUnschedulable", "schedulingBackoff", "preemptionDelay",
                                        "stalenessGracePeriod"};

constexpr std::string_view kConstraintFields[] = {"topology", "requiredTopologyLevel", "preferredTopologyLevel"};
constexpr std::string_view kSubGroupFields[] = {
    "name", "parent", "minMember", "minSubGroup", "topologyConstraint", "topologyConstraints"};

class PodGroupReader {
 public:
  PodGroupReader(const NamedObject& named, PodGroup& group)
      : named_(named),
        read_(named.object.file, named.object.value, fmt::format("PodGroup \"{}/{}\"", named.ns, named.name)),
        objection_(named.object.file),
        group_(group) {}

  void read(Remarks& remarks) {
    const json::Value metadata = named_.object.metadata();
    const json::Value spec = read_.require_object(named_.object.value, "spec");
    group_.key = pod_group_key(named_.ns, named_.name);
    group_.object = named_.object;
    group_.created_seconds = read_created(read_, metadata);
    group_.over = read_.text(metadata, "deletionTimestamp").has_value();
    group_.owned = read_.array(metadata, "ownerReferences").present();
    group_.placement = text_at(read_.texts(metadata, "annotations"), kPlacement);
    group_.min_member = minimum(spec, "minMember");
    group_.min_groups = minimum(spec, "minSubGroup");
    group_.levels = levels(spec);
    group_.queue = text(spec, "queue");
    group_.priority_class = text(spec, "priorityClassName");
    group_.preemptibility = text(spec, "preemptibility");
    group_.staleness_grace = read_.text(spec, "stalenessGracePeriod");
    group_.evicts_from_seconds = evicts_from(metadata, spec, remarks);
    if (group_.preemptibility && group_.preemptibility.text() != kPreemptible &&
        group_.preemptibility.text() != kNonPreemptible) {
      objection_.raise(group_.preemptibility, fmt::format("preemptibility \"{}\" is neither {} nor {}",
                                                          group_.preemptibility.text(), kPreemptible, kNonPreemptible));
    }
    read_subgroups(spec);
    for (const std::string_view field : kUnused) {
      if (read_.any(spec, field)) {
        remarks.add(fmt::format("spec.{} has no effect in a plan", field));
      }
    }
  }

  void check() {
    if (group_.min_member && group_.min_groups) {
      objection_.raise(group_.object.value["spec"]["minSubGroup"], "minMember and minSubGroup exclude each other");
    }
    if (!connect() || too_deep()) {
      group_.children.clear();
      return;
    }
    for (const SubGroup& subgroup : group_.subgroups) {
      check_minima(subgroup);
    }
  }

  [[nodiscard]] const json::Reader& reader() const { return read_; }
  [[nodiscard]] const Objection& objection() const { return objection_; }

 private:
  json::Value text(json::Value parent, std::string_view key) {
    return read_.text(parent, key).value_or("").empty() ? json::Value() : parent[key];
  }

  std::optional<int> minimum(json::Value parent, std::string_view key) {
    const auto value =
        read_.integer(parent, key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    if (!value) {
      return std::nullopt;
    }
    if (*value < 0) {
      objection_.raise(parent[key], fmt::format("{} is {}, but must not be negative", key, *value));
      return std::nullopt;
    }
    if (*value > kMostPods) {
      objection_.raise(parent[key], fmt::format("{} is {}; at most {} are allowed", key, *value, kMostPods));
      return std::nullopt;
    }
    return static_cast<int>(*value);
  }

  // From when it came, or was evicted last, for as long as it says.
  std::int64_t evicts_from(json::Value metadata, json::Value spec, Remarks& remarks) {
    const auto text = read_.text(spec, "preemptionDelay");
    if (!text) {
      return 0;
    }
    const auto delay = parse_duration(*text);
    if (!delay || delay->count() < 0) {
      remarks.add(fmt::format("preemptionDelay \"{}\" is no duration: it does not count", *text));
      return 0;
    }
    const json::Value evicted = text_at(map_at(metadata, "annotations"), kLastEviction);
    const std::int64_t since =
        std::max(group_.created_seconds, evicted ? parse_time(evicted.text()).value_or(0) : std::int64_t{0});
    const auto counted = std::min<std::chrono::nanoseconds>(*delay, kLongestDelay);
    return since + std::chrono::ceil<std::chrono::seconds>(counted).count();
  }

  // What is misspelt here would silently ask for nothing.
  void object_to_strangers(json::Value parent, std::string_view what, std::span<const std::string_view> known) {
    if (!parent) {
      return;
    }
    for (const json::MemberData& member : parent.members()) {
      if (std::find(known.begin(), known.end(), member.key) == known.end()) {
        objection_.raise(json::Value(&member.value), fmt::format("{}.{}: there is no such field", what, member.key));
      }
    }
  }

  LevelRequest levels(json::Value parent) {
    json::Value constraint = read_.object(parent, "topologyConstraint");
    if (!constraint) {
      constraint = read_.object(parent, "topologyConstraints");  // as the first design spelt it
    }
    object_to_strangers(constraint, "topologyConstraint", kConstraintFields);
    return {.file = named_.object.file,
            .topology = text(constraint, "topology"),
            .required = text(constraint, "requiredTopologyLevel"),
            .preferred = text(constraint, "preferredTopologyLevel"),
            .topology_field = "topologyConstraint.topology",
            .required_field = "topologyConstraint.requiredTopologyLevel",
            .preferred_field = "topologyConstraint.preferredTopologyLevel"};
  }

  void read_subgroups(json::Value spec) {
    const json::Value list = read_.array(spec, "subGroups");
    if (!list) {
      return;
    }
    if (list.items().size() > kMostGroupsTogether) {
      objection_.raise(list, fmt::format("subGroups has {} entries; at most {} are placed together",
                                         list.items().size(), kMostGroupsTogether));
      return;
    }
    for (const json::NodeData& item : list.items()) {
      const json::Value one = read_.as_object(json::Value(&item), "subGroups");
      object_to_strangers(one, "subGroups", kSubGroupFields);
      SubGroup& subgroup = group_.subgroups.emplace_back();
      subgroup.name = read_.require_text(one, "name");
      subgroup.at = one;
      static_cast<void>(read_.text(one, "parent"));
      subgroup.min_member = minimum(one, "minMember");
      subgroup.min_groups = minimum(one, "minSubGroup");
      subgroup.levels = levels(one);
    }
  }

  // Children to parents. False where names do not tell.
  bool connect() {
    std::map<std::string_view, std::size_t> by_name;
    for (std::size_t i = 0; i < group_.subgroups.size(); ++i) {
      const SubGroup& subgroup = group_.subgroups[i];
      if (!by_name.emplace(subgroup.name, i).second) {
        objection_.raise(subgroup.at, fmt::format("subGroups has the name \"{}\" twice", subgroup.name));
        return false;
      }
    }
    for (std::size_t i = 0; i < group_.subgroups.size(); ++i) {
      SubGroup& subgroup = group_.subgroups[i];
      const json::Value parent = text_at(subgroup.at, "parent");
      if (!parent) {
        group_.children.push_back(i);
        continue;
      }
      const auto found = by_name.find(parent.text());
      if (found == by_name.end()) {
        objection_.raise(parent, fmt::format("parent of subgroup \"{}\": there is no subgroup \"{}\"", subgroup.name,
                                             parent.text()));
        return false;
      }
      subgroup.parent = found->second;
      group_.subgroups[found->second].children.push_back(i);
    }
    return true;
  }

  // Whether subgroups are below each other without end, or beyond what is allowed.
  bool too_deep() {
    for (const SubGroup& subgroup : group_.subgroups) {
      const SubGroup* at = &subgroup;
      for (int above = 1; at->parent && above < kMaxDepth; ++above) {
        at = &group_.subgroups[*at->parent];
      }
      if (!at->parent) {
        continue;
      }
      // So many steps on, whoever is still below another is in a circle.
      for (std::size_t step = 0; at->parent && step < group_.subgroups.size(); ++step) {
        at = &group_.subgroups[*at->parent];
      }
      if (at->parent) {
        objection_.raise(at->at["parent"], fmt::format("parent: subgroup \"{}\" is above itself", at->name));
      } else {
        objection_.raise(
            subgroup.at["parent"],
            fmt::format("parent: subgroup \"{}\" makes the tree deeper than {} subgroups", subgroup.name, kMaxDepth));
      }
      return true;
    }
    return false;
  }

  void check_minima(const SubGroup& subgroup) {
    const std::string who = fmt::format("subgroup \"{}\"", subgroup.name);
    if (subgroup.min_member && subgroup.min_groups) {
      objection_.raise(subgroup.at, fmt::format("{}: minMember and minSubGroup exclude each other", who));
    } else if (subgroup.children.empty() && subgroup.min_groups) {
      objection_.raise(subgroup.at["minSubGroup"], fmt::format("{} has minSubGroup, but no subgroups", who));
    } else if (subgroup.children.empty() && !subgroup.min_member) {
      objection_.raise(subgroup.at, fmt::format("{} needs minMember", who));
    } else if (!subgroup.children.empty() && subgroup.min_member) {
      objection_.raise(subgroup.at["minMember"],
                       fmt::format("{} has minMember, but its pods are in subgroups: minSubGroup is meant", who));
    }
  }

  const NamedObject& named_;
  json::Reader read_;
  Objection objection_;
  PodGroup& group_;
};

}  // namespace

std::optional<std::size_t> PodGroup::subgroup(std::string_view name) const {
  const auto it =
      std::find_if(subgroups.begin(), subgroups.end(), [&](const SubGroup& other) { return other.name == name; });
  return it == subgroups.end() ? std::nullopt : std::optional(static_cast<std::size_t>(it - subgroups.begin()));
}

Result<PodGroup> read_pod_group(const NamedObject& named, Remarks& remarks) {
  PodGroup group;
  PodGroupReader reader(named, group);
  reader.read(remarks);
  if (!reader.reader().ok()) {
    return reader.reader().error();
  }
  reader.check();
  group.objection = reader.objection().first();
  return group;
}

}  // namespace gantree::kai
