#include "service/dispatcher.h"

#include <algorithm>
#include <cctype>

namespace gantree {

namespace {

std::size_t index_of(Urgency urgency) {
  return static_cast<std::size_t>(urgency);
}

std::string plural_of(std::string_view kind) {
  std::string word(kind);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word.ends_with('s') || word.ends_with('x') || word.ends_with("ch") || word.ends_with("sh")) {
    return word + "es";
  }
  if (word.ends_with('y')) {
    word.pop_back();
    return word + "ies";
  }
  return word + "s";
}

}  // namespace

kube::Resource resource_of(std::string_view group, std::string_view version, std::string_view kind, bool namespaced) {
  return {.group = std::string(group),
          .version = std::string(version),
          .plural = plural_of(kind),
          .kind = std::string(kind),
          .namespaced = namespaced};
}

Answer answer_of(const kube::Reply& reply) {
  switch (reply.result) {
    case kube::CallResult::kOk:
      return Answer::kDone;
    case kube::CallResult::kConflict:
    case kube::CallResult::kUnknown:
      return Answer::kUncertain;
    case kube::CallResult::kNotFound:
    case kube::CallResult::kGone:
    case kube::CallResult::kBudget:
    case kube::CallResult::kRefused:
    case kube::CallResult::kUnavailable:
      break;
  }
  if (reply.uncertain) {
    return Answer::kUncertain;
  }
  return reply.reason == "NotLeader" ? Answer::kWithdrawn : Answer::kRefused;
}

void Dispatcher::add(Order order) {
  std::deque<Queued>& queue = queues_[index_of(order.urgency)];
  if (order.urgency == Urgency::kEvent && queue.size() >= limits_.most_events) {
    ++dropped_events_;
    return;
  }
  if (order.write.verb == WriteVerb::kBind) {
    bound_.insert(order.write.object.uid);
  }
  queue.push_back({std::move(order), std::chrono::steady_clock::now()});
}

void Dispatcher::send(Time now) {
  const std::chrono::duration<double> passed = now - std::exchange(leave_since_, now);
  event_leave_ =
      std::min(limits_.event_burst, event_leave_ + std::max(0.0, passed.count()) * limits_.events_per_second);
  note_binding(now);
  for (const Urgency urgency : {Urgency::kBinding, Urgency::kStatus, Urgency::kEvent}) {
    std::deque<Queued>& queue = queues_[index_of(urgency)];
    while (!queue.empty() && in_flight_.size() < limits_.in_flight) {
      if (urgency == Urgency::kEvent && !may_send_event(now)) {
        break;
      }
      const Queued next = std::move(queue.front());
      queue.pop_front();
      if (urgency == Urgency::kStatus && bound_.contains(next.order.write.object.uid)) {
        mailbox_.post(
            WriteAnswered{.order = next.order.id, .bind = false, .ordered = next.since, .reply = overtaken()});
        continue;
      }
      in_flight_.emplace(next.order.id, urgency);
      bindings_in_flight_ += urgency == Urgency::kBinding ? 1U : 0U;
      events_in_flight_ += urgency == Urgency::kEvent ? 1U : 0U;
      event_leave_ -= urgency == Urgency::kEvent ? 1.0 : 0.0;
      hand_over(next);
    }
  }
}

void Dispatcher::note_binding(Time now) {
  if (queues_[index_of(Urgency::kBinding)].empty() && bindings_in_flight_ == 0) {
    binding_since_.reset();
  } else if (!binding_since_) {
    binding_since_ = now;
  }
}

// An event costs the API server as much as a binding does, and can wait.
bool Dispatcher::may_send_event(Time now) const {
  const bool stand_back = binding_since_ && now - *binding_since_ < limits_.event_patience;
  return !stand_back && event_leave_ >= 1 && events_in_flight_ < limits_.events_in_flight;
}

// Sent after the binding it would say that the pod has no node.
kube::Reply Dispatcher::overtaken() {
  kube::Reply reply;
  reply.result = kube::CallResult::kOk;
  return reply;
}

