// What the end of a transfer says about the request.
#pragma once

#include "http/transport.h"

namespace gantree::http {

// `code` is a CURLcode other than CURLE_OK; `request_began` whether anything of the request may have left.
[[nodiscard]] Outcome::Kind outcome_of(int code, bool request_began);

}  // namespace gantree::http
