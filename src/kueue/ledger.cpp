#include "kueue/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gantree::kueue {

namespace {

// A guard that says when it opens may open a little later.
constexpr std::chrono::milliseconds kSoonest{100};

}  // namespace

std::string group_job(std::string_view group) {
  return fmt::format("Pods {}", group);
}

Entry* Ledger::workload(const std::string& key) {
  const auto it = entries.find(key);
  return it == entries.end() ? nullptr : &it->second;
}

Entry* Ledger::workload_of(const std::string& owner_uid) {
  const auto it = workloads_by_owner.find(owner_uid);
  return it == workloads_by_owner.end() ? nullptr : workload(it->second);
}

JobEntry* Ledger::job_of(const Entry& entry) {
  const auto it = jobs_by_uid.find(entry.object.owner_uid);
  return it == jobs_by_uid.end() ? nullptr : &jobs.at(it->second);
}

const JobEntry* Ledger::job_of(const Entry& entry) const {
  const auto it = jobs_by_uid.find(entry.object.owner_uid);
  return it == jobs_by_uid.end() ? nullptr : &jobs.at(it->second);
}

const std::set<std::string>& Ledger::pods_of(const std::string& workload) const {
  static const std::set<std::string> kNone;
  const auto it = pods_by_workload.find(workload);
  return it == pods_by_workload.end() ? kNone : it->second;
}

void Ledger::ask_anew(const std::string& owner_uid) {
  if (Entry* entry = workload_of(owner_uid)) {
    entry->submission.reset();
    entry->verdict.reset();
    waiting_changed.insert(entry->key());
  }
}

void Ledger::no_longer_releasing(const std::string& workload, const std::string& pod) {
  if (const auto it = releasing.find(workload); it != releasing.end()) {
    it->second.erase(pod);
    if (it->second.empty()) {
      releasing.erase(it);
    }
  }
}

void Ledger::touch(const std::string& workload) {
  queues_changed = true;
  dirty.insert(workload);
  unbooked.insert(workload);
  if (const auto it = entries.find(workload); it != entries.end()) {
    if (const auto job = jobs_by_uid.find(it->second.object.owner_uid); job != jobs_by_uid.end()) {
      dirty_jobs.insert(job->second);
    }
  }
}

void Ledger::touch_jobs(const std::vector<std::string>& uids) {
  for (const std::string& uid : uids) {
    if (const auto job = jobs_by_uid.find(uid); job != jobs_by_uid.end()) {
      dirty_jobs.insert(job->second);
    }
  }
}

void Ledger::touch_groups(const std::vector<std::string>& changed) {
  for (const std::string& name : changed) {
    const PodGroup* group = groups.find(name);
    const std::string key = group_job(name);
    JobEntry& job = jobs[key];
    job.group = name;
    job.ref = {.group = {}, .version = "v1", .kind = "Pod", .ns = group->ns, .name = group->name, .uid = group->uid};
    if (std::exchange(job.priority_class, group->priority_class) != group->priority_class) {
      ask_anew(group->uid);
    }
    jobs_by_uid.insert_or_assign(group->uid, key);
    dirty_jobs.insert(key);
    dirty.insert(name);
  }
}

void Ledger::touch_templates(std::string_view ns) {
  for (const auto& [key, job] : jobs) {
    if (job.progress.suspended && (ns.empty() || job.ref.ns == ns)) {
      dirty_jobs.insert(key);
      ask_anew(job.ref.uid);
    }
  }
}

void Ledger::touch_all() {
  setup_changed = true;
  for (const auto& [key, entry] : entries) {
    dirty.insert(key);
  }
  for (const auto& [key, job] : jobs) {
    dirty_jobs.insert(key);
  }
}

void Ledger::forget_job(std::string key) {
  const auto it = jobs.find(key);
  jobs_by_uid.erase(it->second.ref.uid);
  jobs.erase(it);
}

void Ledger::forget_group(const std::string& job) {
  groups.forget(jobs.at(job).group);
  forget_job(job);
}

void Ledger::rest() {
  for (const std::string& key : dirty_jobs) {
    const auto job = jobs.find(key);
    if (job == jobs.end() || job->second.kind != nullptr) {
      continue;
    }
    const PodGroup* group = groups.find(job->second.group);
    if (group != nullptr && group->pods.empty() && workload_of(group->uid) == nullptr) {
      forget_group(key);
    }
  }
  dirty.clear();
  dirty_jobs.clear();
  waiting_changed.clear();
  complaints.clear();  // whoever decides tells them
  held.clear();
  later.clear();
  later_jobs.clear();
}

void Ledger::look_again(const Entry& entry, Time now) {
  later.add(std::max(entry.guard.opens(), now + kSoonest), entry.key());
}

void Ledger::look_again(const std::string& job, const Guard& guard, Time now) {
  later_jobs.add(std::max(guard.opens(), now + kSoonest), job);
}

}  // namespace gantree::kueue
