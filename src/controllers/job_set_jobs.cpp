#include <fmt/format.h>

#include <algorithm>

#include "controllers/job_set.h"
#include "controllers/leader_worker_names.h"

namespace gantree::controllers::jobset {

namespace {

constexpr std::string_view kExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";
constexpr std::string_view kNamespacedJob = "alpha.jobset.sigs.k8s.io/namespaced-job";
constexpr std::string_view kNoSchedule = "alpha.jobset.sigs.k8s.io/no-schedule";

std::string_view group_name(const JobGroup& group) {
  const std::string_view name = text_at(*group.spec, {"groupName"});
  return name.empty() ? "default" : name;
}

// How many Jobs there are before this one, and in all: of one group name, or of all.
std::pair<std::int64_t, std::int64_t> position(const JobSetState& state, const JobGroup& group, std::int64_t index,
                                               bool of_group) {
  std::int64_t before = 0;
  std::int64_t all = 0;
  for (const JobGroup& other : state.groups) {
    if (of_group && group_name(other) != group_name(group)) {
      continue;
    }
    before = other.name == group.name ? all + index : before;
    all += other.replicas;
  }
  return {before, all};
}

std::string coordinator(const JobSetState& state) {
  const Object* spec = object_at(state.root, {"spec", "coordinator"});
  const std::string_view own = text_at(state.root, {"spec", "network", "subdomain"});
  return fmt::format("{}-{}-{}-{}.{}", state.set.name, text_at(*spec, {"replicatedJob"}), whole_at(*spec, {"jobIndex"}),
                     whole_at(*spec, {"podIndex"}), own.empty() ? std::string_view(state.set.name) : own);
}

// The same on the Job and on its pods, as labels and as annotations.
void mark(Object& object, const JobSetState& state, const JobGroup& group, std::int64_t index) {
  const std::string name = fmt::format("{}-{}-{}", state.set.name, group.name, index);
  const auto global = position(state, group, index, false);
  const auto in_group = position(state, group, index, true);
  std::vector<std::pair<std::string, std::string>> marks = {
      {std::string(kName), state.set.name},
      {"jobset.sigs.k8s.io/jobset-uid", state.set.uid},
      {std::string(kReplicatedJob), group.name},
      {std::string(kRestartAttempt), std::to_string(state.restarts)},
      {"jobset.sigs.k8s.io/replicatedjob-replicas", std::to_string(group.replicas)},
      {"jobset.sigs.k8s.io/global-replicas", std::to_string(global.second)},
      {"jobset.sigs.k8s.io/job-index", std::to_string(index)},
      {"jobset.sigs.k8s.io/job-key", lws::digest(fmt::format("{}/{}", state.set.ns, name))},
      {"jobset.sigs.k8s.io/job-global-index", std::to_string(global.first)},
      {"jobset.sigs.k8s.io/group-name", std::string(group_name(group))},
      {"jobset.sigs.k8s.io/group-replicas", std::to_string(in_group.second)},
      {"jobset.sigs.k8s.io/job-group-index", std::to_string(in_group.first)}};
  if (object_at(state.root, {"spec", "coordinator"}) != nullptr) {
    marks.emplace_back("jobset.sigs.k8s.io/coordinator", coordinator(state));
  }
  for (const auto& [key, value] : marks) {
    set_label(object, key, value);
    set_annotation(object, key, value);
  }
  for (const std::string_view key : {kExclusive, kNodeSelector}) {
    const std::string_view own = text_at(*group.spec, {"template", "metadata", "annotations", key});
    const std::string_view all = text_at(state.root, {"metadata", "annotations", key});
    if (!own.empty() || !all.empty()) {
      set_annotation(object, key, own.empty() ? all : own);
    }
  }
}

Object* member(Object& object, std::string_view key) {
  Value* value = find(object, {key});
  return value == nullptr ? nullptr : value->if_object();
}

}  // namespace

Object make_job(const JobSetState& state, const JobGroup& group, std::int64_t index) {
  Object job{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  Object& metadata = object_in(job, "metadata");
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const Value* part = find(*group.spec, {"template", "metadata", key})) {
      metadata[key] = *part;
    }
  }
  metadata["name"] = fmt::format("{}-{}-{}", state.set.name, group.name, index);
  metadata["namespace"] = state.set.ns;
  metadata["ownerReferences"] = Array{owner_reference(state.set)};
  if (const Value* spec = find(*group.spec, {"template", "spec"})) {
    job["spec"] = *spec;
  }
  mark(job, state, group, index);
  Object& spec = object_in(job, "spec");
  Object& pod_template = object_in(spec, "template");
  mark(pod_template, state, group, index);
  Object& pod_spec = object_in(pod_template, "spec");
  if (flag_at(state.root, {"spec", "network", "enableDNSHostnames"}, true)) {
    const std::string_view own = text_at(state.root, {"spec", "network", "subdomain"});
    pod_spec["subdomain"] = own.empty() ? std::string_view(state.set.name) : own;
  }
  const bool pinned = !text_at(job, {"metadata", "annotations", kExclusive}).empty() &&
                      !text_at(job, {"metadata", "annotations", kNodeSelector}).empty();
  if (pinned) {
    object_in(pod_spec, "nodeSelector")[kNamespacedJob] =
        fmt::format("{}_{}", state.set.ns, text_at(job, {"metadata", "name"}));
    Value& tolerations = pod_spec["tolerations"];
    if (!tolerations.is_array()) {
      tolerations = Array();
    }
    tolerations.get_array().push_back(Object{{"key", kNoSchedule}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  }
  spec["suspend"] = state.suspended;
  // As JobSet's own webhook would have filled in.
  if (!spec.contains("completionMode")) {
    spec["completionMode"] = "Indexed";
  }
  if (!pod_spec.contains("restartPolicy")) {
    pod_spec["restartPolicy"] = "OnFailure";
  }
  return job;
}

void resume_job(const Item& job, const Object& root, const JobGroup& group, Turn& turn) {
  Object change;
  const Object* wanted = object_at(*group.spec, {"template", "spec", "template"});
  const Object none;
  const Object& from = wanted == nullptr ? none : *wanted;
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const Object* part = object_at(from, {"metadata", key})) {
      object_in(change, "metadata")[key] = *part;
    }
  }
  if (const Object* selector = object_at(from, {"spec", "nodeSelector"})) {
    object_in(change, "spec")["nodeSelector"] = *selector;
  }
  for (const std::string_view key : {"tolerations", "schedulingGates"}) {
    const Array* added = array_at(from, {"spec", key});
    const Array* has = array_at(root, {"spec", "template", "spec", key});
    if (added == nullptr || added->empty()) {
      continue;
    }
    Array all = has == nullptr ? Array() : *has;
    for (const Value& one : *added) {
      const bool known =
          std::any_of(all.begin(), all.end(), [&](const Value& other) { return apiserver::same(one, other); });
      if (!known) {
        all.push_back(one);
      }
    }
    object_in(change, "spec")[key] = std::move(all);
  }
  Object spec{{"suspend", false}};
  if (member(change, "metadata") != nullptr || member(change, "spec") != nullptr) {
    spec["template"] = std::move(change);
  }
  turn.patch(job, Object{{"spec", std::move(spec)}});
}

}  // namespace gantree::controllers::jobset
