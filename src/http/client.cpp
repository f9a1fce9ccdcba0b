#include "http/client.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/poller.h"
#include "http/transfer.h"

namespace gantree::http {
namespace {

constexpr long kStreamsPerConnection = 100;  // what kube-apiserver allows
constexpr long kConnectionsKept = 256;
constexpr Milliseconds kLongestSleep{60'000};
constexpr std::size_t kHandlesKept = 256;

void init_curl_once() {
  static std::once_flag once;
  std::call_once(once, [] { GANTREE_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); });
}

}  // namespace

// The thread and what it owns. Other threads hand it steps to run.
class Client::Loop {
 public:
  explicit Loop(Endpoint endpoint) : endpoint_(std::move(endpoint)) {
    init_curl_once();
    multi_ = curl_multi_init();
    GANTREE_CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
    curl_multi_setopt(multi_, CURLMOPT_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kConnectionsKept);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, static_cast<void*>(this));
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, static_cast<void*>(this));
    thread_ = std::thread([this] { work(); });
  }

  ~Loop() {
    GANTREE_CHECK(!on_thread());
    post([this] { stopping_ = true; });
    thread_.join();
    for (auto& [id, transfer] : transfers_) {
      curl_multi_remove_handle(multi_, transfer->handle());
      curl_easy_cleanup(transfer->handle());
    }
    for (CurlHandle* handle : spare_handles_) {
      curl_easy_cleanup(handle);
    }
    curl_multi_cleanup(multi_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  [[nodiscard]] TaskId next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool on_thread() const { return std::this_thread::get_id() == thread_id_.load(); }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

  void post(std::function<void()> step) {
    {
      const std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
    }
    if (!on_thread()) {
      poller_.wake();
    }
  }

  void start(std::unique_ptr<Transfer> transfer);
  void add_timer(TaskId id, Clock::time_point when, std::function<void()> callback) {
    timers_.emplace(std::pair(when, id), std::move(callback));
    timer_times_.emplace(id, when);
  }
  void silence(TaskId id);
  void remove(TaskId id);

 private:
  void work();
  void run_steps();
  void run_timers();
  void collect_ended();
  void watch_over(TaskId id, Clock::time_point when);
  // Takes the transfer out of the multi; the handle goes back to the spare ones.
  std::unique_ptr<Transfer> detach(TaskId id);
  void keep_handle(CurlHandle* handle);
  [[nodiscard]] Milliseconds sleep() const;
  static int on_socket(CurlHandle* handle, curl_socket_t socket, int what, void* self, void* socket_data);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);

  const Endpoint endpoint_;
  Poller poller_;
  CURLM* multi_ = nullptr;
  std::atomic<TaskId> next_id_{1};
  std::atomic<std::thread::id> thread_id_;
  mutable std::mutex mutex_;
  std::vector<std::function<void()>> steps_;  // under mutex_
  // What follows belongs to the thread.
  bool stopping_ = false;
  Clock::time_point curl_wakes_ = Clock::time_point::max();  // when libcurl wants to be called without an event
  std::unordered_map<TaskId, std::unique_ptr<Transfer>> transfers_;
  std::vector<CurlHandle*> spare_handles_;
  std::map<std::pair<Clock::time_point, TaskId>, std::function<void()>> timers_;
  std::unordered_map<TaskId, Clock::time_point> timer_times_;
  std::thread thread_;
};

void Client::Loop::work() {
  thread_id_ = std::this_thread::get_id();
  while (!stopping_) {
    run_steps();
    run_timers();
    int running = 0;
    if (Clock::now() >= curl_wakes_) {
      curl_wakes_ = Clock::time_point::max();
      curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    collect_ended();
    for (const Poller::Ready& ready : poller_.wait(sleep())) {
      const int what = (ready.readable ? CURL_CSELECT_IN : 0) | (ready.writable ? CURL_CSELECT_OUT : 0) |
                       (ready.broken ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi_, ready.socket, what, &running);
    }
    collect_ended();
  }
}

Milliseconds Client::Loop::sleep() const {
  {
    const std::lock_guard lock(mutex_);
    if (!steps_.empty() || stopping_) {
      return Milliseconds(0);
    }
  }
  const Clock::time_point next =
      std::min(curl_wakes_, timers_.empty() ? Clock::time_point::max() : timers_.begin()->first.first);
  const Clock::time_point now = Clock::now();
  if (next > now + kLongestSleep) {
    return kLongestSleep;
  }
  return std::max(std::chrono::ceil<Milliseconds>(next - now), Milliseconds(0));
}

int Client::Loop::on_socket(CurlHandle*, curl_socket_t socket, int what, void* self, void*) {
  Poller& poller = static_cast<Loop*>(self)->poller_;
  if (what == CURL_POLL_REMOVE) {
    poller.forget(socket);
  } else {
    poller.watch(socket, what == CURL_POLL_IN || what == CURL_POLL_INOUT,
                 what == CURL_POLL_OUT || what == CURL_POLL_INOUT);
  }
  return 0;
}

int Client::Loop::on_timer(CURLM*, long timeout_ms, void* self) {
  static_cast<Loop*>(self)->curl_wakes_ =
      timeout_ms < 0 ? Clock::time_point::max() : Clock::now() + Milliseconds(timeout_ms);
  return 0;
}

void Client::Loop::run_steps() {
  std::vector<std::function<void()>> steps;
  {
    const std::lock_guard lock(mutex_);
    steps.swap(steps_);
  }
  for (std::function<void()>& step : steps) {
    step();
    step = nullptr;  // what it held goes before the next step runs
  }
}

void Client::Loop::run_timers() {
  const Clock::time_point now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    auto timer = timers_.extract(timers_.begin());
    timer_times_.erase(timer.key().second);
    timer.mapped()();
  }
}

