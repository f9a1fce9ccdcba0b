#include "dialects/kueue/pods_over.h"

#include <algorithm>
#include <cstdint>

#include "base/whole_number.h"

namespace gantree::kueue {

namespace {

// How many indexes a list like "1,3-5" names.
std::int64_t indexes_in(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view range = list.substr(0, comma);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto first = whole_number(range.substr(0, dash), 0);
    const auto last = dash == range.size() ? first : whole_number(range.substr(dash + 1), 0);
    if (first && last && *first <= *last) {
      count += std::int64_t{*last} - *first + 1;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return count;
}

// What makes no sense is complained of where the job itself is read.
int number_or(json::Value parent, std::string_view key, int fallback) {
  const json::Value value = parent ? parent[key] : json::Value();
  const bool number = value && value.kind() == json::Kind::kNumber;
  return number ? std::max(0, whole_number(value.text(), 0).value_or(fallback)) : fallback;
}

}  // namespace

int pods_over(int pods, int completions, int succeeded, std::string_view failed) {
  const auto lost = static_cast<int>(std::min<std::int64_t>(completions, indexes_in(failed)));
  const int left = std::max(0, completions - std::min(completions, succeeded) - lost);
  return succeeded > 0 || lost > 0 ? std::max(0, pods - left) : 0;
}

int pods_over(json::Reader& read, const Workload& workload, const PodTemplate& part) {
  const json::Value status = read.object(workload.object.value, "status");
  if (workload.key.kind == "Job") {
    const int completions = number_or(part.at, "completions", number_or(part.at, "parallelism", 1));
    return pods_over(part.count(), completions, number_or(status, "succeeded", 0),
                     read.text(status, "failedIndexes").value_or(""));
  }
  const json::Value list = workload.key.kind == "JobSet" ? read.array(status, "replicatedJobsStatus") : json::Value();
  for (const json::NodeData& item : items_of(list)) {
    const json::Value one(&item);
    if (one.kind() == json::Kind::kObject && read.text(one, "name") == part.role) {
      const std::int64_t over = std::int64_t{part.each} * std::min(part.replicas, number_or(one, "succeeded", 0));
      return static_cast<int>(std::min<std::int64_t>(over, part.count()));
    }
  }
  return 0;
}

}  // namespace gantree::kueue
