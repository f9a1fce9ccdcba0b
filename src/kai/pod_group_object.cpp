// What is written of it.
#include "kai/pod_group_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <variant>

#include "base/duration.h"
#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "json/decode.h"
#include "json/write.h"

namespace gantree::kai {

namespace {

json::Out to_out(const LevelNames& levels) {
  json::Out out = json::Out::object();
  // Of an empty text a patch would make one, where a field is to go.
  const auto add = [&](std::string_view key, const std::string& value) {
    out.add(key, value.empty() ? json::Out() : json::Out(value));
  };
  add("topology", levels.topology);
  add("requiredTopologyLevel", levels.required);
  add("preferredTopologyLevel", levels.preferred);
  return out;
}

json::Out only_given(const LevelNames& levels) {
  json::Out out = json::Out::object();
  for (const auto& [key, value] : {std::pair<std::string_view, const std::string&>("topology", levels.topology),
                                   {"requiredTopologyLevel", levels.required},
                                   {"preferredTopologyLevel", levels.preferred}}) {
    if (!value.empty()) {
      out.add(key, value);
    }
  }
  return out;
}

json::Out to_out(const std::vector<WantedSubGroup>& subgroups) {
  json::Out list = json::Out::array();
  for (const WantedSubGroup& subgroup : subgroups) {
    json::Out one = json::Out::object();
    one.add("name", subgroup.name);
    if (!subgroup.parent.empty()) {
      one.add("parent", subgroup.parent);
    }
    if (subgroup.min_member) {
      one.add("minMember", *subgroup.min_member);
    }
    if (subgroup.min_groups) {
      one.add("minSubGroup", *subgroup.min_groups);
    }
    if (!subgroup.levels.empty()) {
      one.add("topologyConstraint", only_given(subgroup.levels));
    }
    list.push(std::move(one));
  }
  return list;
}

std::optional<int> number_in(json::Value parent, std::string_view key) {
  json::Reader read("", "");
  const auto number = read.integer(parent, key, INT32_MIN, INT32_MAX);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

LevelNames levels_in(json::Value parent) {
  const json::Value constraint = map_at(parent, "topologyConstraint");
  return {.topology = std::string(text_in(constraint, "topology")),
          .required = std::string(text_in(constraint, "requiredTopologyLevel")),
          .preferred = std::string(text_in(constraint, "preferredTopologyLevel"))};
}

std::vector<WantedSubGroup> subgroups_in(json::Value spec) {
  std::vector<WantedSubGroup> subgroups;
  for (const json::NodeData& item : items_of(spec ? spec["subGroups"] : json::Value())) {
    const json::Value one(&item);
    subgroups.push_back({.name = std::string(text_in(one, "name")),
                         .parent = std::string(text_in(one, "parent")),
                         .min_member = number_in(one, "minMember"),
                         .min_groups = number_in(one, "minSubGroup"),
                         .levels = levels_in(one)});
  }
  return subgroups;
}

bool same_duration(std::string_view a, std::string_view b) {
  const auto first = parse_duration(a);
  const auto second = parse_duration(b);
  return a == b || (first && second && *first == *second);
}

// Those that are missing or differ, as an object of a merge patch; null where there are none. What others added stays.
json::Out changed_entries(const std::map<std::string, std::string>& wanted, json::Value there,
                          std::initializer_list<std::string_view> kept) {
  json::Out out = json::Out::object();
  bool any = false;
  for (const auto& [key, value] : wanted) {
    const json::Value now = there ? there[key] : json::Value();
    const bool same = now && now.kind() == json::Kind::kString && now.text() == value;
    if (!same && std::find(kept.begin(), kept.end(), key) == kept.end()) {
      out.add(key, value);
      any = true;
    }
  }
  return any ? out : json::Out();
}

bool is_null(const json::Out& out) {
  return std::holds_alternative<std::monostate>(out.content());
}

class SpecPatch {
 public:
  explicit SpecPatch(json::Value spec) : spec_(spec) {}

  void number(std::string_view key, std::optional<int> wanted) {
    if (number_in(spec_, key) != wanted) {
      set(key, wanted ? json::Out(*wanted) : json::Out());
    }
  }
  void text(std::string_view key, const std::string& wanted, bool same) {
    if (!same) {
      set(key, wanted.empty() ? json::Out() : json::Out(wanted));
    }
  }
  void set(std::string_view key, json::Out value) {
    out_.add(key, std::move(value));
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }
  json::Out take() { return std::move(out_); }

 private:
  json::Value spec_;
  json::Out out_ = json::Out::object();
  bool any_ = false;
};

}  // namespace

std::string create_body(const WantedGroup& wanted) {
  json::Out owner = json::Out::object();
  owner.add("apiVersion", wanted.owner.api_version()).add("kind", wanted.owner.kind);
  owner.add("name", wanted.owner.name).add("uid", wanted.owner.uid);
  json::Out metadata = json::Out::object();
  metadata.add("name", wanted.name).add("namespace", wanted.ns);
  metadata.add("labels", changed_entries(wanted.labels, {}, {}));
  metadata.add("annotations", changed_entries(wanted.annotations, {}, {}));
  metadata.add("ownerReferences", json::Out::Array{std::move(owner)});
  json::Out spec = json::Out::object();
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      spec.add(key, value);
    }
  };
  if (wanted.min_member) {
    spec.add("minMember", *wanted.min_member);
  }
  if (wanted.min_groups) {
    spec.add("minSubGroup", *wanted.min_groups);
  }
  text("queue", wanted.queue);
  text("priorityClassName", wanted.priority_class);
  text("preemptibility", wanted.preemptibility);
  text("preemptionDelay", wanted.preemption_delay);
  text("stalenessGracePeriod", wanted.staleness_grace);
  if (!wanted.levels.empty()) {
    spec.add("topologyConstraint", only_given(wanted.levels));
  }
  if (!wanted.subgroups.empty()) {
    spec.add("subGroups", to_out(wanted.subgroups));
  }
  json::Out body = json::Out::object();
  body.add("apiVersion", fmt::format("{}/{}", kSchedulingGroup, kPodGroupVersion)).add("kind", "PodGroup");
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  return body.to_json(false);
}

