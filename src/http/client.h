// HTTP to one server: libcurl's multi interface on a thread of its own.
//
// HTTP/2 (at most 100 streams a connection) where the server offers it and the request allows it, else HTTP/1.1 with
// connections kept alive. TLS is verified unless the endpoint says otherwise. Dead peers are noticed by TCP keepalive
// and by the requests' own timeouts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "http/transport.h"

namespace gantree::http {

// What proves to the server who we are. Empty fields add nothing.
struct Credential {
  std::string authorization;    // value of the Authorization header
  std::string certificate_pem;  // client certificate, with its key
  std::string key_pem;
};

struct Endpoint {
  std::string base_url;     // "https://host:port", maybe with a path, without a slash at the end
  std::string ca_pem;       // whom to trust; empty: the system's authorities
  std::string server_name;  // what the certificate must be for, if not the host of the URL
  std::string proxy;        // URL of the proxy; empty: none
  bool insecure = false;    // do not verify the server
  bool compressed = true;   // ask for gzip
  std::string user_agent = "gantree";
  Headers headers;  // of every request
  // Asked before each request, on the client's thread, so that it may rotate: it must not block. An error makes the
  // request kNotSent. Absent: no credential.
  std::function<Result<Credential>()> credential;
};

class Client final : public Transport {
 public:
  // Starts the thread; opens no connection.
  explicit Client(Endpoint endpoint);
  // Cancels all that is under way, without callbacks, and joins the thread. Not on the client's own thread.
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  TaskId send(Request request, Done done) override;
  TaskId stream(Request request, StreamHandlers handlers) override;
  TaskId after(Milliseconds delay, std::function<void()> callback) override;
  void cancel(TaskId id) override;
  void post(std::function<void()> step) override;
  void run(const std::function<void()>& step) override;
  [[nodiscard]] Clock::time_point now() const override { return Clock::now(); }

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace gantree::http
