// The forms that names, labels and annotations must have. Each function gives the real server's words for what is
// wrong, or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gantree::apiserver {

[[nodiscard]] std::optional<std::string> not_dns_label(std::string_view name);  // "web-1", at most 63
[[nodiscard]] std::optional<std::string> not_dns_1035_label(
    std::string_view name);                                                         // the same, beginning with a letter
[[nodiscard]] std::optional<std::string> not_dns_subdomain(std::string_view name);  // "a.b-c", at most 253
[[nodiscard]] std::optional<std::string> not_path_segment(std::string_view name);   // anything that fits in a path
[[nodiscard]] std::optional<std::string> not_qualified_name(std::string_view name);  // "example.com/Name"
[[nodiscard]] std::optional<std::string> not_label_value(std::string_view value);

}  // namespace gantree::apiserver
