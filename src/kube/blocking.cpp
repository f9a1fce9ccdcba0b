#include "kube/blocking.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace gantree::kube {

namespace {

struct Waiting {
  std::mutex mutex;
  std::condition_variable_any arrived;
  std::optional<Reply> reply;
};

}  // namespace

Reply wait_for(const std::function<void(Client::Done)>& start, std::stop_token stop) {
  // Shared, since the reply may come after the wait was given up.
  const auto waiting = std::make_shared<Waiting>();
  start([waiting](Reply reply) {
    {
      const std::lock_guard lock(waiting->mutex);
      waiting->reply = std::move(reply);
    }
    waiting->arrived.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  if (!waiting->arrived.wait(lock, std::move(stop), [&] { return waiting->reply.has_value(); })) {
    Reply given_up;
    given_up.message = "the reply was not waited for: told to stop";
    return given_up;
  }
  return std::move(*waiting->reply);
}

}  // namespace gantree::kube
