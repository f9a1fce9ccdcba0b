// The webhooks over HTTPS: POST /validate/NAME, /mutate/NAME and /enqueue/NAME for admission, /convert for versions of
// objects.
//
// Thread rule: judges run on threads of their own, several at once, so that none waits for another that takes its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "dialects/mutation.h"
#include "http/server.h"
#include "http/tls.h"
#include "webhook/conversion_review.h"
#include "webhook/review.h"
#include "webhook/workers.h"

namespace gantree::webhook {

// Which judge answers where.
class Routes {
 public:
  // Requires a name that is not taken.
  void validate(std::string_view name, Judge judge);
  void mutate(std::string_view name, Judge judge);
  void enqueue(std::string_view name, Judge judge);
  void convert(Convert convert) { convert_ = std::move(convert); }
  // nullptr where nobody answers.
  [[nodiscard]] const Judge* find(std::string_view path) const;
  // nullptr where objects are not converted, or not there.
  [[nodiscard]] const Convert* find_convert(std::string_view path) const;

 private:
  std::map<std::string, Judge, std::less<>> judges_;
  Convert convert_;
};

// What there is in a namespace for those that name nothing of their own.
using DefaultsIn = std::function<JobDefaults(std::string_view ns)>;

// What a question does not tell by itself. Each is called on several threads at once, and may be absent.
struct Surroundings {
  DefaultsIn defaults_in = {};  // absent: there is nothing
  // By which user the API server knows Gantree itself. Nothing while that is not known: what only Gantree may do is
  // refused then, to be tried again. "" where it cannot be known: then everybody is taken for that.
  std::function<std::optional<std::string>()> self = {};
  // Whether those who ask may change ClusterQueues. May take a while. Absent: they may.
  std::function<Result<bool>(const Review& review)> administers = {};
};

// All that the dialects validate and change, by the plural of the kind or what its validator has instead.
[[nodiscard]] Routes dialect_routes(Surroundings surroundings = {});

// The answer to one HTTP request.
[[nodiscard]] http::Response respond(const Routes& routes, const http::IncomingRequest& request);

class Server {
 public:
  // Fails where the address or the certificate is of no use.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(std::string listen, http::ServerTls tls, Routes routes);

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // For connections from now on. Any thread.
  [[nodiscard]] Result<> set_tls(const http::ServerTls& tls) { return server_->set_tls(tls); }
  void stop(std::chrono::milliseconds grace) { server_->stop(grace); }

 private:
  Server(std::unique_ptr<Workers> workers, std::unique_ptr<http::Server> server)
      : workers_(std::move(workers)), server_(std::move(server)) {}

  std::unique_ptr<Workers> workers_;
  std::unique_ptr<http::Server> server_;  // hands over to the workers, and ends first
};

}  // namespace gantree::webhook
