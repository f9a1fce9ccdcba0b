// JobSets.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>

#include "dialects/kueue/names.h"
#include "kueue/job.h"

namespace gantree::kueue {

namespace {

constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::span<const json::NodeData> replicated_jobs(json::Reader& read, const Object& job) {
  const json::Value list = read.array(read.object(job.value, "spec"), "replicatedJobs");
  return list ? list.items() : std::span<const json::NodeData>();
}

json::Value pod_template_of(json::Reader& read, json::Value replicated) {
  return read.object(read.object(read.object(replicated, "template"), "spec"), "template");
}

int pods_of_each(json::Reader& read, json::Value replicated) {
  const json::Value spec = read.object(read.object(replicated, "template"), "spec");
  const int parallelism = number_at(read, spec, "parallelism", 1);
  return std::min(parallelism, number_at(read, spec, "completions", parallelism));
}

// Users may ask for more than there are numbers: that is the most.
int at_most(std::int64_t number) {
  return static_cast<int>(std::min<std::int64_t>(number, std::numeric_limits<int>::max()));
}

int pods_of(json::Reader& read, json::Value replicated, int replicas) {
  return at_most(std::int64_t{replicas} * pods_of_each(read, replicated));
}

void add(int& sum, int number) {
  sum = at_most(std::int64_t{sum} + number);
}

class JobSetKind final : public JobKind {
 public:
  [[nodiscard]] ApiKind api() const override {
    return {.group = kJobSetGroup, .kind = "JobSet", .versions = {"v1alpha2"}, .namespaced = true};
  }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    JobProgress progress;
    progress.suspended = read.boolean(read.object(job.value, "spec"), "suspend").value_or(false);
    const json::Value status = read.object(job.value, "status");
    for (const json::NodeData& item : replicated_jobs(read, job)) {
      const json::Value one(&item);
      const int replicas = number_at(read, one, "replicas", 1);
      add(progress.expected, replicas);
      progress.wants.emplace_back(lower(read.text(one, "name").value_or("")), pods_of(read, one, replicas));
    }
    const json::Value statuses = read.array(status, "replicatedJobsStatus");
    for (const json::NodeData& item : statuses ? statuses.items() : std::span<const json::NodeData>()) {
      const json::Value one = read.as_object(json::Value(&item), "replicatedJobsStatus");
      add(progress.active, number_at(read, one, "active", 0));
      add(progress.ready, number_at(read, one, "ready", 0));
      add(progress.ready, number_at(read, one, "succeeded", 0));
      add_reclaimable(read, job, one, progress);
    }
    for (const bool success : {true, false}) {
      if (const json::Value over = condition_that_holds(read, status, success ? "Completed" : "Failed")) {
        progress.end = {.success = success, .message = std::string(read.text(over, "message").value_or(""))};
      }
    }
    return progress;
  }

  [[nodiscard]] std::vector<SetSpec> sets(json::Reader& read, const Workload& job) const override {
    std::vector<SetSpec> sets;
    const auto jobs = replicated_jobs(read, job.object);
    for (std::size_t i = 0; i < jobs.size() && i < job.templates.size(); ++i) {
      SetSpec& set = sets.emplace_back();
      set.name = lower(job.templates[i].role);
      set.pod_template = pod_template_of(read, json::Value(&jobs[i]));
      set.count = job.templates[i].count();
      set.index_label = kCompletionIndex;
      set.subgroup_index_label = kJobIndex;
      set.subgroups = job.templates[i].replicas;
    }
    return sets;
  }

  [[nodiscard]] json::Out::Array reshape(const Object&, const JobShape& shape, json::Out&) const override {
    json::Out::Array patch;
    for (std::size_t i = 0; i < shape.templates.size(); ++i) {
      patch.push_back(set_field(fmt::format("/spec/replicatedJobs/{}/template/spec/template", i), shape.templates[i]));
    }
    patch.push_back(set_field("/spec/suspend", shape.suspend));
    return patch;
  }

  [[nodiscard]] std::optional<json::Out> forget_start(const Object&) const override { return std::nullopt; }

 private:
  static void add_reclaimable(json::Reader& read, const Object& job, json::Value status, JobProgress& progress) {
    const std::string_view name = read.text(status, "name").value_or("");
    const int succeeded = number_at(read, status, "succeeded", 0);
    for (const json::NodeData& item : replicated_jobs(read, job)) {
      const json::Value one(&item);
      if (read.text(one, "name") == name && succeeded > 0) {
        progress.reclaimable.emplace_back(lower(name),
                                          pods_of(read, one, std::min(succeeded, number_at(read, one, "replicas", 1))));
      }
    }
  }
};

}  // namespace

const JobKind& job_set() {
  static const JobSetKind kind;
  return kind;
}

}  // namespace gantree::kueue
