// An HTTP/1.1 server, with TLS or without.
//
//   Server ──► accept ──► Connection (one a client): handshake, then
//                           read request ──► handler ──► write response ──┐
//                             ▲                                           │ keep-alive
//                             └───────────────────────────────────────────┘
//
// One thread does all of it; the handler is called on that thread and must neither block nor throw.
// It may keep the Reply and answer later, from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "http/message.h"
#include "http/request_parser.h"
#include "http/tls.h"

namespace gantree::http {

// An answer that goes out bit by bit (chunked), for as long as it takes. Any thread.
// Destroyed without an end, it cuts the client off, so that what came is not taken for all.
class Outflow {
 public:
  Outflow() = default;
  virtual ~Outflow() = default;
  Outflow(const Outflow&) = delete;
  Outflow& operator=(const Outflow&) = delete;

  enum class Patience : std::uint8_t {
    kBounded,  // where too much waits for a client that does not read, the client is cut off
    kAny,      // for what is there at the beginning: it is not counted
  };
  // In the order of the calls. False where nothing can reach the client any more.
  virtual bool send(std::vector<Bytes> pieces, Patience patience) = 0;
  // Nothing follows. The connection ends with it.
  virtual void end() = 0;
};

// The way back to one client. Movable, and may outlive the server: then nothing is sent.
// Destroyed unused, it sends status 500. Thread safe in the sense that send() may be called on any thread.
class Reply {
 public:
  class Target {
   public:
    Target() = default;
    virtual ~Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    virtual void answer(Response response) = 0;
    virtual std::shared_ptr<Outflow> stream(Response head, std::function<void()> gone) = 0;
  };

  explicit Reply(std::shared_ptr<Target> target) : target_(std::move(target)) {}
  Reply(Reply&&) = default;
  Reply& operator=(Reply&&) = delete;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply();

  void send(Response response);  // once
  // In place of send(): what the head's body holds goes first. `gone` is called once, on the server's thread, when
  // the client has gone or all is sent; it must not block.
  [[nodiscard]] std::shared_ptr<Outflow> stream(Response head, std::function<void()> gone);

 private:
  std::shared_ptr<Target> target_;
};

using Handler = std::function<void(IncomingRequest, Reply)>;
// Puts words to a request that was refused before the handler saw it. The request holds what had come of it.
using Refusal = std::function<Response(const IncomingRequest&, int status, std::string_view what)>;
// Whether a request may go on, by its header. Where it may not, it is refused with 401 and its body is not taken in.
// Asked only where the body does not come with the header: the handler has to ask by itself.
using Admission = std::function<bool(const IncomingRequest& head)>;

struct ServerOptions {
  // "host:port"; ":8443" and "*:8443" mean every address of the machine, and port 0 any free one.
  std::string listen = "127.0.0.1:0";
  std::optional<ServerTls> tls = {};
  RequestLimits limits = {};
  // Where all are taken, one makes room: first who has begun a header, or has connected, and has not sent a whole one
  // within `header_rest`, so that slow clients keep nobody out; then the one that is idle longest, if it has been so
  // for `rest`: a client that is about to use it again would take its end for a failure.
  std::size_t max_connections = 128;
  std::chrono::milliseconds header_rest{200};
  std::chrono::milliseconds rest{0};
  // What strangers can make the process hold is large_body_bytes for each connection and limits.body_bytes for as many
  // as this; more large bodies wait for their turn.
  std::size_t large_body_bytes = std::size_t{64} << 10;
  std::size_t max_large_bodies = 128;
  std::chrono::milliseconds header_timeout{10'000};  // the handshake has as long
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{120'000};
  std::chrono::milliseconds write_timeout{30'000};  // of each part of a long answer
  // How much of an Outflow may wait for a client that does not read.
  std::size_t max_waiting_bytes = std::size_t{64} << 20;
  Refusal refusal = {};   // a line of text where not given
  Admission admits = {};  // everybody where not given
};

class Server {
 public:
  // Listens when this returns. Fails where the address or the certificate is of no use.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  // For a handler that answers at once.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options,
                                                             std::function<Response(const IncomingRequest&)> handler);
  ~Server();  // stop(0)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;

  // The certificate of connections from now on; those there are stay. Fails, and changes nothing, where it is
  // of no use. Requires that the server began with TLS. Any thread.
  [[nodiscard]] Result<> set_tls(const ServerTls& tls);

  // Takes no more connections, lets requests that have begun end within `grace`, and returns when all is over.
  // A second call does nothing. Not from the handler.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Core;

  explicit Server(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace gantree::http
