#include "dialects/kai/queue_status.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/quantity.h"
#include "dialects/kai/names.h"
#include "dialects/kai/queues.h"
#include "json/write.h"

namespace gantree::kai {

namespace {

// As pods ask for it.
std::string_view resource_of(const QuotaCell& cell) {
  return cell.resource == "gpu" ? std::string_view("nvidia.com/gpu") : std::string_view(cell.resource);
}

json::Out amounts_of(std::span<const CellFigures> cells, std::string_view title,
                     std::int64_t (*amount)(const CellFigures&)) {
  json::Out amounts = json::Out::object();
  for (const CellFigures& one : cells) {
    if (one.cell.queue == title) {
      amounts.add(resource_of(one.cell), format_quantity(amount(one), one.cell.unit));
    }
  }
  return amounts;
}

std::int64_t used_of(const CellFigures& one) {
  return one.cell.used;
}

std::int64_t requested_of(const CellFigures& one) {
  return one.requested;
}

// The queues right below it.
json::Out children_of(std::span<const CellFigures> cells, std::string_view title) {
  std::set<std::string> children;
  for (const CellFigures& one : cells) {
    const bool below = one.cell.parent && cells[one.cell.parent->index()].cell.queue == title;
    if (below) {
      children.insert(queue_named_in(one.cell.queue));
    }
  }
  json::Out::Array names;
  for (const std::string& child : children) {
    names.emplace_back(child);
  }
  return names;
}

}  // namespace

Write queue_status(const NamedObject& named, std::span<const CellFigures> cells) {
  const std::string title = title_of_queue(named.name);
  const json::Value uid = text_at(named.object.metadata(), "uid");
  json::Out status = json::Out::object();
  status.add("allocated", amounts_of(cells, title, used_of));
  status.add("allocatedNonPreemptible", amounts_of(cells, firm_title_of_queue(named.name), used_of));
  status.add("childQueues", children_of(cells, title));
  status.add("requested", amounts_of(cells, title, requested_of));
  json::Out patch = json::Out::object();
  patch.add("metadata", json::Out::object().add("uid", uid ? uid.text() : std::string_view()));
  patch.add("status", std::move(status));
  return Write{.verb = WriteVerb::kPatchStatus,
               .object = {.group = std::string(kSchedulingGroup),
                          .version = "v2",
                          .kind = "Queue",
                          .ns = {},
                          .name = std::string(named.name),
                          .uid = std::string(uid ? uid.text() : std::string_view())},
               .body = patch.to_json(false)};
}

}  // namespace gantree::kai
