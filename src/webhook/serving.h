// The webhooks of a running process: a server, and a thread that keeps its certificate good.
//
// The certificate is either given, in a folder that is looked at again and again, or made by ourselves and kept in a
// Secret (certificate_keeper.h). Until there is one, nothing is served; trouble is reported and tried again for ever,
// with pauses.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "http/tls.h"
#include "kube/client.h"
#include "webhook/server.h"

namespace gantree::webhook {

struct ServingOptions {
  std::string listen = ":9443";
  std::string folder = {};  // with tls.crt and tls.key; "": made by ourselves
  // The Service by which the API server reaches us. The Secret and both webhook configurations go by its name too.
  std::string service = "gantree-webhook";
  std::string ns = "gantree-system";
  std::chrono::milliseconds interval{30'000};    // between looks
  std::chrono::milliseconds first_pause{1'000};  // after trouble; doubles up to the interval
};

struct ServingReports {
  std::function<void(const std::string&)> news;     // served, or served with another certificate
  std::function<void(const std::string&)> trouble;  // will be tried again
};

class Serving {
 public:
  // Begins at once. `client`, which must outlive it, is needed where the certificate is made by ourselves; its writes
  // must not be fenced, since every replica serves. Reports come on the thread of this.
  Serving(ServingOptions options, kube::Client* client, Routes routes, ServingReports reports);
  ~Serving();  // stops
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // Whether questions are answered. Any thread.
  [[nodiscard]] bool ready() const { return port_ != 0; }
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Lets answers under way end within `grace`.
  void stop(std::chrono::milliseconds grace);

 private:
  void run(const std::stop_token& stop);
  void serve(const http::ServerTls& tls);
  [[nodiscard]] Result<http::ServerTls> look(const std::stop_token& stop);
  [[nodiscard]] Result<http::ServerTls> own_certificate(const std::stop_token& stop);

  ServingOptions options_;
  kube::Client* client_;
  Routes routes_;
  ServingReports reports_;
  std::unique_ptr<Server> server_;  // of the thread
  http::ServerTls served_;          // of the thread
  bool told_missing_ = false;       // of the thread
  std::atomic<std::uint16_t> port_ = 0;
  std::jthread thread_;
};

// The pair in a folder, as a mounted Secret has it. Fails where a file is missing or both do not belong together.
[[nodiscard]] Result<http::ServerTls> read_folder(const std::string& folder);

}  // namespace gantree::webhook
