#include "apiserver/api.h"

#include <fmt/format.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "apiserver/committer.h"
#include "apiserver/core.h"
#include "apiserver/priority.h"
#include "apiserver/storage.h"

namespace gantree::apiserver {

namespace {

using Clock = std::chrono::steady_clock;

// How late a watch may end, or a bookmark be.
constexpr std::chrono::milliseconds kTick{1'000};

// A watch of this process.
class HandlerSink final : public WatchSink {
 public:
  explicit HandlerSink(WatchHandlers handlers) : handlers_(std::move(handlers)) {}

  bool events(std::span<const WatchEvent> events, bool initial) override {
    for (const WatchEvent& event : events) {
      if (event.type != WatchEvent::Type::kBookmark && handlers_.event) {
        handlers_.event(event);
      }
    }
    if (initial && handlers_.synced) {
      handlers_.synced();
    }
    return true;
  }
  void ended() override {}

 private:
  WatchHandlers handlers_;
};

struct WantedWatch {
  std::string path;
  std::string query;
  std::shared_ptr<WatchSink> sink;
  std::uint64_t edition = 0;  // of the kinds, when it was last tried
};

}  // namespace

class Api::Thread {
 public:
  Thread(ApiOptions options, std::unique_ptr<BuiltinSchemas> schemas, std::unique_ptr<Storage> storage)
      : core(
            std::move(options), std::move(schemas), [this](Core::Step step) { post(std::move(step)); },
            [this](std::chrono::milliseconds delay, Core::Step step) { after(delay, std::move(step)); }),
        storage_(std::move(storage)) {}

