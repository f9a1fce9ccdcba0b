#include "dialects/lws/lws.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"
#include "dialects/core/priority.h"
#include "dialects/gangs.h"
#include "dialects/lws/job_set.h"
#include "dialects/lws/policy.h"

namespace gantree::lws {

namespace {

std::optional<int> index_at(json::Value labels, std::string_view key) {
  const json::Value value = text_at(labels, key);
  return value ? whole_number(value.text(), 0) : std::nullopt;
}

// Pods without an index count as the next workers.
BoundMembers members_of(std::span<const PodRecord* const> pods) {
  BoundMembers members;
  std::vector<const PodRecord*> unnumbered;
  for (const PodRecord* pod : pods) {
    const auto index = index_at(pod->labels(), kWorkerIndex);
    if (!index || !members.emplace(*index, pod).second) {
      unnumbered.push_back(pod);
    }
  }
  for (const PodRecord* pod : unnumbered) {
    int index = 0;
    while (members.contains(index)) {
      ++index;
    }
    members.emplace(index, pod);
  }
  return members;
}

std::vector<json::Value> specs_of(const Workload& workload) {
  std::vector<json::Value> specs;
  for (const PodTemplate& part : workload.templates) {
    specs.push_back(part.spec);
  }
  return specs;
}

json::Reader reader_of(const Workload& workload) {
  return {workload.object.file, workload.object.value,
          fmt::format("{} \"{}/{}\"", workload.key.kind, workload.key.ns, workload.key.name)};
}

bool is_known(std::string_view annotation) {
  return annotation == kExclusive || annotation == kSubGroupExclusive || annotation == kJobSetExclusive ||
         annotation == kJobSetNodeSelector ||
         std::find(std::begin(kHarmless), std::end(kHarmless), annotation) != std::end(kHarmless);
}

// A misspelt annotation, or one that stands on the pods, would give the domain away without a word.
void note_strays(const Workload& workload, std::vector<std::string>& notes) {
  const auto look = [&](json::Value map, bool on_pods) {
    if (!map || map.kind() != json::Kind::kObject) {
      return;
    }
    for (const json::MemberData& member : map.members()) {
      const bool ours = member.key.starts_with(kPrefix) || member.key.starts_with(kJobSetPrefix);
      if (ours && (on_pods || !is_known(member.key))) {
        notes.push_back(fmt::format("{}: {} \"{}/{}\": annotation {} {}",
                                    json::to_string({workload.object.file, json::Value(&member.value).line()}),
                                    workload.key.kind, workload.key.ns, workload.key.name, member.key,
                                    on_pods ? "on a pod template has no effect" : "is not known, so it has no effect"));
      }
    }
  };
  look(workload.annotations, false);
  for (const PodTemplate& part : workload.templates) {
    look(part.annotations(), true);
  }
}

// What all submissions of this family share.
class Submitter {
 public:
  explicit Submitter(Intake& intake) : intake_(intake) {
    for (const PodRecord& pod : intake.pods) {
      const auto group = index_at(pod.labels(), kGroupIndex);
      if (pod.bound() && pod.workload != nullptr && group) {
        bound_[{pod.workload, *group}].push_back(&pod);
      }
    }
  }

  Result<> leader_worker_set(const Workload& workload) {
    json::Reader read = reader_of(workload);
    Objection objection(workload.object.file, workload.objection);
    const Policy policy = read_policy(read, objection, workload);
    if (!read.ok()) {
      return read.error();
    }
    const auto priority = gang_priority(workload.object.file, specs_of(workload), intake_.core, unresolved_);
    const int replicas = workload.templates.front().replicas;
    if (replicas > kMaxGroups) {
      objection.raise(workload.object.value["spec"]["replicas"],
                      fmt::format("spec.replicas is {}; at most {} are planned", replicas, kMaxGroups));
    }
    if (objection.first() || !priority) {
      reject({workload.key.ns, leader_name(workload, 0), std::string(kKind)}, workload,
             objection.first() ? *objection.first() : priority.error().message);
      return {};
    }
    for (int index = 0; index < replicas; ++index) {
      const auto pods = bound_.find({&workload, index});
      const BoundMembers bound = pods == bound_.end() ? BoundMembers{} : members_of(pods->second);
      Submission submission;
      for (const TopologyId topology : topologies_for(policy)) {
        auto gang = gang_of_replica(workload, policy, index, bound, topology, intake_);
        if (!gang) {
          return tl::unexpected(gang.error());
        }
        gang->priority = *priority;
        add_alternative(submission, std::move(*gang));
      }
      hand_over(std::move(submission), workload);
    }
    return {};
  }

