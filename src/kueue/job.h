// Jobs of any kind that wait in a queue: what they ask for, how far they are, and how they are started and stopped.
//
// A kind is a JobKind, and one line in job.cpp or in role_jobs(). Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/object.h"
#include "dialects/workloads/workload.h"
#include "dialects/write.h"
#include "json/patch.h"
#include "json/write.h"

namespace gantree::kueue {

// What an admission adds to the pods of a pod set.
struct SetStart {
  std::string name;
  int count = 0;
  std::map<std::string, std::string> node_selector;
  std::vector<json::Out> tolerations;
  std::string workload;  // the name of the Workload
  std::string local_queue = {};
  std::string cluster_queue = {};
  bool topology = false;  // pods are held back until they are told where to go
};

struct JobEnd {
  bool success = true;
  std::string message;
};

// A pod set of a job as its Workload is to have it.
struct SetSpec {
  std::string name;
  json::Value pod_template;  // {metadata, spec}
  int count = 1;
  std::optional<int> min_count;
  std::string index_label;           // by which pods tell their rank; "" where they do not
  std::string subgroup_index_label;  // by which they tell their part of the set; "" where there is one part only
  int subgroups = 1;
};

// How far a job is, by its own word.
struct JobProgress {
  bool suspended = false;
  bool started = false;  // has had pods since it was last suspended: its templates cannot be changed
  int active = 0;        // pods (of some kinds: parts) that are there and are not over
  int ready = 0;         // the same that are ready, or have succeeded
  int expected = 0;      // so many should be
  std::vector<std::pair<std::string, int>> wants;        // pods of a pod set that it has at once, at most
  std::vector<std::pair<std::string, int>> reclaimable;  // those of them that are over and will not be replaced
  std::optional<JobEnd> end;                             // it is over
};

// Of the pods that it wants of a pod set, those that are not over.
[[nodiscard]] int pods_needed(const JobProgress& progress, std::string_view set, int wanted);

// Templates and counts that a job is to have, by pod set.
struct JobShape {
  bool suspend = true;
  std::vector<json::Out> templates;
  std::vector<int> counts;
  std::vector<int> over = {};  // pods beside those that are over from earlier starts
};

class JobKind {
 public:
  JobKind() = default;
  virtual ~JobKind() = default;
  JobKind(const JobKind&) = delete;
  JobKind& operator=(const JobKind&) = delete;

  [[nodiscard]] virtual ApiKind api() const = 0;
  // The field by which it is stopped.
  [[nodiscard]] virtual json::Patch::Path suspend_field() const { return {"spec", "suspend"}; }
  [[nodiscard]] virtual JobProgress progress(json::Reader& read, const Object& job) const = 0;
  // What `job` asks for; in the order of its templates.
  [[nodiscard]] virtual std::vector<SetSpec> sets(json::Reader& read, const Workload& job) const = 0;
  // The job with another shape, as operations of a JSON Patch. What of the job's own numbers it changes goes into the
  // record, from which sets() takes them.
  [[nodiscard]] virtual json::Out::Array reshape(const Object& job, const JobShape& shape, json::Out& record) const = 0;
  // Gives back the numbers of its own to one that was started with others; operations of a JSON Patch.
  [[nodiscard]] virtual json::Out::Array restore(const Object& /*job*/) const { return {}; }
  // A merge patch of the status, without which the templates of a stopped job cannot be changed; nothing where they
  // can.
  [[nodiscard]] virtual std::optional<json::Out> forget_start(const Object& job) const = 0;
};

[[nodiscard]] const JobKind& batch_job();
[[nodiscard]] const JobKind& job_set();
[[nodiscard]] std::span<const JobKind* const> role_jobs();  // of Kubeflow and Ray

// nullptr where it is none of ours.
[[nodiscard]] const JobKind* job_kind(std::string_view group, std::string_view kind);
[[nodiscard]] std::vector<ApiKind> job_apis();

// The labels that an admission gives to pods.
[[nodiscard]] std::map<std::string, std::string> labels_of(const SetStart& start);
// A pod template with what an admission adds.
[[nodiscard]] json::Out with_start(json::Value pod_template, const SetStart& start);

// The condition of that type in the status of a job, where it holds; absent otherwise.
[[nodiscard]] json::Value condition_that_holds(json::Reader& read, json::Value status, std::string_view type);

// A count; the fallback where it is not given.
[[nodiscard]] int number_at(json::Reader& read, json::Value parent, std::string_view key, int fallback);

// By this label pods of an indexed Job tell their rank.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

// One operation of a JSON Patch. Setting a field of an object that is there works whether the field is there or not.
[[nodiscard]] json::Out set_field(std::string_view path, json::Out value);

// The operations that stop a job, or let it go on; none where it does so already.
[[nodiscard]] json::Out::Array set_suspend(const Object& job, const JobKind& kind, bool suspend);

// Where an annotation stands; and the operations that set some, whether the object has any or not.
[[nodiscard]] std::string annotation_path(std::string_view key);
void annotate(const Object& job, const std::vector<std::pair<std::string_view, std::string>>& annotations,
              json::Out::Array& operations);

}  // namespace gantree::kueue
