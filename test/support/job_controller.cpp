#include "support/job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::test {

std::vector<const Stored*> JobController::jobs() const {
  std::vector<const Stored*> jobs = around_.server.all("Job");
  const std::vector<const Stored*> sets = around_.server.all("JobSet");
  jobs.insert(jobs.end(), sets.begin(), sets.end());
  return jobs;
}

std::vector<const Stored*> JobController::pods_of(const std::string& job) const {
  std::vector<const Stored*> pods;
  for (const Stored* pod : around_.server.all("Pod")) {
    if (owner_of(pod->tree) == job) {
      pods.push_back(pod);
    }
  }
  return pods;
}

void JobController::delete_pod(const Stored& pod) {
  around_.note(fmt::format("  pod {} is deleted", pod.name));
  if (pod.tree.str({"spec", "nodeName"}).empty()) {
    around_.server.remove(key_of(pod));
    return;
  }
  around_.server.change(key_of(pod), [&](Tree& one) {
    one.at({"metadata", "deletionTimestamp"}) = Tree::string(rfc3339(around_.now()));
  });
}

std::set<Seat> JobController::done(const std::string& job) const {
  const auto found = done_.find(job);
  return found == done_.end() ? std::set<Seat>() : found->second;
}

bool JobController::is_complete(const std::string& key) const {
  return around_.server.find(key)->tree.find({"status", "conditions"}) != nullptr;
}

void JobController::sync(const std::string& key) {
  if (is_complete(key)) {
    return;
  }
  const Stored job = *around_.server.find(key);
  const bool suspended = job.tree.flag({"spec", "suspend"});
  if (suspended) {
    for (const Stored* pod : pods_of(job.uid())) {
      if (!is_over(pod->tree) && !is_going(pod->tree)) {
        delete_pod(*pod);
      }
    }
  } else {
    run(key, job);
  }
  set_status(key, !suspended);
}

void JobController::sync_late(const std::string& key, const Stored& seen) {
  around_.note(fmt::format("  the controller of {} is late", seen.name));
  run(key, seen);
}

// One active pod for each index that is not done, but no more than may run at once.
void JobController::run(const std::string& key, const Stored& job) {
  if (job.kind == "Job" && job.tree.find({"status", "startTime"}) == nullptr) {
    around_.server.change(key,
                          [&](Tree& one) { one.at({"status", "startTime"}) = Tree::string(rfc3339(around_.now())); });
  }
  std::set<Seat>& done = done_[job.uid()];
  std::map<Seat, const Stored*> active;
  for (const Stored* pod : pods_of(job.uid())) {
    if (pod->tree.str({"status", "phase"}) == "Succeeded") {
      done.insert(seat_of(pod->tree));
    } else if (!is_over(pod->tree) && !is_going(pod->tree)) {
      active.emplace(seat_of(pod->tree), pod);
    }
  }
  const std::vector<Part> parts = parts_of(job);
  std::map<Seat, const Part*> wanted;
  for (const Part& part : parts) {
    for (int r = 0; r < part.replicas; ++r) {
      int here = 0;
      for (int i = 0; i < part.completions && here < part.parallelism; ++i) {
        const Seat seat{.part = part.name, .job = r, .index = i};
        if (!done.contains(seat)) {
          wanted.emplace(seat, &part);
          ++here;
        }
      }
    }
  }
  for (const auto& [seat, pod] : active) {
    if (!wanted.contains(seat)) {
      delete_pod(*pod);
    }
  }
  for (const auto& [seat, part] : wanted) {
    if (!active.contains(seat)) {
      make_pod(job, *part, seat);
    }
  }
}

void JobController::set_status(const std::string& key, bool running) {
  const std::vector<const Stored*> pods = pods_of(around_.server.find(key)->uid());
  if (around_.server.find(key)->kind == "JobSet") {
    set_job_set_status(key, pods, running);
    return;
  }
  int active = 0;
  int ready = 0;
  int going = 0;
  for (const Stored* pod : pods) {
    const bool leaves = is_going(pod->tree);
    if (!is_over(pod->tree)) {
      going += leaves ? 1 : 0;
      active += leaves ? 0 : 1;
      ready += !leaves && pod->tree.str({"status", "phase"}) == "Running" ? 1 : 0;
    }
  }
  around_.server.change(key, [&](Tree& job) {
    const int done = static_cast<int>(done_[job.str({"metadata", "uid"})].size());
    job.at({"status", "active"}) = Tree::number(active);
    job.at({"status", "ready"}) = Tree::number(ready);
    job.at({"status", "terminating"}) = Tree::number(going);
    job.at({"status", "succeeded"}) = Tree::number(done);
    if (running && done >= job.num({"spec", "completions"}, 1) && active + going == 0) {
      job.at({"status", "conditions"}) = Tree::parse(R"([{"type":"Complete","status":"True","message":"done"}])");
    }
  });
}

