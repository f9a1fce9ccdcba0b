#include "kube/call_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gantree::kube {
namespace {

Code code_of_outcome(const http::Outcome& outcome) {
  switch (outcome.kind) {
    case http::Outcome::Kind::kReply:
      return code_of(outcome.status);
    case http::Outcome::Kind::kNotSent:
      return Code::kNotSent;
    case http::Outcome::Kind::kUnknown:
      break;
  }
  return Code::kUnknown;
}

}  // namespace

CallQueue::CallQueue(http::Transport& transport, std::shared_ptr<Credentials> credentials, ClientOptions options)
    : transport_(transport),
      credentials_(std::move(credentials)),
      options_(std::move(options)),
      random_(options_.random ? options_.random : make_random()),
      tokens_(options_.burst),
      refilled_(transport.now()) {}

void CallQueue::submit(Call call) {
  ++pending_;
  ++counters_.queued;
  transport_.post([self = shared_from_this(), call = std::move(call)]() mutable {
    if (self->stopped_) {
      return;
    }
    if (call.urgent) {
      self->start(std::move(call));
    } else {
      self->waiting_.push_back(std::move(call));
      self->pump();
    }
  });
}

void CallQueue::stop() {
  stopped_ = true;
  {
    const std::lock_guard lock(renewal_mutex_);
    closed_ = true;
  }
  credentials_.reset();  // so that they never end on their own thread
  for (const auto& [id, sent] : sent_) {
    transport_.cancel(sent.task);
  }
  sent_.clear();
  waiting_.clear();
}

void CallQueue::pump() {
  // A call that ends at once asks for the next one: no deeper than this.
  if (std::exchange(pumping_, true)) {
    return;
  }
  while (!stopped_ && !waiting_.empty() && slots_taken_ < options_.max_in_flight && take_token()) {
    Call call = std::move(waiting_.front());
    waiting_.pop_front();
    ++slots_taken_;
    start(std::move(call));
  }
  pumping_ = false;
}

bool CallQueue::take_token() {
  if (options_.max_per_second <= 0) {
    return true;
  }
  if (waits_for_token_) {
    return false;
  }
  const http::Clock::time_point now = transport_.now();
  const double passed = std::chrono::duration<double>(now - std::exchange(refilled_, now)).count();
  tokens_ = std::min<double>(options_.burst, tokens_ + passed * options_.max_per_second);
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return true;
  }
  waits_for_token_ = true;
  const double wait = std::ceil((1 - tokens_) / options_.max_per_second * 1000);
  transport_.after(Milliseconds(static_cast<Milliseconds::rep>(wait)), [self = shared_from_this()] {
    self->waits_for_token_ = false;
    self->pump();
  });
  return false;
}

void CallQueue::start(Call call) {
  const CallId id = ++last_id_;
  --counters_.queued;
  ++counters_.in_flight;
  sent_.emplace(id, Sent{.call = std::move(call)});
  attempt(id);
}

void CallQueue::attempt(CallId id) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) {
    return;  // stopped
  }
  Call& call = found->second.call;
  if (call.fenced && leads_in_ && leads_in_() != call.term) {
    Reply reply;
    reply.result = call.uncertain ? CallResult::kUnknown : CallResult::kUnavailable;
    reply.reason = "NotLeader";
    reply.message = "not sent, since this replica does not lead";
    reply.attempts = call.attempts;
    reply.uncertain = call.uncertain;
    finish(id, std::move(reply));
    return;
  }
  ++call.attempts;
  found->second.task = transport_.send(
      call.request, [self = shared_from_this(), id](http::Outcome outcome) { self->answered(id, std::move(outcome)); });
}

void CallQueue::answered(CallId id, http::Outcome outcome) {
  const auto found = sent_.find(id);
  if (found == sent_.end()) {
    return;
  }
  Call& call = found->second.call;
  counters_.count(call.verb, code_of_outcome(outcome));
  // A timeout on a connection that was open may mean that it is dead: the next attempt takes a new one.
  call.request.fresh_connection = outcome.kind == http::Outcome::Kind::kUnknown;
  Judged judged = judge(call, std::move(outcome));
  const Attempt attempt{.number = call.attempts,
                        .trouble = judged.trouble,
                        .retry_after = judged.reply.retry_after,
                        .renewed = call.renewed || credentials_ == nullptr};
  const RetryDecision decision = decide_retry(options_.retry, attempt, random_());
  if (decision.retry && !call.urgent) {
    again(id, decision);
  } else {
    finish(id, std::move(judged.reply));
  }
}

void CallQueue::again(CallId id, const RetryDecision& decision) {
  ++counters_.retries;
  Sent& sent = sent_.at(id);
  if (!decision.renew_credential) {
    sent.task = transport_.after(decision.delay, [self = shared_from_this(), id] { self->attempt(id); });
    return;
  }
  sent.call.renewed = true;
  sent.task = 0;
  std::weak_ptr<CallQueue> weak = weak_from_this();
  credentials_->renew([weak, id] {
    const std::shared_ptr<CallQueue> self = weak.lock();
    if (self == nullptr) {
      return;
    }
    const std::lock_guard lock(self->renewal_mutex_);
    if (!self->closed_) {
      self->transport_.post([self, id] { self->attempt(id); });
    }
  });
}

void CallQueue::finish(CallId id, Reply reply) {
  auto node = sent_.extract(id);
  --counters_.in_flight;
  --pending_;
  if (!node.mapped().call.urgent) {
    --slots_taken_;
  }
  if (node.mapped().call.done) {
    node.mapped().call.done(std::move(reply));
  }
  pump();
}

}  // namespace gantree::kube
