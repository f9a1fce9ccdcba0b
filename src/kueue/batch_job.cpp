// Jobs of batch/v1.
#include <algorithm>

#include "base/whole_number.h"
#include "dialects/kueue/names.h"
#include "kueue/job.h"

namespace gantree::kueue {

namespace {

class BatchJob final : public JobKind {
 public:
  [[nodiscard]] ApiKind api() const override {
    return {.group = "batch", .kind = "Job", .versions = {"v1"}, .namespaced = true};
  }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    const json::Value spec = read.object(job.value, "spec");
    const json::Value status = read.object(job.value, "status");
    const int parallelism = number_at(read, spec, "parallelism", 1);
    const int completions = number_at(read, spec, "completions", parallelism);
    const int succeeded = number_at(read, status, "succeeded", 0);
    JobProgress progress;
    progress.suspended = read.boolean(spec, "suspend").value_or(false);
    progress.started = read.text(status, "startTime").has_value();
    progress.active = number_at(read, status, "active", 0) + number_at(read, status, "terminating", 0);
    progress.ready = number_at(read, status, "ready", 0) + succeeded;
    progress.expected = std::min(parallelism, completions);
    // Of a job that runs out fewer pods are left than it may have at once.
    const int left = std::max(0, completions - succeeded);
    if (left < std::min(parallelism, completions) && succeeded > 0) {
      progress.reclaimable.emplace_back("main", std::min(parallelism, completions) - left);
    }
    for (const bool success : {true, false}) {
      if (const json::Value over = condition_that_holds(read, status, success ? "Complete" : "Failed")) {
        progress.end = {.success = success, .message = std::string(read.text(over, "message").value_or(""))};
      }
    }
    return progress;
  }

  [[nodiscard]] std::vector<SetSpec> sets(json::Reader& read, const Workload& job) const override {
    SetSpec set;
    set.name = "main";
    set.pod_template = read.object(read.object(job.object.value, "spec"), "template");
    set.count = job.templates.empty() ? 0 : job.templates.front().count();
    set.index_label = kCompletionIndex;
    if (const json::Value minimum = text_at(job.annotations, kMinParallelism)) {
      set.min_count = whole_number(minimum.text(), 1);
    }
    return {set};
  }

  [[nodiscard]] json::Out::Array reshape(const Object& job, const JobShape& shape) const override {
    json::Out::Array patch;
    patch.push_back(set_field("/spec/template", shape.templates.front()));
    patch.push_back(set_field("/spec/suspend", shape.suspend));
    const json::Value spec = job.value["spec"];
    json::Reader read("", job.value, "Job");
    const int parallelism = number_at(read, spec, "parallelism", 1);
    // Only with a minimum may it start with fewer pods than it asks for; and it gets its number back when stopped.
    const bool partial = text_at(map_at(job.metadata(), "annotations"), kMinParallelism).present();
    if (partial && shape.counts.front() != std::min(parallelism, number_at(read, spec, "completions", parallelism))) {
      patch.push_back(set_field("/spec/parallelism", shape.counts.front()));
    }
    return patch;
  }

  [[nodiscard]] std::optional<json::Out> forget_start(const Object& job) const override {
    const json::Value status = map_at(job.value, "status");
    if (!status || !text_at(status, "startTime")) {
      return std::nullopt;
    }
    return std::move(json::Out::object().add("status", std::move(json::Out::object().add("startTime", json::Out()))));
  }
};

}  // namespace

const JobKind& batch_job() {
  static const BatchJob kind;
  return kind;
}

}  // namespace gantree::kueue
