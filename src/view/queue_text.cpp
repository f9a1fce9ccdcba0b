// The rows as tables, and as values for JSON and YAML.
#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "view/queue_rows.h"
#include "view/text_table.h"
#include "view/words.h"

namespace gantree::view {

namespace {

using kueue::FlavorUse;
using kueue::ResourceUse;

// One column of quota: a resource, in the wide table that of one flavor.
struct QuotaColumn {
  std::string flavor;  // "" for all
  std::string resource;
  friend bool operator==(const QuotaColumn&, const QuotaColumn&) = default;
};

std::vector<QuotaColumn> quota_columns(const std::vector<QueueRow>& rows, bool wide) {
  std::vector<QuotaColumn> found;
  for (const QueueRow& row : rows) {
    for (const FlavorUse& flavor : row.status.reservation) {
      for (const ResourceUse& use : flavor.resources) {
        QuotaColumn column{.flavor = wide ? flavor.flavor : std::string(), .resource = use.resource};
        if (std::find(found.begin(), found.end(), column) == found.end()) {
          found.push_back(std::move(column));
        }
      }
    }
  }
  return found;
}

std::string title_of(const QuotaColumn& column) {
  const std::string_view resource = short_name(column.resource);
  return column.flavor.empty() ? std::string(resource) : fmt::format("{}/{}", column.flavor, resource);
}

// "12/16", what is used of the quota.
TableCell quota_cell(const QueueRow& row, const QuotaColumn& column) {
  ResourceUse sum;
  bool found = false;
  for (const FlavorUse& flavor : row.status.reservation) {
    for (const ResourceUse& use : flavor.resources) {
      if (use.resource == column.resource && (column.flavor.empty() || column.flavor == flavor.flavor)) {
        found = true;
        sum.unit = use.unit;
        sum.total += use.total;
        sum.nominal += use.nominal;
      }
    }
  }
  if (!found) {
    return {"-", {Tone::kFaint}};
  }
  const Tone tone = sum.total > sum.nominal ? Tone::kWarning : sum.total == 0 ? Tone::kFaint : Tone::kPlain;
  return {fmt::format("{}/{}", format_quantity(sum.total, sum.unit), format_quantity(sum.nominal, sum.unit)), {tone}};
}

TableCell borrowed_cell(const QueueRow& row) {
  std::vector<std::string> parts;
  for (const FlavorUse& flavor : row.status.reservation) {
    for (const ResourceUse& use : flavor.resources) {
      if (use.borrowed > 0) {
        parts.push_back(fmt::format("{} {}", format_quantity(use.borrowed, use.unit), short_name(use.resource)));
      }
    }
  }
  if (parts.empty()) {
    return {"-", {Tone::kFaint}};
  }
  return {fmt::format("{}", fmt::join(parts, ", ")), {Tone::kWarning}};
}

TableCell active_cell(const QueueRow& row, bool wide, bool unicode) {
  const kueue::Standing& standing = row.status.standing;
  if (standing.active) {
    return {"yes", {Tone::kGood}};
  }
  return {wide ? printable(fmt::format("{}: {}", standing.reason, standing.message), unicode) : standing.reason,
          {Tone::kBad}};
}

TableCell text_cell(std::string_view text, bool unicode, Ink ink = {}) {
  return text.empty() ? TableCell{"-", {Tone::kFaint}} : TableCell{printable(text, unicode), ink};
}

Tone tone_of(std::string_view state) {
  if (state == "Running" || state == "Admitted" || state == "Reserved") {
    return Tone::kGood;
  }
  if (state == "Pending") {
    return Tone::kWarning;
  }
  return state == "Finished" ? Tone::kFaint : Tone::kBad;
}

json::Out flavors_of(const std::vector<FlavorUse>& uses) {
  json::Out flavors = json::Out::array();
  for (const FlavorUse& flavor : uses) {
    json::Out resources = json::Out::array();
    for (const ResourceUse& use : flavor.resources) {
      resources.push(std::move(json::Out::object()
                                   .add("name", use.resource)
                                   .add("used", format_quantity(use.total, use.unit))
                                   .add("nominal", format_quantity(use.nominal, use.unit))
                                   .add("borrowed", format_quantity(use.borrowed, use.unit))));
    }
    flavors.push(std::move(json::Out::object().add("name", flavor.flavor).add("resources", std::move(resources))));
  }
  return flavors;
}

}  // namespace

std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  seconds = std::max<std::int64_t>(0, seconds);
  if (seconds < 2 * kMinute) {
    return fmt::format("{}s", seconds);
  }
  if (seconds < 2 * kHour) {
    return fmt::format("{}m", seconds / kMinute);
  }
  return seconds < 2 * kDay ? fmt::format("{}h", seconds / kHour) : fmt::format("{}d", seconds / kDay);
}