// It tells of its jobs, not of their pods.
void JobController::set_job_set_status(const std::string& key, const std::vector<const Stored*>& pods, bool running) {
  const Stored& job = *around_.server.find(key);
  const std::set<Seat>& done = done_[job.uid()];
  bool left = false;
  Tree statuses = Tree::parse("[]");
  for (const Part& part : parts_of(job)) {
    int active = 0;
    int ready = 0;
    int succeeded = 0;
    for (int r = 0; r < part.replicas; ++r) {
      const auto over = static_cast<int>(std::count_if(
          done.begin(), done.end(), [&](const Seat& one) { return one.part == part.name && one.job == r; }));
      int here = 0;
      int running_here = 0;
      for (const Stored* pod : pods) {
        const Seat seat = seat_of(pod->tree);
        if (seat.part != part.name || seat.job != r || is_over(pod->tree)) {
          continue;
        }
        left = true;
        here += is_going(pod->tree) ? 0 : 1;
        running_here += !is_going(pod->tree) && pod->tree.str({"status", "phase"}) == "Running" ? 1 : 0;
      }
      const bool complete = over >= part.completions;
      succeeded += complete ? 1 : 0;
      left = left || !complete;
      active += here > 0 ? 1 : 0;
      ready += !complete && over + running_here >= std::min(part.parallelism, part.completions) ? 1 : 0;
    }
    statuses.items.push_back(quoted(fmt::format("{{'name':'{}','active':{},'ready':{},'succeeded':{},'failed':0}}",
                                                part.name, active, ready, succeeded)));
  }
  around_.server.change(key, [&](Tree& one) {
    one.at({"status", "replicatedJobsStatus"}) = statuses;
    if (running && !left) {
      one.at({"status", "conditions"}) = Tree::parse(R"([{"type":"Completed","status":"True","message":"done"}])");
    }
  });
}

void JobController::make_pod(const Stored& job, const Part& part, const Seat& seat) {
  Tree pod = *part.pod_template;
  const std::string name =
      job.kind == "Job" ? fmt::format("{}-{}-{}", job.name, seat.index, fresh_number())
                        : fmt::format("{}-{}-{}-{}-{}", job.name, seat.part, seat.job, seat.index, fresh_number());
  around_.note(fmt::format("  pod {} is made", name));
  pod.at({"metadata", "name"}) = Tree::string(name);
  pod.at({"metadata", "namespace"}) = Tree::string(job.ns);
  const auto label = [&](std::string_view key, std::string_view value) {
    pod.at({"metadata", "labels", key}) = Tree::string(value);
  };
  label("batch.kubernetes.io/job-completion-index", std::to_string(seat.index));
  if (job.kind == "Job") {
    label("batch.kubernetes.io/controller-uid", job.uid());
  } else {
    label("batch.kubernetes.io/controller-uid", fmt::format("{}-{}-{}", job.uid(), seat.part, seat.job));
    label("jobset.sigs.k8s.io/jobset-uid", job.uid());
    label("jobset.sigs.k8s.io/replicatedjob-name", seat.part);
    label("jobset.sigs.k8s.io/job-index", std::to_string(seat.job));
  }
  pod.at({"metadata", "ownerReferences"}) =
      quoted(fmt::format("[{{'apiVersion':'{}/{}','kind':'{}','name':'{}','uid':'{}','controller':true}}]", job.group,
                         job.version, job.kind, job.name, job.uid()));
  pod.at({"status", "phase"}) = Tree::string("Pending");
  if (around_.admit) {
    around_.admit(pod);
  }
  around_.server.put("", "v1", "Pod", std::move(pod));
}

}  // namespace gantree::test
