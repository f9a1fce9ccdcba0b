// Which of the resources that we want the server has, asked again and again: CRDs come and go.
//
// Thread rule: the handler runs on the transport's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/resource.h"

namespace gantree::kube {

// A resource by group and plural name, in the first of the versions that the server serves.
struct Wanted {
  std::string group;
  std::string plural;
  std::vector<std::string> versions;  // best first

  friend bool operator==(const Wanted&, const Wanted&) = default;
};

struct DiscoveryOptions {
  http::Milliseconds interval{15'000};
  // A resource is gone when so many answers in a row lack it: a server that just started does not know its CRDs yet.
  int absences = 2;
  // The server could not be asked, for the log; it is asked again. `failures` in a row, from 1.
  std::function<void(const std::string& sentence, int failures)> trouble;
};

class Discovery {
 public:
  // What is served, in the order wanted, one entry each (nothing: not served). Called after the first answer, then
  // after each change.
  using Changed = std::function<void(const std::vector<std::optional<Resource>>& served)>;

  // Asks at once. `client` must outlive it.
  Discovery(Client& client, std::vector<Wanted> wanted, Changed changed, DiscoveryOptions options = {});
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

  // Asks now, as after an event that tells of a CRD, or a 404 on a known resource.
  void poll_now();

 private:
  class Poll;
  http::Transport& transport_;
  std::shared_ptr<Poll> poll_;
};

}  // namespace gantree::kube
