// Reflectors for all wanted resources that the server has: started when discovery finds one, stopped when it goes.
//
// A resource that goes takes its objects along: the sink is told that each is removed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kube/discovery.h"
#include "kube/reflector.h"

namespace gantree::kube {

struct WatchRequest {
  Wanted wanted;
  Sink* sink = nullptr;  // must outlive the watches
  ReflectorOptions options;
};

struct WatchState {
  Wanted wanted;
  bool served = false;
  bool synced = false;  // the first list since it is served is complete
  std::size_t objects = 0;
};

class Watches {
 public:
  Watches(Client& client, std::vector<WatchRequest> requests, DiscoveryOptions options = {});
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  // Discovery has answered and every resource that is served has been listed. Any thread.
  [[nodiscard]] bool synced() const;
  [[nodiscard]] std::vector<WatchState> states() const;
  // Has every watch shown to be as fresh as that instant: see reflector.h. Any thread.
  void prove_fresh(http::Clock::time_point since);
  // The resources, by plural and group, that are not shown to be as yet. Any thread.
  [[nodiscard]] std::vector<std::string> stale(http::Clock::time_point since) const;
  void poll_now();

 private:
  class Set;
  std::unique_ptr<Set> set_;
  std::unique_ptr<Discovery> discovery_;
};

}  // namespace gantree::kube
