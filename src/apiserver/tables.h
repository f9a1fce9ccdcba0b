// Objects as rows, for clients that print them. Pure but for the time given.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/json.h"
#include "apiserver/kind.h"
#include "apiserver/table.h"

namespace gantree::apiserver {

[[nodiscard]] std::shared_ptr<const TableFormat> table_format(const Kind& kind);

// A row as JSON. `include` is None, Metadata (also "") or Object.
[[nodiscard]] std::string table_row(const TableFormat& format, const Value& object, std::string_view include,
                                    std::int64_t now);
// All before the rows; what follows them is kTableEnd. `metadata` is that of the list.
[[nodiscard]] std::string table_head(const TableFormat& format, const Object& metadata);
inline constexpr std::string_view kTableEnd = "]}";

}  // namespace gantree::apiserver
