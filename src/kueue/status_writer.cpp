#include "kueue/status_writer.h"

#include <span>
#include <utility>

#include "dialects/core/metadata.h"

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

void StatusWriter::patch(Entry& entry, json::Out body, Step& step) {
  const std::uint64_t id =
      outbox_.order(step, Urgency::kStatus,
                    {.verb = WriteVerb::kPatch, .object = entry.object.ref, .node = {}, .body = body.to_json(false)},
                    {.workload = entry.key()});
  entry.guard.sent(id, entry.object.resource_version);
}

void StatusWriter::set_active(Entry& entry, bool active, Step& step) {
  json::Out body = json::Out::object();
  body.add("metadata", std::move(json::Out::object().add("uid", entry.object.ref.uid)));
  body.add("spec", std::move(json::Out::object().add("active", active)));
  patch(entry, std::move(body), step);
}

void StatusWriter::set_priority(Entry& entry, std::int64_t priority, Step& step) {
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata));
  body.add("spec", std::move(json::Out::object().add("priority", priority)));
  patch(entry, std::move(body), step);
}

void StatusWriter::remove_finalizer(Entry& entry, std::string_view finalizer, Step& step) {
  json::Out rest = json::Out::array();
  const json::Value all = map_at(entry.object.document.root(), "metadata")["finalizers"];
  const bool listed = all && all.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? all.items() : std::span<const json::NodeData>()) {
    const json::Value one(&item);
    if (one.kind() == json::Kind::kString && one.text() != finalizer) {
      rest.push(one.text());
    }
  }
  json::Out metadata = json::Out::object();
  metadata.add("uid", entry.object.ref.uid).add("resourceVersion", entry.object.resource_version);
  metadata.add("finalizers", std::move(rest));
  patch(entry, std::move(json::Out::object().add("metadata", std::move(metadata))), step);
}

}  // namespace gantree::kueue