void Client::Loop::start(std::unique_ptr<Transfer> transfer) {
  Result<Credential> credential = endpoint_.credential ? endpoint_.credential() : Credential{};
  if (!credential.has_value()) {
    transfer->fail(Outcome::Kind::kNotSent, credential.error().message);
    return;
  }
  CurlHandle* handle = nullptr;
  if (spare_handles_.empty()) {
    handle = curl_easy_init();
    GANTREE_CHECK(handle != nullptr);
  } else {
    handle = spare_handles_.back();
    spare_handles_.pop_back();
  }
  if (!transfer->prepare(handle, std::move(*credential)) || curl_multi_add_handle(multi_, handle) != CURLM_OK) {
    transfer->fail(Outcome::Kind::kNotSent, "the request, its headers or the TLS settings are malformed");
    keep_handle(handle);
    return;
  }
  const TaskId id = transfer->id();
  const bool guarded = transfer->is_stream();
  const Clock::time_point look = transfer->next_look();
  transfers_.emplace(id, std::move(transfer));
  if (guarded) {
    watch_over(id, look);
  }
}

void Client::Loop::watch_over(TaskId id, Clock::time_point when) {
  if (when == Clock::time_point::max()) {
    return;
  }
  add_timer(next_id(), when, [this, id] {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) {
      return;
    }
    if (found->second->deadline() > Clock::now()) {
      watch_over(id, found->second->next_look());
      return;
    }
    const std::unique_ptr<Transfer> transfer = detach(id);
    transfer->expire();
    keep_handle(transfer->handle());
  });
}

std::unique_ptr<Transfer> Client::Loop::detach(TaskId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) {
    return nullptr;
  }
  std::unique_ptr<Transfer> transfer = std::move(found->second);
  transfers_.erase(found);
  curl_multi_remove_handle(multi_, transfer->handle());
  return transfer;
}

void Client::Loop::keep_handle(CurlHandle* handle) {
  if (spare_handles_.size() < kHandlesKept) {
    curl_easy_reset(handle);
    spare_handles_.push_back(handle);
  } else {
    curl_easy_cleanup(handle);
  }
}

void Client::Loop::collect_ended() {
  int left = 0;
  while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) {
      continue;
    }
    const int code = message->data.result;  // the message goes with the handle
    void* tag = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &tag);
    const std::unique_ptr<Transfer> transfer = detach(static_cast<Transfer*>(tag)->id());
    transfer->finish(code);
    keep_handle(transfer->handle());
  }
}

void Client::Loop::silence(TaskId id) {
  if (const auto found = transfers_.find(id); found != transfers_.end()) {
    found->second->silence();
  }
}

void Client::Loop::remove(TaskId id) {
  if (const auto time = timer_times_.find(id); time != timer_times_.end()) {
    timers_.erase({time->second, id});
    timer_times_.erase(time);
    return;
  }
  if (const std::unique_ptr<Transfer> transfer = detach(id)) {
    transfer->silence();
    keep_handle(transfer->handle());
  }
}

Client::Client(Endpoint endpoint) : loop_(std::make_unique<Loop>(std::move(endpoint))) {}
Client::~Client() = default;

TaskId Client::send(Request request, Done done) {
  const TaskId id = loop_->next_id();
  auto transfer = std::make_shared<std::unique_ptr<Transfer>>(
      std::make_unique<Transfer>(id, loop_->endpoint(), std::move(request), std::move(done)));
  loop_->post([loop = loop_.get(), transfer] { loop->start(std::move(*transfer)); });
  return id;
}

TaskId Client::stream(Request request, StreamHandlers handlers) {
  const TaskId id = loop_->next_id();
  auto transfer = std::make_shared<std::unique_ptr<Transfer>>(
      std::make_unique<Transfer>(id, loop_->endpoint(), std::move(request), std::move(handlers)));
  loop_->post([loop = loop_.get(), transfer] { loop->start(std::move(*transfer)); });
  return id;
}

TaskId Client::after(Milliseconds delay, std::function<void()> callback) {
  const TaskId id = loop_->next_id();
  loop_->post([loop = loop_.get(), id, when = Clock::now() + delay, callback = std::move(callback)]() mutable {
    loop->add_timer(id, when, std::move(callback));
  });
  return id;
}

void Client::cancel(TaskId id) {
  if (loop_->on_thread()) {
    loop_->silence(id);  // libcurl lets no transfer be removed inside its own callback
  }
  loop_->post([loop = loop_.get(), id] { loop->remove(id); });
}

void Client::post(std::function<void()> step) {
  loop_->post(std::move(step));
}

void Client::run(const std::function<void()>& step) {
  if (loop_->on_thread()) {
    step();
    return;
  }
  std::promise<void> done;
  std::future<void> ended = done.get_future();
  loop_->post([&step, &done] {
    step();
    done.set_value();
  });
  ended.wait();
}

}  // namespace gantree::http
