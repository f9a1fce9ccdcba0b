#include "controllers/runner.h"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "controllers/conductor.h"
#include "controllers/names.h"

namespace gantree::controllers {

namespace {

using apiserver::Api;
using apiserver::WatchEvent;

// Writes handed to the API server at a time: its other callers want to get through as well.
constexpr std::size_t kMostInFlight = 1000;
constexpr std::chrono::seconds kLookForKinds{2};
constexpr std::chrono::seconds kLongestSleep{1};

struct Letter {
  enum class Type : std::uint8_t { kEvent, kSynced, kServed, kAnswer, kPause };
  Type type = Type::kEvent;
  Kind kind = Kind::kPod;
  bool deleted = false;
  Text text = nullptr;
  std::uint64_t write = 0;
  int status = 0;
};

// Outlives the loop where the API server still holds a callback.
//
// Events come kind by kind, though what they tell of happened in another order: a pod that its owner let go may come
// before the word that the owner is being deleted. So those that come together are read together.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  explicit Mailbox(Api& api) : api_(api) {}

  void post(Letter letter) {
    {
      const std::scoped_lock lock(mutex_);
      letters_.push_back(std::move(letter));
    }
    ready_.notify_one();
  }
  // Of a watch: read when all that came with it is there. Api thread.
  void collect(Letter letter) {
    if (collected_.empty()) {
      api_.post([self = shared_from_this()] { self->deliver(); });
    }
    collected_.push_back(std::move(letter));
  }
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    ready_.notify_one();
  }
  // False: stop.
  bool take(std::deque<Letter>& letters, std::chrono::system_clock::time_point until) {
    std::unique_lock lock(mutex_);
    ready_.wait_until(lock, until, [this] { return stopped_ || !letters_.empty(); });
    letters.swap(letters_);
    return !stopped_;
  }

 private:
  void deliver() {
    {
      const std::scoped_lock lock(mutex_);
      std::move(collected_.begin(), collected_.end(), std::back_inserter(letters_));
    }
    collected_.clear();
    ready_.notify_one();
  }

  Api& api_;
  std::vector<Letter> collected_;  // the api thread's
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Letter> letters_;
  bool stopped_ = false;
};

Time time_now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

apiserver::Call call_for(Write write) {
  apiserver::Call call;
  call.user = "system:kube-controller-manager";
  call.body = std::move(write.body);
  switch (write.verb) {
    case Verb::kCreate:
      call.method = "POST";
      call.path = api_path(write.kind, write.ns);
      break;
    case Verb::kPatch:
    case Verb::kPatchStatus:
      call.method = "PATCH";
      call.path = api_path(write.kind, write.ns, write.name, write.verb == Verb::kPatch ? "" : "status");
      call.content_type = "application/merge-patch+json";
      break;
    case Verb::kBind:
      call.method = "POST";
      call.path = api_path(write.kind, write.ns, write.name, "binding");
      break;
    case Verb::kDelete:
      call.method = "DELETE";
      call.path = api_path(write.kind, write.ns, write.name);
      break;
  }
  return call;
}

Text body_of(const apiserver::Answer& answer) {
  return answer.body.size() == 1 ? answer.body.front() : std::make_shared<const std::string>(answer.text());
}

}  // namespace

