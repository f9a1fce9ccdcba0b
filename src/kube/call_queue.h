// Sends calls: in order, not too many at a time, again where the policy says so.
//
// Thread rule: the transport's thread, but for what says otherwise.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "http/transport.h"
#include "kube/call.h"
#include "kube/client.h"
#include "kube/random.h"

namespace gantree::kube {

class CallQueue : public std::enable_shared_from_this<CallQueue> {
 public:
  CallQueue(http::Transport& transport, std::shared_ptr<Credentials> credentials, ClientOptions options);

  void submit(Call call);  // any thread
  void stop();             // drops all calls without an answer
  void set_fence(std::function<std::uint64_t()> term) { leads_in_ = std::move(term); }
  void set_term(std::uint64_t term) { term_ = term; }         // any thread
  [[nodiscard]] std::uint64_t term() const { return term_; }  // any thread

  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] http::Transport& transport() const { return transport_; }
  [[nodiscard]] const std::shared_ptr<Credentials>& credentials() const { return credentials_; }
  [[nodiscard]] const ClientOptions& options() const { return options_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }  // any thread

 private:
  using CallId = std::uint64_t;
  struct Sent {
    Call call;
    http::TaskId task = 0;  // the request, or the timer of the next attempt
  };

  void pump();
  [[nodiscard]] bool take_token();
  void start(Call call);
  void attempt(CallId id);
  void answered(CallId id, http::Outcome outcome);
  void again(CallId id, const RetryDecision& decision);
  void finish(CallId id, Reply reply);

  http::Transport& transport_;
  std::shared_ptr<Credentials> credentials_;
  ClientOptions options_;
  Random random_;
  std::function<std::uint64_t()> leads_in_;
  std::atomic<std::uint64_t> term_{1};
  Counters counters_;
  std::atomic<std::size_t> pending_{0};
  bool stopped_ = false;
  std::deque<Call> waiting_;
  std::unordered_map<CallId, Sent> sent_;
  CallId last_id_ = 0;
  int slots_taken_ = 0;
  double tokens_ = 0;
  http::Clock::time_point refilled_;
  bool waits_for_token_ = false;
  bool pumping_ = false;
  // Between stop() and credentials that answer on a thread of theirs: after it, the transport may be gone.
  std::mutex renewal_mutex_;
  bool closed_ = false;
};

}  // namespace gantree::kube
