#include "dialects/lws/job_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/pod.h"
#include "dialects/gangs.h"
#include "dialects/lws/names.h"
#include "dialects/pod_count.h"

namespace gantree::lws {

namespace {

// That of the replicated job, else that of the JobSet.
json::Value annotation(const Workload& workload, const PodTemplate& part, std::string_view key) {
  const json::Value own = text_at(part.job_metadata["annotations"], key);
  return own ? own : text_at(workload.annotations, key);
}

// Jobs of one priority exclude each other, in all namespaces.
std::string exclusive_kind_at(std::int64_t priority) {
  return fmt::format("JobSet at priority {}", priority);
}

// A topology that has the label.
TopologyId topology_for(Engine& engine, const std::string& label) {
  return topology_with(engine, {label});
}

std::string job_name(const Workload& workload, const PodTemplate& part, int index) {
  return fmt::format("{}-{}-{}", workload.key.name, part.role, index);
}

// Administrators may have labelled and tainted the domain of every Job in advance.
void use_labelled_nodes(PodShape& shape, const Workload& workload, const std::string& job, Interner& strings) {
  const Label label{strings.intern(kNamespacedJob), strings.intern(fmt::format("{}_{}", workload.key.ns, job))};
  shape.node_selector.insert(std::lower_bound(shape.node_selector.begin(), shape.node_selector.end(), label), label);
  Toleration toleration;
  toleration.key = strings.intern(kNoSchedule);
  toleration.op = TolerationOperator::kExists;
  toleration.value = strings.intern("");
  shape.tolerations.push_back(toleration);
}

}  // namespace

bool wants_exclusive_jobs(const Workload& workload) {
  return workload.key.kind == "JobSet" &&
         std::any_of(workload.templates.begin(), workload.templates.end(),
                     [&](const PodTemplate& part) { return annotation(workload, part, kJobSetExclusive).present(); });
}

Result<Gang> gang_of_job_set(const Workload& workload, std::int64_t priority, Objection& objection, Intake& intake) {
  Engine& engine = intake.cluster.engine();
  Inventory& inventory = intake.cluster.inventory();
  json::Reader read(workload.object.file, workload.object.value,
                    fmt::format("JobSet \"{}/{}\"", workload.key.ns, workload.key.name));
  Gang gang;
  gang.key = workload.key;
  gang.dialect = kFamily;
  gang.created_seconds = workload.created_seconds;
  gang.priority = priority;
  gang.exclusive_kind = exclusive_kind_at(priority);
  std::optional<TopologyId> first;
  std::int64_t jobs = 0;
  for (const PodTemplate& part : workload.templates) {
    const PodShape shape = read_pod_shape(read, part.spec, inventory);
    const json::Value label = annotation(workload, part, kJobSetExclusive);
    if (label && !is_label_key(label.text())) {
      objection.raise(label, fmt::format("{} must be a label key, not \"{}\"", kJobSetExclusive, label.text()));
      continue;
    }
    jobs += part.each > 0 ? part.replicas : 0;
    if (jobs > kMostGroupsTogether) {
      objection.raise(part.at, fmt::format("replicas of \"{}\" makes {} Jobs; at most {} are placed together",
                                           part.role, jobs, kMostGroupsTogether));
      break;
    }
    for (int index = 0; index < part.replicas && part.each > 0; ++index) {
      Group& job = gang.root.groups.emplace_back();
      job.name = job_name(workload, part, index);
      PodSet& pods = job.pod_sets.emplace_back();
      pods.name = fmt::format("{}-{}", part.role, index);
      pods.shape = shape;
      pods.count = part.each;
      pods.min_count = part.each;
      if (!label) {
        continue;
      }
      const TopologyId topology = topology_for(engine, std::string(label.text()));
      first = first.value_or(topology);
      job.constraint.topology = topology;
      job.constraint.required = engine.topology(topology).level(label.text());
      job.constraint.exclusive = job.constraint.required;
      job.constraint.packing = Packing::kPack;
      if (annotation(workload, part, kJobSetNodeSelector)) {
        use_labelled_nodes(pods.shape, workload, job.name, inventory.strings());
      }
    }
  }
  if (!read.ok()) {
    return read.error();
  }
  gang.topology = first ? *first : open_topologies(intake).front();
  return gang;
}

std::vector<ExclusiveHold> holds_of_job_set(const Workload& workload, std::int64_t priority,
                                            std::span<const PodRecord* const> pods, Intake& intake) {
  std::map<std::string_view, std::vector<NodeId>> hosts;  // by the Job of the pods
  for (const PodRecord* pod : pods) {
    const json::Value job = text_at(pod->labels(), kJobName);
    hosts[job ? job.text() : pod->owner.name].push_back(intake.cluster.inventory().reserve(pod->node));
  }
  std::vector<ExclusiveHold> holds;
  for (const PodTemplate& part : workload.templates) {
    const json::Value label = annotation(workload, part, kJobSetExclusive);
    if (!label || !is_label_key(label.text())) {
      continue;
    }
    Engine& engine = intake.cluster.engine();
    const TopologyId topology = topology_for(engine, std::string(label.text()));
    for (int index = 0; index < part.replicas; ++index) {
      if (const auto own = hosts.find(job_name(workload, part, index)); own != hosts.end()) {
        holds.push_back(
            {exclusive_kind_at(priority), topology, engine.topology(topology).level(label.text()), own->second});
      }
    }
  }
  return holds;
}

}  // namespace gantree::lws
