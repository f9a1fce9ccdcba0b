// What the api thread owns, and what every request needs of it. Api thread only; internal to src/apiserver.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/builtin.h"
#include "apiserver/defaults.h"
#include "apiserver/definitions.h"
#include "apiserver/event_lives.h"
#include "apiserver/garbage.h"
#include "apiserver/health.h"
#include "apiserver/kind.h"
#include "apiserver/metadata.h"
#include "apiserver/namespaces.h"
#include "apiserver/policies.h"
#include "apiserver/quotas.h"
#include "apiserver/removals.h"
#include "apiserver/request.h"
#include "apiserver/rights.h"
#include "apiserver/roles.h"
#include "apiserver/snapshots.h"
#include "apiserver/store.h"
#include "apiserver/task.h"
#include "apiserver/watch_hub.h"
#include "apiserver/webhook_caller.h"

namespace gantree::apiserver {

using RequestPtr = std::shared_ptr<Request>;

class Core {
 public:
  using Step = std::function<void()>;
  // `post` brings a step to the api thread, from any thread; `after` does so when the time has come.
  Core(ApiOptions options_given, std::unique_ptr<BuiltinSchemas> schemas_given, std::function<void(Step)> post_given,
       std::function<void(std::chrono::milliseconds, Step)> after_given);

  // --- requests ---
  // Answers when all that was changed until then is durable: see take_answers().
  void serve(Call call, Api::Done done);
  // What can be sent once the changes are committed.
  struct Finished {
    Api::Done done;
    Answer answer;
  };
  [[nodiscard]] std::vector<Finished> take_answers();
  // A request of the server itself.
  void ask(Call call, Api::Done done);
  // Something of the server itself that may have to wait; the answer means nothing.
  void run(Task<Answer> task);

  // --- objects ---
  // Counts, writes down and stores. The object's apiVersion is that of the kind.
  Entry put(const Kind& kind, Object object);
  // The same for what somebody sent: fails, and changes nothing, where the object is larger than etcd would take.
  [[nodiscard]] Outcome<Entry> put_written(const Kind& kind, Object object);
  // The object goes, in this state.
  Entry remove(const Kind& kind, Object last);
  // A change by the server itself, past admission: of the stored version. Where it makes the object free to go, it
  // goes. False where there is no such object, or `edit` says that nothing is to be done.
  bool edit(std::string_view table, const Key& key, const std::function<bool(Object&)>& edit);
  [[nodiscard]] std::optional<Object> read(std::string_view table, const Key& key) const;

  // --- time ---
  [[nodiscard]] std::chrono::system_clock::time_point time() const;
  [[nodiscard]] std::string now() const;  // RFC 3339
  // What comes with time alone; about once a second.
  void tick();
  // A step in the next turn of the thread.
  void soon(std::function<void()> step) { soon_.push_back(std::move(step)); }
  [[nodiscard]] std::vector<std::function<void()>> take_soon() { return std::exchange(soon_, {}); }
  [[nodiscard]] bool has_soon() const { return !soon_.empty(); }
  void trouble(const std::string& what) const;

  ApiOptions options;
  std::unique_ptr<BuiltinSchemas> schemas;
  std::function<void(Step)> post;
  std::function<void(std::chrono::milliseconds, Step)> after;
  Registry registry;
  Store store;
  Random random;
  WatchHub watches;
  Snapshots snapshots;
  Removals removals;
  Definitions definitions;
  Garbage garbage;
  Namespaces namespaces;
  EventLives event_lives;
  WebhookCaller webhooks;
  Policies policies;
  Rights rights;
  Roles roles;
  Quotas quotas;
  RequestCounts requests;
  // Pages that take long to make, by path, as long as the kinds stay the same.
  std::map<std::string, std::string, std::less<>> openapi_pages;
  std::uint64_t openapi_edition = 0;
  // As they were when their table last changed.
  std::vector<PriorityClassFacts> priority_classes;
  std::uint64_t priority_classes_changed = 0;

 private:
  struct Running {
    std::optional<Task<Answer>> task;
    Api::Done done;
  };
  Outcome<Entry> put_up_to(const Kind& kind, Object object, std::size_t most);
  void begin(Task<Answer> task, Api::Done done);
  void sweep();
  void changed(std::string_view table, const Key& key, const Facts* before, const Facts* now);

  std::list<Running> running_;
  std::vector<Finished> finished_;
  std::vector<std::function<void()>> soon_;
};

// Whether nothing holds a deleted object any more.
[[nodiscard]] bool may_go(std::string_view table, const Object& object);

}  // namespace gantree::apiserver
