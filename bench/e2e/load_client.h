// What the load generators share: a client of the cluster that a kubeconfig names, and a count of its answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "http/client.h"
#include "kube/client.h"

namespace gantree::load {

// One line to stderr, and the end of the program.
[[noreturn]] void die(const std::string& message);

// Counts answers. A failure ends the program, but for one that says that the work was done already.
class Tally {
 public:
  [[nodiscard]] kube::Client::Done one();
  void wait() const;  // until every request that was counted has its answer

 private:
  std::size_t asked_ = 0;
  std::atomic<std::size_t> answered_ = 0;
};

// As many requests in flight as `gantree run` has.
inline constexpr int kInFlight = 96;

// A client of that cluster. Ends the program where there is none.
class LoadClient {
 public:
  explicit LoadClient(const std::string& kubeconfig, int in_flight = kInFlight);
  [[nodiscard]] kube::Client& operator*() { return *client_; }
  // Another thread than that of the writes.
  [[nodiscard]] http::Client& watching() { return *watching_; }

 private:
  std::unique_ptr<http::Client> transport_;
  std::unique_ptr<http::Client> watching_;
  std::unique_ptr<kube::Client> client_;
};

struct PodName {
  std::string name;
  std::string uid;
};
[[nodiscard]] std::vector<PodName> list_pods(kube::Client& client, const std::string& ns);

}  // namespace gantree::load
