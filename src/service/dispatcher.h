// Orders to writes: bindings first, then statuses, then events as far as there is leave for them.
//
// A bounded number is handed to the client at a time, so that a binding never waits behind a thousand statuses.
//
// One thread owns it: the loop's. Answers come back to the mailbox.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kube/client.h"
#include "pods/pod_family.h"
#include "service/letters.h"

namespace gantree {

struct DispatchLimits {
  std::size_t in_flight = 96;        // writes handed to the client at a time
  std::size_t events_in_flight = 8;  // of which events
  double events_per_second = 50;     // an API server has better things to store
  double event_burst = 500;
  std::size_t most_events = 5000;           // that wait; more are dropped
  std::chrono::seconds event_patience{10};  // so long they stand back while pods are being bound
};

class Dispatcher {
 public:
  // Both must outlive it.
  Dispatcher(kube::Client& client, LoopMailbox& mailbox, DispatchLimits limits = {})
      : client_(client), mailbox_(mailbox), limits_(limits), event_leave_(limits.event_burst) {}

  void add(Order order);
  // Hands over what may go now.
  void send(Time now);
  // To be called for every WriteAnswered.
  void answered(std::uint64_t order);
  // Statuses and events that were not handed over are not sent any more.
  void withdraw_reports();
  // Takes back all that was not handed over: the ids, to be answered as not done.
  [[nodiscard]] std::vector<std::uint64_t> withdraw();

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
  [[nodiscard]] std::uint64_t dropped_events() const { return dropped_events_; }

 private:
  struct Queued {
    Order order;
    std::chrono::steady_clock::time_point since;
  };

  void hand_over(const Queued& queued);
  void preempt(const kube::ObjectKey& pod, const Write& write, const kube::Client::Done& done);
  void note_binding(Time now);
  [[nodiscard]] bool may_send_event(Time now) const;
  [[nodiscard]] static kube::Reply overtaken();

  kube::Client& client_;
  LoopMailbox& mailbox_;
  DispatchLimits limits_;
  std::array<std::deque<Queued>, 3> queues_;    // by urgency
  std::map<std::uint64_t, Urgency> in_flight_;  // by order
  std::set<std::string> bound_;  // uids of pods that have been sent to a node: that they wait is no longer to be told
  std::size_t events_in_flight_ = 0;
  std::size_t bindings_in_flight_ = 0;
  std::optional<Time> binding_since_;  // without a pause
  double event_leave_ = 0;
  Time leave_since_ = {};
  std::uint64_t dropped_events_ = 0;
};

// The resource of a kind, by the rules of English that Kubernetes itself goes by.
[[nodiscard]] kube::Resource resource_of(std::string_view group, std::string_view version, std::string_view kind,
                                         bool namespaced);

// What a reply means for the scheduler.
[[nodiscard]] Answer answer_of(const kube::Reply& reply);

}  // namespace gantree