// An eviction would put a reason of its own into the pod's status. So a budget is asked by an eviction that is not
// carried out, then the pod is told why it is deleted, and then it is deleted.
void Dispatcher::preempt(const kube::ObjectKey& pod, const Write& write, const kube::Client::Done& done) {
  const kube::Preconditions same{.uid = write.object.uid, .resource_version = {}};
  auto remove = [&client = client_, pod, same, done](kube::Reply reply) {
    if (reply.result != kube::CallResult::kOk) {
      done(std::move(reply));
      return;
    }
    client.remove(kube::pods(), pod, {.preconditions = same, .propagation = {}}, done);
  };
  auto tell = [&client = client_, pod, done, body = write.body, remove = std::move(remove)](kube::Reply reply) {
    if (reply.result != kube::CallResult::kOk) {
      done(std::move(reply));
      return;
    }
    client.patch_status(kube::pods(), pod, kube::PatchType::kStrategicMerge, body, remove);
  };
  client_.evict(pod, {.preconditions = same, .propagation = {}, .dry_run = true}, std::move(tell));
}

void Dispatcher::hand_over(const Queued& queued) {
  const Write& write = queued.order.write;
  const ObjectRef& object = write.object;
  const kube::ObjectKey key{.name_space = object.ns, .name = object.name};
  const bool bind = write.verb == WriteVerb::kBind;
  auto done = [&mailbox = mailbox_, id = queued.order.id, bind, ordered = queued.since](kube::Reply reply) {
    mailbox.post(WriteAnswered{.order = id, .bind = bind, .ordered = ordered, .reply = std::move(reply)});
  };
  const kube::Resource resource = resource_of(object.group, object.version, object.kind, !object.ns.empty());
  switch (write.verb) {
    case WriteVerb::kBind:
      client_.bind(key, object.uid, write.node, write.body, std::move(done));
      break;
    case WriteVerb::kPatchStatus:
      client_.patch_status(resource, key,
                           object.group.empty() ? kube::PatchType::kStrategicMerge : kube::PatchType::kMerge,
                           write.body, std::move(done));
      break;
    case WriteVerb::kPatch:
      client_.patch(resource, key, object.group.empty() ? kube::PatchType::kStrategicMerge : kube::PatchType::kMerge,
                    write.body, std::move(done));
      break;
    case WriteVerb::kJsonPatch:
      client_.patch(resource, key, kube::PatchType::kJson, write.body, std::move(done));
      break;
    case WriteVerb::kDelete:
      client_.remove(resource, key,
                     {.preconditions = {.uid = object.uid, .resource_version = {}}, .propagation = "Background"},
                     std::move(done));
      break;
    case WriteVerb::kEvict:
      client_.evict(key, {.preconditions = {.uid = object.uid, .resource_version = {}}, .propagation = {}},
                    std::move(done));
      break;
    case WriteVerb::kPreempt:
      preempt(key, queued.order.write, std::move(done));
      break;
    case WriteVerb::kCreate:
      client_.create(resource, object.ns, write.body, std::move(done));
      break;
  }
}

void Dispatcher::answered(std::uint64_t order) {
  const auto it = in_flight_.find(order);
  if (it != in_flight_.end()) {
    events_in_flight_ -= it->second == Urgency::kEvent ? 1U : 0U;
    bindings_in_flight_ -= it->second == Urgency::kBinding ? 1U : 0U;
    in_flight_.erase(it);
  }
  if (queues_[index_of(Urgency::kStatus)].empty() && queues_[index_of(Urgency::kBinding)].empty()) {
    bound_.clear();
  }
}

std::vector<std::uint64_t> Dispatcher::withdraw() {
  std::vector<std::uint64_t> ids;
  for (std::deque<Queued>& queue : queues_) {
    for (const Queued& queued : queue) {
      ids.push_back(queued.order.id);
    }
    queue.clear();
  }
  return ids;
}

void Dispatcher::withdraw_reports() {
  queues_[index_of(Urgency::kStatus)].clear();
  queues_[index_of(Urgency::kEvent)].clear();
}

std::size_t Dispatcher::waiting() const {
  std::size_t sum = 0;
  for (const std::deque<Queued>& queue : queues_) {
    sum += queue.size();
  }
  return sum;
}

}  // namespace gantree