std::string patch_body(const WantedGroup& wanted, json::Value there, std::string_view uid) {
  const json::Value spec = map_at(there, "spec");
  SpecPatch patch(spec);
  patch.number("minMember", wanted.min_member);
  patch.number("minSubGroup", wanted.min_groups);
  const auto same = [&](std::string_view key, const std::string& text) { return text_in(spec, key) == text; };
  patch.text("priorityClassName", wanted.priority_class, same("priorityClassName", wanted.priority_class));
  patch.text("preemptibility", wanted.preemptibility, same("preemptibility", wanted.preemptibility));
  patch.text("preemptionDelay", wanted.preemption_delay,
             same_duration(text_in(spec, "preemptionDelay"), wanted.preemption_delay));
  patch.text("stalenessGracePeriod", wanted.staleness_grace,
             same_duration(text_in(spec, "stalenessGracePeriod"), wanted.staleness_grace));
  if (!wanted.levels.empty() && levels_in(spec) != wanted.levels) {
    patch.set("topologyConstraint", to_out(wanted.levels));
  }
  if (subgroups_in(spec) != wanted.subgroups) {
    patch.set("subGroups", to_out(wanted.subgroups));
  }
  const json::Value metadata = map_at(there, "metadata");
  json::Out labels = changed_entries(wanted.labels, map_at(metadata, "labels"), {kQueue, kNodePool});
  json::Out annotations = changed_entries(wanted.annotations, map_at(metadata, "annotations"), {});
  if (!patch.any() && is_null(labels) && is_null(annotations)) {
    return "";
  }
  json::Out changed = json::Out::object();
  changed.add("uid", uid);
  if (!is_null(labels)) {
    changed.add("labels", std::move(labels));
  }
  if (!is_null(annotations)) {
    changed.add("annotations", std::move(annotations));
  }
  json::Out body = json::Out::object();
  body.add("metadata", std::move(changed));
  if (patch.any()) {
    body.add("spec", patch.take());
  }
  return body.to_json(false);
}

}  // namespace gantree::kai
