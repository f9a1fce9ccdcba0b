// Base64 (RFC 4648, with padding), as Secrets, kubeconfigs and admission answers carry bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gantree {

[[nodiscard]] std::string to_base64(std::string_view bytes);

// Nothing where the text is no Base64. Blanks and line ends are passed over; padding may be left out.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace gantree
