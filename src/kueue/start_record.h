// What a start adds to the pod templates of a job, written down in an annotation of the job. By it the templates are
// found again as their user wrote them, whatever became of the Workload meanwhile. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "dialects/object.h"
#include "json/value.h"
#include "json/write.h"
#include "kueue/job.h"

namespace gantree::kueue {

// As it was read. Users may write anything there: what makes no sense counts as not written.
class StartRecord {
 public:
  explicit StartRecord(const Object& job);

  // What was added to the template of that position; absent where nothing tells.
  [[nodiscard]] json::Value added(std::size_t set) const;
  // A number of the job as it was before; nothing where it was not changed.
  [[nodiscard]] std::optional<int> number(std::string_view key) const;

 private:
  std::vector<json::Document> document_;  // one at most
};

// What with_start() adds to a template that its user has written like this.
[[nodiscard]] json::Out added_by(json::Value pod_template, const SetStart& start);

// Whether a start has changed the template.
[[nodiscard]] bool was_started(json::Value pod_template);

// The template as its user wrote it. `known`: as the Workload has it, which counts where no record tells what was
// added; absent where there is none.
[[nodiscard]] json::Out unstarted(json::Value pod_template, json::Value added, json::Value known);

}  // namespace gantree::kueue
