// One life of the program, as run_service() puts it together, in virtual time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/leader.h"
#include "kube/watches.h"
#include "service/inbox.h"
#include "service/loop.h"
#include "support/simulated_network.h"

namespace gantree::test {

struct ReplicaOptions {
  std::string name;  // differs from that of every other life
  std::int64_t page_size = 500;
  http::Milliseconds watch_silence{15'000};
  PodOptions scheduler = {};
  kueue::ControllerOptions queues = {};
};

class Replica {
 public:
  Replica(Timeline& timeline, ApiServer& server, std::mt19937& random, const ReplicaOptions& options);
  // As if killed.
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  [[nodiscard]] Actor actor() const { return actor_; }
  [[nodiscard]] bool leading() const { return leader_->leading(); }
  [[nodiscard]] Weather& weather() { return weather_; }
  // All that it watches.
  [[nodiscard]] std::vector<ApiKind> kinds() const { return loop_.scheduler().kinds(); }
  void silence(const std::string& kind) { reading_.silence(kind); }

 private:
  void turn();

  Timeline& timeline_;
  const Actor actor_;
  Weather weather_;
  SimulatedTransport reading_;
  SimulatedTransport writing_;
  kube::Client reader_;
  kube::Client writer_;
  LoopMailbox mailbox_;
  Log log_;
  std::atomic<std::uint64_t> term_{0};
  Loop loop_;
  Inbox inbox_;
  std::unique_ptr<kube::Leader> leader_;
  std::unique_ptr<kube::Watches> watches_;
  Timeline::Instant next_ = {};  // when the loop wants to go round again
};

}  // namespace gantree::test