class Runner::Loop {
 public:
  Loop(Api& api, Options options, std::function<void(const std::string&)> trouble)
      : api_(api),
        conductor_(options),
        trouble_(std::move(trouble)),
        mailbox_(std::make_shared<Mailbox>(api)),
        pauses_(watch_pauses()),
        thread_([this] { run(); }) {}
  ~Loop() {
    mailbox_->stop();
    thread_.join();
    for (const auto& id : watches_) {
      if (id) {
        api_.unwatch(*id);
      }
    }
    api_.unwatch(pauses_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

 private:
  void run() {
    std::deque<Letter> letters;
    Time looked = {};
    while (true) {
      const Time now = time_now();
      if (now - looked >= kLookForKinds) {
        looked = now;
        look_for_kinds();
      }
      letters.clear();
      if (!mailbox_->take(letters, wake_at(now))) {
        return;
      }
      for (Letter& letter : letters) {
        read(letter);
      }
      if (synced()) {
        decide();
      }
    }
  }

  [[nodiscard]] std::chrono::system_clock::time_point wake_at(Time now) const {
    if (synced() && queue_.size() < kMostInFlight && conductor_.more(now)) {
      return now;
    }
    const auto due = conductor_.due();
    return due ? std::min(*due, now + kLongestSleep) : now + kLongestSleep;
  }

  void look_for_kinds() {
    for (const KindFacts& kind : all_kind_facts()) {
      const auto at = static_cast<std::size_t>(kind.kind);
      if (!kind.watched || watches_[at]) {
        continue;
      }
      apiserver::Call call;
      call.path = api_path(kind.kind, "");
      call.query = "limit=1";
      api_.call(std::move(call), [mailbox = mailbox_, found = kind.kind](const apiserver::Answer& answer) {
        mailbox->post({.type = Letter::Type::kServed, .kind = found, .status = answer.status});
      });
    }
  }

  apiserver::WatchId watch_pauses() {
    apiserver::WatchHandlers handlers;
    handlers.event = [mailbox = mailbox_](const WatchEvent& event) {
      if (event.type != WatchEvent::Type::kBookmark && event.type != WatchEvent::Type::kError) {
        mailbox->collect({.type = Letter::Type::kPause, .text = event.object});
      }
    };
    return api_.watch("/api/v1/namespaces", "fieldSelector=metadata.name%3Dkube-system", std::move(handlers));
  }

  void watch(Kind kind) {
    auto& slot = watches_[static_cast<std::size_t>(kind)];
    if (slot) {
      return;
    }
    apiserver::WatchHandlers handlers;
    handlers.event = [mailbox = mailbox_, kind](const WatchEvent& event) {
      if (event.type == WatchEvent::Type::kBookmark || event.type == WatchEvent::Type::kError) {
        return;
      }
      mailbox->collect({.type = Letter::Type::kEvent,
                        .kind = kind,
                        .deleted = event.type == WatchEvent::Type::kDeleted,
                        .text = event.object});
    };
    handlers.synced = [mailbox = mailbox_, kind] { mailbox->collect({.type = Letter::Type::kSynced, .kind = kind}); };
    slot = api_.watch(api_path(kind, ""), "", std::move(handlers));
  }

  void read(Letter& letter) {
    switch (letter.type) {
      case Letter::Type::kServed:
        answered_[static_cast<std::size_t>(letter.kind)] = true;
        if (letter.status == 200) {
          watch(letter.kind);
        }
        return;
      case Letter::Type::kSynced:
        synced_[static_cast<std::size_t>(letter.kind)] = true;
        return;
      case Letter::Type::kAnswer:
        --in_flight_;
        conductor_.answered(letter.write, {letter.status, std::move(letter.text)}, time_now());
        return;
      case Letter::Type::kEvent:
        read_event(letter);
        return;
      case Letter::Type::kPause:
        if (const auto system = apiserver::parse_json(*letter.text)) {
          conductor_.pause(parse_parts(text_at(*system, {"metadata", "annotations", kPause})));
        }
        return;
    }
  }

  void read_event(Letter& letter) {
    if (letter.deleted) {
      if (const Result<Item> item = read_item(letter.kind, std::move(letter.text))) {
        conductor_.removed(letter.kind, item->ns, item->name);
      }
    } else if (const Result<> taken = conductor_.changed(letter.kind, std::move(letter.text)); !taken && trouble_) {
      trouble_(fmt::format("controllers: {}", taken.error().message));
    }
  }

  // Every kind is either listed or known not to be served.
  [[nodiscard]] bool synced() const {
    for (const KindFacts& kind : all_kind_facts()) {
      const auto at = static_cast<std::size_t>(kind.kind);
      if (kind.watched && !(watches_[at] ? synced_[at] : answered_[at])) {
        return false;
      }
    }
    return true;
  }

  void decide() {
    if (queue_.size() < kMostInFlight) {
      for (Write& write : conductor_.next(time_now())) {
        queue_.push_back(std::move(write));
      }
    }
    while (!queue_.empty() && in_flight_ < kMostInFlight) {
      Write write = std::move(queue_.front());
      queue_.pop_front();
      ++in_flight_;
      const std::uint64_t id = write.id;
      const bool object_follows = write.verb != Verb::kDelete && write.verb != Verb::kBind;
      api_.call(call_for(std::move(write)), [mailbox = mailbox_, id, object_follows](const apiserver::Answer& answer) {
        mailbox->post({.type = Letter::Type::kAnswer,
                       .text = object_follows ? body_of(answer) : nullptr,
                       .write = id,
                       .status = answer.status});
      });
    }
  }

  Api& api_;
  Conductor conductor_;
  std::function<void(const std::string&)> trouble_;
  std::shared_ptr<Mailbox> mailbox_;
  apiserver::WatchId pauses_;  // of the parts of the cluster, as an annotation tells
  std::array<std::optional<apiserver::WatchId>, kKinds> watches_;
  std::array<bool, kKinds> answered_{};
  std::array<bool, kKinds> synced_{};
  std::deque<Write> queue_;
  std::size_t in_flight_ = 0;
  std::thread thread_;  // last: it uses all the others
};

Runner::Runner(Api& api, Options options, std::function<void(const std::string&)> trouble)
    : loop_(std::make_unique<Loop>(api, options, std::move(trouble))) {}

Runner::~Runner() = default;

}  // namespace gantree::controllers
