// One client of the server, from its first byte to its last. Internal to src/http.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "http/server.h"

namespace gantree::http {

// Large bodies that may still be taken in.
struct LargeBodies {
  std::size_t left;
  boost::asio::steady_timer freed;  // never runs out; called off when there may be one more
};

// What the connections of one server share. Lives as long as their io_context.
struct ConnectionPlace {
  const ServerOptions& options;
  const Handler& handler;
  const bool& stopping;
  LargeBodies& large_bodies;
  std::weak_ptr<void> alive;  // ends before the io_context does
};

// Used on the server's thread only, but for the Reply that it hands out.
class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void start(std::function<void()> ended) = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual bool idle() const = 0;  // no request has begun
  [[nodiscard]] virtual bool streaming() const = 0;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point idle_since() const = 0;
  // A header is awaited that has begun to come, or the first one.
  [[nodiscard]] virtual bool asking() const = 0;
  [[nodiscard]] virtual std::chrono::steady_clock::time_point asking_since() const = 0;
};

[[nodiscard]] std::shared_ptr<Connection> plain_connection(boost::asio::ip::tcp::socket socket, ConnectionPlace place);
[[nodiscard]] std::shared_ptr<Connection> tls_connection(boost::asio::ip::tcp::socket socket,
                                                         const std::shared_ptr<boost::asio::ssl::context>& context,
                                                         ConnectionPlace place);

}  // namespace gantree::http