std::string queues_to_text(const std::vector<QueueRow>& rows, bool wide, const TextOptions& options) {
  const bool local = std::any_of(rows.begin(), rows.end(), [](const QueueRow& row) { return !row.ns.empty(); });
  const std::vector<QuotaColumn> quotas = local ? std::vector<QuotaColumn>() : quota_columns(rows, wide);
  std::vector<Column> head;
  if (local) {
    head.push_back({"NAMESPACE", Align::kLeft});
  }
  head.push_back({local ? "LOCAL QUEUE" : "QUEUE", Align::kLeft});
  head.push_back({local ? "QUEUE" : "COHORT", Align::kLeft});
  for (const QuotaColumn& column : quotas) {
    head.push_back({printable(title_of(column), options.unicode), Align::kRight});
  }
  if (!local) {
    head.push_back({"BORROWED", Align::kRight});
  }
  head.push_back({"PENDING", Align::kRight});
  head.push_back({"ADMITTED", Align::kRight});
  head.push_back({"ACTIVE", Align::kLeft});
  std::vector<TableRow> table;
  for (const QueueRow& row : rows) {
    TableRow& cells = table.emplace_back();
    if (local) {
      cells.push_back(text_cell(row.ns, options.unicode));
    }
    cells.push_back(text_cell(row.name, options.unicode, {Tone::kStrong}));
    cells.push_back(text_cell(row.above, options.unicode));
    for (const QuotaColumn& column : quotas) {
      cells.push_back(quota_cell(row, column));
    }
    if (!local) {
      cells.push_back(borrowed_cell(row));
    }
    cells.push_back(number_cell(row.status.pending, row.status.pending > 0));
    cells.push_back(number_cell(row.status.admitted));
    cells.push_back(active_cell(row, wide, options.unicode));
  }
  return render(draw_table(head, table), options.color);
}

std::string workloads_to_text(const std::vector<WorkloadRow>& rows, bool wide, std::int64_t now_seconds,
                              const TextOptions& options) {
  std::vector<Column> head;
  for (const char* title : {"NAMESPACE", "WORKLOAD", "JOB", "QUEUE"}) {
    head.push_back({title, Align::kLeft});
  }
  head.push_back({"PRIORITY", Align::kRight});
  for (const char* title : {"STATE", "REASON", "WHERE"}) {
    head.push_back({title, Align::kLeft});
  }
  head.push_back({"AGE", Align::kRight});
  if (wide) {
    head.push_back({"MESSAGE", Align::kLeft});
  }
  std::vector<TableRow> table;
  for (const WorkloadRow& row : rows) {
    const bool known = row.created_seconds > 0;
    table.push_back({text_cell(row.ns, options.unicode), text_cell(row.name, options.unicode, {Tone::kStrong}),
                     text_cell(row.job, options.unicode), text_cell(row.queue, options.unicode),
                     number_cell(row.priority), text_cell(row.state, options.unicode, {tone_of(row.state)}),
                     text_cell(row.reason, options.unicode), text_cell(row.where, options.unicode),
                     text_cell(known ? age_text(now_seconds - row.created_seconds) : std::string(), options.unicode)});
    if (wide) {
      table.back().push_back(text_cell(row.message, options.unicode));
    }
  }
  return render(draw_table(head, table), options.color);
}

json::Out queues_to_json(const std::vector<QueueRow>& rows) {
  json::Out list = json::Out::array();
  for (const QueueRow& row : rows) {
    json::Out out = json::Out::object();
    if (!row.ns.empty()) {
      out.add("namespace", row.ns);
    }
    out.add("name", row.name);
    if (!row.above.empty()) {
      out.add(row.ns.empty() ? "cohort" : "clusterQueue", row.above);
    }
    const kueue::Standing& standing = row.status.standing;
    out.add("active", standing.active).add("reason", standing.reason).add("message", standing.message);
    out.add("pending", row.status.pending).add("reserving", row.status.reserving);
    out.add("admitted", row.status.admitted).add("flavors", flavors_of(row.status.reservation));
    list.push(std::move(out));
  }
  return list;
}

json::Out workloads_to_json(const std::vector<WorkloadRow>& rows) {
  json::Out list = json::Out::array();
  for (const WorkloadRow& row : rows) {
    json::Out out = json::Out::object();
    out.add("namespace", row.ns).add("name", row.name);
    for (const auto& [key, value] :
         {std::pair("job", &row.job), std::pair("queue", &row.queue), std::pair("clusterQueue", &row.cluster_queue),
          std::pair("state", &row.state), std::pair("reason", &row.reason), std::pair("message", &row.message),
          std::pair("where", &row.where)}) {
      if (!value->empty()) {
        out.add(key, *value);
      }
    }
    out.add("priority", row.priority);
    if (row.created_seconds > 0) {
      out.add("created", rfc3339(Time(std::chrono::seconds(row.created_seconds))));
    }
    list.push(std::move(out));
  }
  return list;
}

}  // namespace gantree::view