  ~Thread() {
    if (thread_.joinable()) {
      {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
      }
      wake_.notify_one();
      thread_.join();
    }
    // Their threads post here.
    committer_.reset();
    core.webhooks.close();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  [[nodiscard]] Result<> load() {
    if (storage_ != nullptr) {
      if (auto loaded = storage_->load(core.store); !loaded) {
        return loaded;
      }
    } else {
      // Whoever saw the server before has versions that mean nothing now. They must be too old, or a watch would wait
      // for ever where it left off: so versions begin with the time, in microseconds, and no server writes that fast.
      using std::chrono::microseconds;
      const auto now = std::chrono::floor<microseconds>(core.time().time_since_epoch());
      core.store.loaded(static_cast<std::uint64_t>(now.count()));
    }
    core.definitions.begin();
    make_priority_classes(core);
    core.roles.begin();
    core.quotas.begin();
    core.namespaces.begin();
    core.garbage.look_at_all();
    core.event_lives.begin();
    return {};
  }

  void start() {
    if (storage_ != nullptr) {
      committer_ = std::make_unique<Committer>(std::move(storage_), [this] { post([this] { now_durable(); }); });
    }
    thread_ = std::thread([this] { work(); });
  }

  void post(std::function<void()> step) {
    {
      const std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
    }
    wake_.notify_one();
  }

  void after(std::chrono::milliseconds delay, std::function<void()> step) {
    {
      const std::lock_guard lock(mutex_);
      timers_.emplace(Clock::now() + delay, std::move(step));
    }
    wake_.notify_one();
  }

  void watch(WatchId id, WantedWatch wanted) {
    sinks_[id] = wanted.sink;
    begin(std::move(wanted));
  }
  void unwatch(WatchId id) {
    if (const auto it = sinks_.find(id); it != sinks_.end()) {
      forget(it->second.get());
      sinks_.erase(it);
    }
  }
  void forget(const WatchSink* sink) {
    core.watches.forget(sink);
    std::erase_if(unserved_, [&](const WantedWatch& wanted) { return wanted.sink.get() == sink; });
  }
  [[nodiscard]] WatchId next_watch() { return last_watch_.fetch_add(1) + 1; }

  Core core;

 private:
  // Until there is something to do. False: it is over.
  bool wait(std::vector<std::function<void()>>& steps) {
    std::unique_lock lock(mutex_);
    const auto now = Clock::now();
    auto until = timers_.empty() ? now + kTick : std::min(now + kTick, timers_.begin()->first);
    if (has_soon_) {
      until = now;
    }
    wake_.wait_until(lock, until, [&] { return stopping_ || !steps_.empty(); });
    steps = std::exchange(steps_, {});
    for (auto it = timers_.begin(); it != timers_.end() && it->first <= Clock::now(); it = timers_.erase(it)) {
      steps.push_back(std::move(it->second));
    }
    return !stopping_;
  }

  void work() {
    std::vector<std::function<void()>> steps;
    has_soon_ = true;  // what the start left to do
    while (wait(steps)) {
      for (const auto& step : steps) {
        step();
      }
      for (const auto& step : core.take_soon()) {
        step();
      }
      retry_watches();
      if (const auto now = Clock::now(); now >= next_tick_) {
        next_tick_ = now + kTick;
        core.tick();
      }
      finish();
      has_soon_ = core.has_soon();
    }
  }

  // What becomes durable together, and is told only then.
  struct Batch {
    std::vector<Store::Change> changes;
    std::vector<Core::Finished> answers;
    std::uint64_t revision = 0;
    std::uint64_t number = 0;
  };

  // While one batch is on its way to the disk, the next one gathers.
  void finish() {
    if (!under_way_) {
      under_way_ = Batch{core.store.take_changes(), core.take_answers(), core.store.revision(), core.watches.seal()};
      if (under_way_->changes.empty() || committer_ == nullptr) {
        now_durable();
      } else {
        committer_->commit(under_way_->changes, under_way_->revision);
      }
    }
    core.watches.flush(Clock::now());
  }

  void now_durable() {
    Batch batch = std::move(*std::exchange(under_way_, std::nullopt));
    core.watches.gather(batch.changes);
    core.watches.durable(batch.number, batch.revision);
    for (Core::Finished& finished : batch.answers) {
      finished.done(std::move(finished.answer));
    }
  }

  void begin(WantedWatch wanted) {
    Call call;
    call.path = wanted.path;
    call.query = wanted.query.empty() ? "watch=true" : wanted.query + "&watch=true";
    call.query += "&timeoutSeconds=1000000000";
    call.sink = wanted.sink;
    wanted.edition = core.registry.edition();
    core.serve(std::move(call), [this, wanted = std::move(wanted)](const Answer& answer) {
      if (!answer.ok()) {
        unserved_.push_back(wanted);
        if (answer.status != 404) {
          core.trouble(fmt::format("{} cannot be watched: {}", wanted.path, answer.text()));
        }
      }
    });
  }

  // The kinds may have changed before it was known that a watch has to wait for that.
  void retry_watches() {
    const std::uint64_t edition = core.registry.edition();
    std::vector<WantedWatch> again;
    std::erase_if(unserved_, [&](WantedWatch& wanted) {
      const bool changed = wanted.edition != edition;
      if (changed) {
        again.push_back(std::move(wanted));
      }
      return changed;
    });
    for (WantedWatch& wanted : again) {
      begin(std::move(wanted));
    }
  }

  std::unique_ptr<Storage> storage_;  // until the thread starts
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> steps_;                        // under mutex_
  std::multimap<Clock::time_point, std::function<void()>> timers_;  // under mutex_
  bool stopping_ = false;                                           // under mutex_
  std::atomic<WatchId> last_watch_ = 0;
  // What follows belongs to the thread.
  bool has_soon_ = false;
  Clock::time_point next_tick_;
  std::optional<Batch> under_way_;
  std::unique_ptr<Committer> committer_;  // null: all is lost with the process
  std::map<WatchId, std::shared_ptr<WatchSink>> sinks_;
  std::vector<WantedWatch> unserved_;
  std::thread thread_;
};

Api::Api(std::unique_ptr<Thread> thread) : thread_(std::move(thread)) {}
Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::start(ApiOptions options) {
  auto schemas = BuiltinSchemas::load();
  if (!schemas) {
    return tl::unexpected(schemas.error());
  }
  std::unique_ptr<Storage> storage;
  if (!options.file.empty()) {
    auto opened = Storage::open(options.file, options.sync);
    if (!opened) {
      return tl::unexpected(opened.error());
    }
    storage = std::move(*opened);
  }
  auto thread = std::make_unique<Thread>(std::move(options), std::move(*schemas), std::move(storage));
  if (auto loaded = thread->load(); !loaded) {
    return tl::unexpected(loaded.error());
  }
  thread->start();
  return std::unique_ptr<Api>(new Api(std::move(thread)));
}

void Api::call(Call call, Done done) {
  thread_->post([thread = thread_.get(), call = std::move(call), done = std::move(done)]() mutable {
    thread->core.serve(std::move(call), std::move(done));
  });
}

Answer Api::call_and_wait(Call request) {
  auto promise = std::make_shared<std::promise<Answer>>();
  auto answer = promise->get_future();
  call(std::move(request), [promise](Answer given) { promise->set_value(std::move(given)); });
  return answer.get();
}

WatchId Api::watch(std::string path, std::string query, WatchHandlers handlers) {
  const WatchId id = thread_->next_watch();
  auto sink = std::make_shared<HandlerSink>(std::move(handlers));
  thread_->post([thread = thread_.get(), id, path = std::move(path), query = std::move(query), sink] {
    thread->watch(id, {path, query, sink});
  });
  return id;
}

void Api::unwatch(WatchId id) {
  thread_->post([thread = thread_.get(), id] { thread->unwatch(id); });
}

void Api::forget(std::shared_ptr<WatchSink> sink) {
  thread_->post([thread = thread_.get(), sink = std::move(sink)] { thread->forget(sink.get()); });
}

void Api::post(std::function<void()> step) {
  thread_->post(std::move(step));
}

void Api::after(std::chrono::milliseconds delay, std::function<void()> step) {
  thread_->after(delay, std::move(step));
}

void Api::announce(std::string host, int port, std::string authority) {
  thread_->post([thread = thread_.get(), host = std::move(host), port, authority = std::move(authority)] {
    ApiOptions& options = thread->core.options;
    options.host = host;
    options.port = port;
    options.authority = authority;
    thread->core.namespaces.begin();
  });
}

void Api::set_service(std::string name, std::string address) {
  thread_->post([thread = thread_.get(), name = std::move(name), address = std::move(address)] {
    thread->core.options.services.insert_or_assign(name, address);
  });
}

}  // namespace gantree::apiserver
