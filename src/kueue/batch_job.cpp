// Jobs of batch/v1.
#include <algorithm>
#include <limits>

#include "base/whole_number.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pods_over.h"
#include "kueue/job.h"
#include "kueue/start_record.h"

namespace gantree::kueue {

namespace {

struct Numbers {
  int parallelism = 1;
  std::optional<int> completions = {};

  // So many run at once.
  [[nodiscard]] int pods() const { return std::min(parallelism, completions.value_or(parallelism)); }
};

Numbers numbers_of(json::Reader& read, const Object& job) {
  const json::Value spec = read.object(job.value, "spec");
  Numbers numbers{.parallelism = number_at(read, spec, "parallelism", 1)};
  if (const auto completions = read.integer(spec, "completions", 0, std::numeric_limits<int>::max())) {
    numbers.completions = static_cast<int>(*completions);
  }
  return numbers;
}

// As its user wants them, where a start with fewer pods has changed them and nobody else since.
Numbers own_numbers(json::Reader& read, const Object& job) {
  Numbers numbers = numbers_of(read, job);
  const StartRecord record(job);
  const auto given = record.number("given");
  const auto parallelism = record.number("parallelism");
  if (!given || !parallelism || numbers.parallelism != *given) {
    return numbers;
  }
  numbers.parallelism = *parallelism;
  if (const auto completions = record.number("completions"); completions && numbers.completions == given) {
    numbers.completions = completions;
  }
  return numbers;
}

void set_numbers(const Numbers& now, const Numbers& wanted, json::Out::Array& patch) {
  if (wanted.parallelism != now.parallelism) {
    patch.push_back(set_field("/spec/parallelism", wanted.parallelism));
  }
  if (wanted.completions && wanted.completions != now.completions) {
    patch.push_back(set_field("/spec/completions", *wanted.completions));
  }
}

class BatchJob final : public JobKind {
 public:
  [[nodiscard]] ApiKind api() const override {
    return {.group = "batch", .kind = "Job", .versions = {"v1"}, .namespaced = true};
  }

  [[nodiscard]] JobProgress progress(json::Reader& read, const Object& job) const override {
    const json::Value spec = read.object(job.value, "spec");
    const json::Value status = read.object(job.value, "status");
    const Numbers numbers = numbers_of(read, job);
    const int completions = numbers.completions.value_or(numbers.parallelism);
    const int succeeded = number_at(read, status, "succeeded", 0);
    JobProgress progress;
    progress.suspended = read.boolean(spec, "suspend").value_or(false);
    progress.started = read.text(status, "startTime").has_value();
    progress.active = number_at(read, status, "active", 0) + number_at(read, status, "terminating", 0);
    progress.ready = number_at(read, status, "ready", 0) + succeeded;
    progress.expected = numbers.pods();
    progress.wants.emplace_back("main", numbers.pods());
    // Of a job that runs out fewer pods are left than it may have at once.
    if (const int pods =
            pods_over(numbers.pods(), completions, succeeded, read.text(status, "failedIndexes").value_or(""));
        pods > 0) {
      progress.reclaimable.emplace_back("main", pods);
    }
    for (const bool success : {true, false}) {
      if (const json::Value over = condition_that_holds(read, status, success ? "Complete" : "Failed")) {
        progress.end = {.success = success, .message = std::string(read.text(over, "message").value_or(""))};
      }
    }
    return progress;
  }

  [[nodiscard]] std::vector<SetSpec> sets(json::Reader& read, const Workload& job) const override {
    const Numbers own = own_numbers(read, job.object);
    SetSpec set;
    set.name = "main";
    set.pod_template = read.object(read.object(job.object.value, "spec"), "template");
    set.count = own.pods();
    set.index_label = kCompletionIndex;
    if (const json::Value minimum = text_at(job.annotations, kMinParallelism)) {
      set.min_count = whole_number(minimum.text(), 1);
    }
    return {set};
  }

  [[nodiscard]] json::Out::Array reshape(const Object& job, const JobShape& shape, json::Out& record) const override {
    json::Out::Array patch;
    patch.push_back(set_field("/spec/template", shape.templates.front()));
    patch.push_back(set_field("/spec/suspend", shape.suspend));
    const json::Value annotations = map_at(job.metadata(), "annotations");
    // Only with a minimum may it start with fewer pods than it asks for.
    if (!text_at(annotations, kMinParallelism)) {
      return patch;
    }
    json::Reader read("", job.value, "Job");
    const Numbers own = own_numbers(read, job);
    const Numbers now = numbers_of(read, job);
    Numbers wanted = own;
    if (const int given = shape.counts.front(); given != own.pods()) {
      wanted.parallelism = given;
      const json::Value follow = text_at(annotations, kCompletionsFollow);
      const bool indexed = read.text(read.object(job.value, "spec"), "completionMode") == "Indexed";
      if (follow && follow.text() == "true" && indexed && own.completions) {
        // The indexes that are over count among the completions.
        wanted.parallelism = given + shape.over.front();
        wanted.completions = wanted.parallelism;
        record.add("completions", *own.completions);
      }
      record.add("parallelism", own.parallelism).add("given", wanted.parallelism);
    }
    set_numbers(now, wanted, patch);
    return patch;
  }

  [[nodiscard]] json::Out::Array restore(const Object& job) const override {
    json::Reader read("", job.value, "Job");
    json::Out::Array patch;
    set_numbers(numbers_of(read, job), own_numbers(read, job), patch);
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