  Result<> job_set(const Workload& workload) {
    Objection objection(workload.object.file, workload.objection);
    const auto priority = gang_priority(workload.object.file, specs_of(workload), intake_.core, unresolved_);
    auto gang = gang_of_job_set(workload, priority.value_or(0), objection, intake_);
    if (!gang) {
      return tl::unexpected(gang.error());
    }
    if (objection.first() || !priority) {
      reject(workload.key, workload, objection.first() ? *objection.first() : priority.error().message);
      return {};
    }
    Submission submission;
    add_alternative(submission, std::move(*gang));
    hand_over(std::move(submission), workload);
    return {};
  }

  void finish() {
    if (unresolved_ > 0) {
      intake_.reading.notes.push_back(fmt::format(
          "{} of LeaderWorkerSets and JobSets name a PriorityClass, but none is in the input: it does not count",
          unresolved_));
    }
  }

 private:
  std::vector<TopologyId> topologies_for(const Policy& policy) {
    const auto levels = levels_of(policy, intake_.cluster.engine());
    return levels ? std::vector{levels->topology} : open_topologies(intake_);
  }

  // One that is wrong in itself is told once, not once a replica.
  void reject(const GangKey& key, const Workload& workload, std::string message) {
    Submission submission = rejected_submission(key, kFamily, std::move(message));
    submission.created_seconds = workload.created_seconds;
    for (const PodTemplate& part : workload.templates) {
      submission.pod_sets.emplace_back(part.role, part.each);
    }
    intake_.reading.queue.push_back(std::move(submission));
  }

  void hand_over(Submission submission, const Workload& workload) {
    if (submission.pod_sets.empty()) {
      return;  // all of it runs
    }
    submission.may_evict =
        std::none_of(workload.templates.begin(), workload.templates.end(),
                     [&](const PodTemplate& part) { return never_preempts(part.spec, intake_.core); });
    intake_.reading.queue.push_back(std::move(submission));
  }

  Intake& intake_;
  std::map<std::pair<const Workload*, int>, std::vector<const PodRecord*>> bound_;  // pods by group
  int unresolved_ = 0;
};

}  // namespace

Claim LwsDialect::claim(const Workload& workload, const Intake&) const {
  if (wants_exclusive_jobs(workload)) {
    return Claim::kMarked;
  }
  if (workload.key.kind != kKind) {
    return Claim::kNone;
  }
  const bool marked = text_at(workload.annotations, kExclusive) || text_at(workload.annotations, kSubGroupExclusive) ||
                      workload.object.value["spec"]["leaderWorkerTemplate"]["schedulingPolicy"];
  return marked ? Claim::kMarked : Claim::kDefault;
}

std::optional<GangKey> LwsDialect::gang_of(const PodRecord& pod, const Intake&) const {
  const json::Value set = text_at(pod.labels(), kName);
  const auto group = index_at(pod.labels(), kGroupIndex);
  const bool of_others = pod.workload != nullptr && !pod.workload->dialect.empty() && pod.workload->dialect != kFamily;
  if (!set || !group || of_others) {
    return std::nullopt;
  }
  return GangKey{std::string(pod.ns), fmt::format("{}-{}", set.text(), *group), std::string(kKind)};
}

void LwsDialect::describe(const Workload* workload, std::span<const PodRecord* const> pods, Intake& intake,
                          RunningGang& gang) {
  if (pods.empty()) {
    return;
  }
  if (workload == nullptr || workload->dialect != kFamily) {
    gang.exclusives = holds_by_annotation(pods, intake);
    return;
  }
  if (workload->key.kind == "JobSet") {
    gang.exclusives = holds_of_job_set(*workload, gang.priority, pods, intake);
    return;
  }
  json::Reader read = reader_of(*workload);
  Objection objection(workload->object.file);
  const Policy policy = read_policy(read, objection, *workload);
  if (read.ok() && !objection.first()) {
    gang.exclusives = holds_of(*workload, policy, members_of(pods), intake);
  }
}

Result<> LwsDialect::submit(Intake& intake) {
  Submitter submitter(intake);
  for (const Workload& workload : intake.workloads) {
    const bool ours = workload.key.kind == kKind || workload.key.kind == "JobSet";
    if (ours && workload.parent == nullptr && !workload.over) {
      note_strays(workload, intake.reading.notes);
    }
    if (workload.dialect != kFamily || workload.running) {
      continue;
    }
    const bool job_set = workload.key.kind == "JobSet";
    if (job_set && workload.bound_pods > 0) {
      continue;
    }
    if (auto submitted = job_set ? submitter.job_set(workload) : submitter.leader_worker_set(workload); !submitted) {
      return submitted;
    }
  }
  submitter.finish();
  return {};
}

}  // namespace gantree::lws
