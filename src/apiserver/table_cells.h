// The cells of built-in kinds, for table.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/json.h"
#include "apiserver/table.h"

namespace gantree::apiserver {

struct KindTable {
  std::string_view group;
  std::string_view kind;
  std::span<const TableColumn> columns;
  CellMaker make;
};

[[nodiscard]] std::span<const KindTable> workload_tables();
[[nodiscard]] std::span<const KindTable> other_tables();
[[nodiscard]] std::span<const KindTable> resource_tables();

inline constexpr TableColumn kName{"Name", "string", 0, "Name of the object, unique in its namespace."};
inline constexpr TableColumn kAge{"Age", "string", 0, "How long ago the object was made."};

void pod_cells(const Value& pod, std::int64_t now, Array& cells);

// What several kinds show.
[[nodiscard]] std::string_view name_of(const Value& object);
[[nodiscard]] std::string age_of(const Value& object, std::int64_t now);
[[nodiscard]] std::int64_t number_at(const Value& object, std::initializer_list<std::string_view> keys,
                                     std::int64_t otherwise = 0);
[[nodiscard]] std::string or_none(std::string_view text);
[[nodiscard]] std::string text_of_labels(const Object* labels);     // "a=1,b=2" or "<none>"
[[nodiscard]] std::string text_of_selector(const Value* selector);  // of matchLabels and matchExpressions
[[nodiscard]] bool has_condition(const Value& object, std::string_view type);

}  // namespace gantree::apiserver
