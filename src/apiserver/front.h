// The API over HTTPS, for whoever has the token, or one of a service account.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/api.h"
#include "base/error.h"
#include "http/server.h"
#include "http/tls.h"

namespace gantree::apiserver {

struct FrontOptions {
  std::string listen = "127.0.0.1:0";
  http::ServerTls tls;
  std::string token;  // the administrator's, not empty; ApiOptions::secret is the same
};

class Front {
 public:
  // The api must outlive it. Fails where the address or the certificate is of no use.
  [[nodiscard]] static Result<std::unique_ptr<Front>> start(FrontOptions options, Api& api);

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // Watches end at once, other requests within `grace`.
  void stop(std::chrono::milliseconds grace) { server_->stop(grace); }

 private:
  explicit Front(std::unique_ptr<http::Server> server) : server_(std::move(server)) {}

  std::unique_ptr<http::Server> server_;
};

}  // namespace gantree::apiserver
