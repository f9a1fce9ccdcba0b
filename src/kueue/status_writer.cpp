#include "kueue/status_writer.h"

#include <utility>

namespace gantree::kueue {

void StatusWriter::write(Entry& entry, const std::vector<Wanted>& wanted, json::Out::Object fields, Time now,
                         Step& step, Urgency urgency) {
  auto conditions = with_conditions(entry.object.conditions, wanted, now);
  if (!conditions && fields.empty()) {
    return;
  }
  json::Out status = json::Out::object();
  status.add("conditions", write_conditions(conditions ? *conditions : entry.object.conditions));
  const bool given = entry.assumed && entry.sent;
  for (auto& [name, value] : fields) {
    status.add(name, std::move(value));
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("status", std::move(status));
  const std::uint64_t id = outbox_.order(
      step, urgency,
      {.verb = WriteVerb::kPatchStatus, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
      {.workload = entry.key(), .admission = given});
  entry.guard.sent(id, entry.object.resource_version);
}

void StatusWriter::deactivate(Entry& entry, Step& step) {
  json::Out body = json::Out::object();
  body.add("metadata", std::move(json::Out::object().add("uid", entry.object.ref.uid)));
  body.add("spec", std::move(json::Out::object().add("active", false)));
  const std::uint64_t id =
      outbox_.order(step, Urgency::kStatus,
                    {.verb = WriteVerb::kPatch, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
                    {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
}

}  // namespace gantree::kueue
