// OpenSSL's settings for a server. Internal to src/http.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/error.h"
#include "http/tls.h"

namespace gantree::http {

// TLS 1.2 and later, HTTP/1.1 by ALPN. Fails where certificate, key or CA is not PEM, or key and
// certificate do not belong together.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> server_context(const ServerTls& tls);

}  // namespace gantree::http
