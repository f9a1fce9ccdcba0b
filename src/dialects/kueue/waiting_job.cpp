#include "dialects/kueue/waiting_job.h"

#include <span>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

bool has_mark(const Object& job, std::string_view key) {
  return text_at(map_at(job.metadata(), "labels"), key).present() ||
         text_at(map_at(job.metadata(), "annotations"), key).present();
}

}  // namespace

bool is_of_job_set(const Object& job) {
  const json::Value metadata = job.metadata();
  const json::Value owners = metadata ? metadata["ownerReferences"] : json::Value();
  const bool listed = owners && owners.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? owners.items() : std::span<const json::NodeData>()) {
    const json::Value owner(&item);
    const json::Value controls = owner["controller"];
    const json::Value kind = text_at(owner, "kind");
    const json::Value api = text_at(owner, "apiVersion");
    // Who merely refers to it, say to have it collected, does not make it.
    if (controls && controls.kind() == json::Kind::kBool && controls.text() == "true" && kind &&
        kind.text() == "JobSet" && api && api.text().starts_with(kJobSetGroup)) {
      return true;
    }
  }
  return false;
}

bool waits_by_itself(const Object& job) {
  return has_mark(job, kQueueName) && !has_mark(job, kPrebuiltWorkload) && !is_of_job_set(job);
}

}  // namespace gantree::kueue
