// The embedded API server without its HTTP: one thread that owns all objects and does all work.
//
//   call() ──► queue ──► api thread: applies the requests that wait, in order, in memory
//                          └──► one transaction for all of them ──► answers and watch events go out
//
// The transaction is made on a thread of its own, while the api thread applies the requests of the next one.
// So nothing is answered or watched before it is durable, a request sees all that was done before it, and no caller
// needs a lock. HTTP clients and the controllers of this process come in by the same door:
//
//   Answer pod = api.call_and_wait({.path = "/api/v1/namespaces/default/pods/a"});          // a thread of your own
//   api.call({.method = "POST", .path = "/apis/batch/v1/namespaces/default/jobs", .body = to_json(job)},
//            [](Answer answer) { ... });                                                    // answered on the api
//            thread
//   auto id = api.watch("/api/v1/pods", "labelSelector=a%3Db", {.events = ..., .synced = ...});
//
// A watch gives first every object there is as kAdded, then calls `synced` once, then each change; it is never cut off
// and needs no resume. Callbacks run on the api thread, one at a time, and everybody waits for them: hand what they
// bring to a queue of your own, or do the little there is to do and call() again. They must not throw and must not use
// call_and_wait().
//
// Bodies of PATCH say what they are by content type: application/json-patch+json, application/merge-patch+json,
// application/strategic-merge-patch+json, application/apply-patch+yaml (JSON only). Answers other than 2xx hold a
// Status object. A write that lost a race is answered 409, as over HTTP: read again and repeat.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/message.h"

namespace gantree::apiserver {

using Bytes = std::shared_ptr<const std::string>;  // JSON that several may hold

struct WatchEvent {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kAdded;
  Bytes object;                // JSON; of kDeleted as it was last, of kError a Status
  std::uint64_t revision = 0;  // its resourceVersion
};

// Where a watch leads. Called on the api thread only.
class WatchSink {
 public:
  WatchSink() = default;
  virtual ~WatchSink() = default;
  WatchSink(const WatchSink&) = delete;
  WatchSink& operator=(const WatchSink&) = delete;

  // False: nobody listens any more. `initial` is true for what was there when the watch began.
  virtual bool events(std::span<const WatchEvent> events, bool initial) = 0;
  // Nothing follows: the time is up, or the watch was told an error.
  virtual void ended() = 0;
};

// Somebody in whose name a caller asks.
struct Person {
  std::string user;
  std::vector<std::string> groups = {};
  std::string uid = {};
  std::map<std::string, std::vector<std::string>> extra = {};
};

struct TokenOf;

struct Call {
  std::string method = "GET";
  std::string path;   // as in a URL, percent-encoded where it must be
  std::string query;  // "fieldManager=x&dryRun=All"
  std::string body = {};
  std::string content_type = "application/json";
  std::string accept = "application/json";
  std::string user = "system:admin";
  bool trusted = true;  // false: the user may do what roles grant, and nothing else
  // In whose name it is to be done, if the user may do that. Once that is known it is who the user is.
  std::shared_ptr<const Person> as = {};
  // The token of the service account that the user is, where it showed one: what it speaks for must still be there.
  std::shared_ptr<const TokenOf> token = {};
  std::string agent = {};                // the client's program: owner of the fields it writes, unless it names another
  std::shared_ptr<WatchSink> sink = {};  // for watch=true
};

struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  http::HeaderList headers = {};
  std::vector<Bytes> body = {};
  bool streaming = false;  // the rest goes to the sink

  [[nodiscard]] bool ok() const { return status / 100 == 2; }
  [[nodiscard]] std::string text() const;  // the whole body
};

struct WatchHandlers {
  std::function<void(const WatchEvent&)> event;
  std::function<void()> synced = {};
};
using WatchId = std::uint64_t;

struct ApiOptions {
  std::string file = {};  // SQLite; "": all is lost with the process
  bool sync = true;       // false: writes do not wait for the disk
  // Signs the tokens of service accounts; who shows it itself is the administrator. "": there are no such tokens.
  std::string secret = {};
  // Where webhooks that name a Service are reached: "namespace/name" to "127.0.0.1:9443".
  std::map<std::string, std::string, std::less<>> services = {};
  // Where and by whose word the server is reached, for clients inside; see announce().
  std::string host = {};
  int port = 0;
  std::string authority = {};                                         // PEM
  std::function<std::chrono::system_clock::time_point()> clock = {};  // the system's where not given
  // Told where things went wrong that nobody asked for: one sentence. Api thread.
  std::function<void(const std::string&)> trouble = {};
};

class Api {
 public:
  // Reads the file, makes what every cluster has (namespaces, priority classes), and starts the thread.
  [[nodiscard]] static Result<std::unique_ptr<Api>> start(ApiOptions options);
  // Ends the thread. Calls that wait are not answered; watches end without a word.
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  using Done = std::function<void(Answer)>;
  // Any thread.
  void call(Call call, Done done);
  [[nodiscard]] Answer call_and_wait(Call call);  // not on the api thread
  // Any thread. A collection that is not served yet is watched as soon as it is.
  WatchId watch(std::string path, std::string query, WatchHandlers handlers);
  void unwatch(WatchId id);
  // Ends the watch that leads to the sink, without a word.
  void forget(std::shared_ptr<WatchSink> sink);
  // Runs a step on the api thread, soon. Any thread.
  void post(std::function<void()> step);
  // Once, after `delay`, on the api thread. Any thread.
  void after(std::chrono::milliseconds delay, std::function<void()> step);
  // Where the server is reached, and who vouches for it: then there are the Service "default/kubernetes", which leads
  // there, and the ConfigMap "kube-root-ca.crt" in every namespace.
  void announce(std::string host, int port, std::string authority);
  // The address of a Service from now on.
  void set_service(std::string name, std::string address);

 private:
  class Thread;
  explicit Api(std::unique_ptr<Thread> thread);
  std::unique_ptr<Thread> thread_;
};

}  // namespace gantree::apiserver
