// Tables, as `kubectl get` asks for them (application/json;as=Table;g=meta.k8s.io;v=v1): the columns and cells of a
// kind.
//
// Pure, and only read once made. `now` is Unix seconds; ages are in kubectl's form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/json_path.h"

namespace gantree::apiserver {

struct TableColumn {
  std::string_view name;
  std::string_view type = "string";
  int priority = 0;  // 1: only for -o wide
  std::string_view description = {};
};

using CellMaker = void (*)(const Value& object, std::int64_t now, Array& cells);

class TableFormat {
 public:
  // Kinds without columns of their own have their name and when they were made.
  [[nodiscard]] static TableFormat of_builtin(std::string_view group, std::string_view kind);
  // From spec.versions[].additionalPrinterColumns; nullptr or empty: name and age.
  [[nodiscard]] static TableFormat of_custom(const Array* printer_columns);

  // columnDefinitions.
  [[nodiscard]] const Array& columns() const { return columns_; }
  [[nodiscard]] Array cells(const Value& object, std::int64_t now) const;

 private:
  struct Custom {
    JsonPath path;
    std::string type;
  };
  Array columns_;
  CellMaker make_ = nullptr;
  std::vector<Custom> custom_;
};

// "5d3h", "119s", "<invalid>" for more than a second in the future.
[[nodiscard]] std::string human_duration(std::int64_t seconds);
// Since an RFC 3339 time; "<unknown>" where there is none.
[[nodiscard]] std::string age_of(std::string_view time, std::int64_t now);

}  // namespace gantree::apiserver
