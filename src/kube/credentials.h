// The credential of each request, kept fresh: a fixed one, a token file read again each minute, or an exec plugin run
// again before what it gave expires and when the server refuses it.
//
// Thread rule: any thread. current() does not block, but for reading a small file.
#pragma once

#include <functional>
#include <memory>

#include "base/error.h"
#include "http/client.h"
#include "kube/config.h"

namespace gantree::kube {

class Credentials {
 public:
  virtual ~Credentials() = default;
  [[nodiscard]] virtual Result<http::Credential> current() = 0;
  // The server refused the current one (401). Gets another if there is a way to, then calls `done` on any thread,
  // maybe at once; `done` is also called where that failed: current() then says why.
  virtual void renew(std::function<void()> done) = 0;
};

// Runs an exec plugin once, so that a wrong one is noticed at the start.
[[nodiscard]] Result<std::shared_ptr<Credentials>> make_credentials(const Config& config);

// All that http::Client needs.
[[nodiscard]] http::Endpoint make_endpoint(const Config& config, std::shared_ptr<Credentials> credentials);

}  // namespace gantree::kube
