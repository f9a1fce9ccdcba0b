#include "apiserver/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apiserver/table_cells.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

constexpr auto kFallback = std::to_array<TableColumn>({
    {"Name", "string", 0, "Name of the object, unique in its namespace."},
    {"Created At", "date", 0, "When the object was made."},
});

void fallback_cells(const Value& object, std::int64_t, Array& cells) {
  cells.push_back(Value(name_of(object)));
  cells.push_back(Value(text_at(object, {"metadata", "creationTimestamp"})));
}

Object definition_of(const TableColumn& column) {
  Object definition;
  definition["name"] = column.name;
  definition["type"] = column.type;
  definition["format"] = column.name == "Name" ? "name" : "";
  definition["description"] = column.description;
  definition["priority"] = column.priority;
  return definition;
}

Value custom_cell(const Value* found, std::string_view type, std::int64_t now) {
  if (found == nullptr || found->is_null()) {
    return {};
  }
  if (type == "date") {
    return Value(found->is_string() ? age_of(text_of(*found), now) : std::string("<invalid>"));
  }
  if (type == "string") {
    return Value(found->is_string() ? std::string(text_of(*found)) : to_json(*found));
  }
  const bool fits = type == "boolean" ? found->is_bool() : found->is_number();
  return fits ? *found : Value();
}

}  // namespace

TableFormat TableFormat::of_builtin(std::string_view group, std::string_view kind) {
  TableFormat table;
  std::span<const TableColumn> columns = kFallback;
  table.make_ = fallback_cells;
  for (const std::span<const KindTable> tables : {workload_tables(), other_tables(), resource_tables()}) {
    for (const KindTable& known : tables) {
      if (known.kind == kind && known.group == group) {
        columns = known.columns;
        table.make_ = known.make;
      }
    }
  }
  for (const TableColumn& column : columns) {
    table.columns_.push_back(definition_of(column));
  }
  return table;
}

TableFormat TableFormat::of_custom(const Array* printer_columns) {
  TableFormat table;
  table.columns_.push_back(definition_of(kFallback[0]));
  static const Array kOnlyAge{Object{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}};
  for (const Value& column : printer_columns == nullptr || printer_columns->empty() ? kOnlyAge : *printer_columns) {
    const std::string_view text = text_at(column, {"jsonPath"});
    auto path = JsonPath::parse(text);
    if (!path) {
      continue;
    }
    Object definition;
    definition["name"] = text_at(column, {"name"});
    definition["type"] = text_at(column, {"type"});
    definition["format"] = text_at(column, {"format"});
    const std::string_view description = text_at(column, {"description"});
    definition["description"] = description.empty()
                                    ? fmt::format("Custom resource definition column (in JSONPath format): {}", text)
                                    : std::string(description);
    definition["priority"] = number_at(column, {"priority"});
    table.custom_.push_back({std::move(*path), std::string(text_at(column, {"type"}))});
    table.columns_.push_back(std::move(definition));
  }
  return table;
}

Array TableFormat::cells(const Value& object, std::int64_t now) const {
  Array cells;
  if (make_ != nullptr) {
    make_(object, now, cells);
    return cells;
  }
  cells.push_back(Value(name_of(object)));
  for (const Custom& column : custom_) {
    cells.push_back(custom_cell(column.path.first(object), column.type, now));
  }
  return cells;
}

std::string human_duration(std::int64_t seconds) {
  if (seconds < -1) {
    return "<invalid>";
  }
  if (seconds < 0) {
    return "0s";
  }
  const auto pair = [](std::int64_t big, char unit, std::int64_t small, char small_unit) {
    return small == 0 ? fmt::format("{}{}", big, unit) : fmt::format("{}{}{}{}", big, unit, small, small_unit);
  };
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = seconds / 3600;
  const std::int64_t days = hours / 24;
  if (seconds < 120) {
    return fmt::format("{}s", seconds);
  }
  if (minutes < 10) {
    return pair(minutes, 'm', seconds % 60, 's');
  }
  if (minutes < 180) {
    return fmt::format("{}m", minutes);
  }
  if (hours < 8) {
    return pair(hours, 'h', minutes % 60, 'm');
  }
  if (hours < 48) {
    return fmt::format("{}h", hours);
  }
  if (days < 8) {
    return pair(days, 'd', hours % 24, 'h');
  }
  if (days < 730) {
    return fmt::format("{}d", days);
  }
  return days < 365 * 8 ? pair(days / 365, 'y', days % 365, 'd') : fmt::format("{}y", days / 365);
}

std::string age_of(std::string_view time, std::int64_t now) {
  const auto then = parse_time(time);
  return then ? human_duration(now - *then) : "<unknown>";
}

std::string age_of(const Value& object, std::int64_t now) {
  return age_of(text_at(object, {"metadata", "creationTimestamp"}), now);
}

std::string_view name_of(const Value& object) {
  return text_at(object, {"metadata", "name"});
}

std::int64_t number_at(const Value& object, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  const Value* value = find(object, keys);
  return value != nullptr && value->is_int64() ? value->get_int64() : otherwise;
}

std::string or_none(std::string_view text) {
  return text.empty() ? "<none>" : std::string(text);
}

std::string text_of_labels(const Object* labels) {
  std::vector<std::string> parts;
  for (const auto& label : labels == nullptr ? Object() : *labels) {
    parts.push_back(fmt::format("{}={}", std::string_view(label.key()), text_of(label.value())));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "<none>" : fmt::format("{}", fmt::join(parts, ","));
}

std::string text_of_selector(const Value* selector) {
  if (selector == nullptr || !selector->is_object()) {
    return "<none>";
  }
  const Object* labels = object_at(*selector, {"matchLabels"});
  std::string text = labels == nullptr || labels->empty() ? "" : text_of_labels(labels);
  const Array* expressions = array_at(*selector, {"matchExpressions"});
  for (std::size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    const std::string_view key = text_at((*expressions)[i], {"key"});
    const std::string_view relation = text_at((*expressions)[i], {"operator"});
    std::string values;
    const Array* list = array_at((*expressions)[i], {"values"});
    for (std::size_t j = 0; list != nullptr && j < list->size(); ++j) {
      values += (j == 0 ? "" : ",") + std::string(text_of((*list)[j]));
    }
    text += text.empty() ? "" : ",";
    text += relation == "Exists"         ? std::string(key)
            : relation == "DoesNotExist" ? "!" + std::string(key)
                                         : fmt::format("{} {} ({})", key, relation == "In" ? "in" : "notin", values);
  }
  return text.empty() ? "<none>" : text;
}

bool has_condition(const Value& object, std::string_view type) {
  const Array* conditions = array_at(object, {"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->begin(), conditions->end(), [&](const Value& condition) {
           return text_at(condition, {"type"}) == type && text_at(condition, {"status"}) == "True";
         });
}

}  // namespace gantree::apiserver
