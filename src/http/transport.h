// What the Kubernetes client needs of HTTP: requests, streams and timers, all answered on one thread.
//
// The seam between src/kube and the network: http::Client keeps this contract with libcurl; tests script it.
//
// Thread rule: every function may be called on any thread. Callbacks run on the transport's own thread, one at a time,
// never inside the call that registered them. They must be short: all streams wait for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gantree::http {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

enum class Method : std::uint8_t { kGet, kPost, kPut, kPatch, kDelete };
[[nodiscard]] std::string_view to_string(Method method);

struct Header {
  std::string name;  // in replies always in lower case
  std::string value;
};
using Headers = std::vector<Header>;
// The value of the first header of that name (given in lower case); empty where there is none.
[[nodiscard]] std::string_view find_header(const Headers& headers, std::string_view name);

struct Request {
  Method method = Method::kGet;
  std::string target;  // path and query, behind the endpoint's base URL
  Headers headers;     // besides those that the endpoint's credentials add
  std::string body;
  bool http2 = true;                              // where the server offers it; writes go without: a GOAWAY loses less
  bool fresh_connection = false;                  // do not trust those that are open
  Milliseconds timeout{30'000};                   // until the whole reply is there; for streams until its headers are
  Milliseconds idle_timeout{0};                   // streams only: how long may no byte come; 0 for ever
  std::size_t max_body = std::size_t{256} << 20;  // of whole replies; a longer one is cut off as kUnknown
};

// What became of a request.
struct Outcome {
  enum class Kind : std::uint8_t {
    kReply,    // the server answered in full (a stream: ended in order)
    kNotSent,  // the server has certainly not seen it: safe to send again
    kUnknown,  // it may have been executed, or the reply was cut
  };
  Kind kind = Kind::kUnknown;
  int status = 0;  // also set where the reply was cut after its headers
  Headers headers;
  std::string body;   // of whole replies
  std::string error;  // one sentence where kind is not kReply
};

using Done = std::function<void(Outcome)>;

struct StreamHandlers {
  std::function<void(int status, const Headers& headers)> on_headers;
  std::function<void(std::string_view bytes)> on_bytes;  // decompressed; the body of a refusal too
  std::function<void(const Outcome& outcome)> on_end;    // exactly once, unless cancelled
};

using TaskId = std::uint64_t;  // never 0

class Transport {
 public:
  virtual ~Transport() = default;

  virtual TaskId send(Request request, Done done) = 0;
  virtual TaskId stream(Request request, StreamHandlers handlers) = 0;
  // Calls back once, not before `delay` has passed.
  virtual TaskId after(Milliseconds delay, std::function<void()> callback) = 0;
  // Ends a request, a stream or a timer without a callback. One that has ended already is ignored. Called on another
  // thread, a callback may still be under way; use run() where that matters.
  virtual void cancel(TaskId id) = 0;
  // Runs `step` on the transport's thread, soon, in the order of the calls.
  virtual void post(std::function<void()> step) = 0;
  // Runs `step` on the transport's thread and returns when it is done. Must not be called while holding a lock that a
  // callback takes.
  virtual void run(const std::function<void()>& step) = 0;
  [[nodiscard]] virtual Clock::time_point now() const = 0;
};

}  // namespace gantree::http
