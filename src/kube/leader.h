// Takes part in a leader election (election.h) over the API server.
//
// Thread rule: handlers run on the transport's thread; leading() on any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kube/client.h"
#include "kube/election.h"

namespace gantree::kube {

struct LeaderHandlers {
  std::function<void()> started;                            // we lead now
  std::function<void()> stopped;                            // we do no longer: stop writing at once
  std::function<void(const std::string& holder)> changed;   // another holder was seen; "" for nobody
  std::function<void(const std::string& sentence)> failed;  // the lease could not be read or written; tried again
};

class Leader {
 public:
  // Takes part at once. `client` must outlive it.
  Leader(Client& client, ElectionOptions options, LeaderHandlers handlers);
  // Leaves without giving the lease up, as a crash would, unless resign() was called. No handler runs after it.
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  // We lead at this very moment: exact even where the transport's thread is late. The fence of Client.
  [[nodiscard]] bool leading() const;
  [[nodiscard]] std::string holder() const;
  // Stops leading now and gives the lease up, so that another takes over at once; returns when the server has
  // answered or `patience` is over. Call it when all writes have ended. Not on the transport's thread.
  void resign(std::chrono::milliseconds patience);
  // Stops leading now and gives the lease up, and does not take it again within `pause`. Any thread; waits for nothing.
  void step_aside(std::chrono::milliseconds pause);

 private:
  class Run;
  http::Transport& transport_;
  std::shared_ptr<Run> run_;
};

}  // namespace gantree::kube
