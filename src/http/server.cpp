#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/whole_number.h"
#include "http/connection.h"
#include "http/tls_context.h"

namespace gantree::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

// Between tries while the system gives no socket (too many files are open).
constexpr std::chrono::milliseconds kAcceptPause{100};
// How soon it is noticed that a connection may make room for another.
constexpr std::chrono::milliseconds kRoomPause{20};

struct Address {
  std::string host;  // "" for every address
  std::uint16_t port = 0;
};

Result<Address> parse_address(std::string_view listen) {
  const std::size_t colon = listen.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : whole_number<std::uint16_t>(listen.substr(colon + 1));
  if (!port) {
    return invalid(fmt::format("cannot listen on \"{}\": that is not HOST:PORT", listen));
  }
  std::string_view host = listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return invalid(fmt::format("cannot listen on \"{}\": write an IPv6 address as in [::1]:{}", listen, *port));
  }
  return Address{host == "*" ? std::string() : std::string(host), *port};
}

error_code listen_on(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) {
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  }
  if (!error && endpoint.protocol() == tcp::v6()) {
    acceptor.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) {
    acceptor.bind(endpoint, error);
  }
  if (!error) {
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error) {
    error_code ignored;
    acceptor.close(ignored);
  }
  return error;
}

// On the first address that works. No host stands for IPv6 and IPv4 at once, or IPv4 alone where there is no other.
Result<> open(tcp::acceptor& acceptor, asio::io_context& io, const std::string& listen) {
  const auto address = parse_address(listen);
  if (!address) {
    return tl::unexpected(address.error());
  }
  std::vector<tcp::endpoint> endpoints;
  error_code error;
  if (address->host.empty()) {
    endpoints = {tcp::endpoint(tcp::v6(), address->port), tcp::endpoint(tcp::v4(), address->port)};
  } else {
    tcp::resolver resolver(io);
    for (const auto& entry : resolver.resolve(address->host, std::to_string(address->port), error)) {
      endpoints.push_back(entry.endpoint());
    }
  }
  for (const tcp::endpoint& endpoint : endpoints) {
    error = listen_on(acceptor, endpoint);
    if (!error) {
      return {};
    }
  }
  return fail(Errc::kIo, fmt::format("cannot listen on \"{}\": {}", listen, error.message()));
}

}  // namespace

Reply::~Reply() {
  if (target_ != nullptr) {
    send(plain(500, "the request was not answered"));
  }
}

void Reply::send(Response response) {
  const auto target = std::exchange(target_, nullptr);
  target->answer(std::move(response));
}

std::shared_ptr<Outflow> Reply::stream(Response head, std::function<void()> gone) {
  const auto target = std::exchange(target_, nullptr);
  return target->stream(std::move(head), std::move(gone));
}

// All but the constructor, port and stop() belongs to the thread.
struct Server::Core : std::enable_shared_from_this<Core> {
  Core(ServerOptions options_given, Handler handler_given)
      : options(std::move(options_given)), handler(std::move(handler_given)) {}

  asio::awaitable<void> accept() {
    while (!stopping) {
      error_code error;
      tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error && !stopping) {
        vacancy.expires_after(kAcceptPause);
        co_await vacancy.async_wait(asio::redirect_error(asio::use_awaitable, error));
        continue;
      }
      while (!stopping && connections.size() >= options.max_connections) {
        make_room();
        vacancy.expires_after(kRoomPause);
        co_await vacancy.async_wait(asio::redirect_error(asio::use_awaitable, error));
      }
      if (!stopping) {
        add(std::move(socket));
      }
    }
  }

  void add(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const ConnectionPlace place{options, handler, stopping, large_bodies, weak_from_this()};
    const auto connection =
        tls == nullptr ? plain_connection(std::move(socket), place) : tls_connection(std::move(socket), tls, place);
    connections.push_back(connection);
    connection->start([this, raw = connection.get()] { remove(raw); });
  }

  void remove(const Connection* gone) {
    std::erase_if(connections, [&](const auto& connection) { return connection.get() == gone; });
    vacancy.cancel();
    if (stopping && connections.empty()) {
      end_of_grace.cancel();
    }
  }

  // Room for somebody who wants something now: of those who have not said in a while what they want, the one that has
  // been at it longest; where there is none, the one that is idle longest.
  void make_room() {
    const auto now = Clock::now();
    Connection* slowest = nullptr;
    Connection* longest = nullptr;
    for (const auto& connection : connections) {
      if (connection->asking()) {
        const bool slow = connection->asking_since() + options.header_rest <= now;
        if (slow && (slowest == nullptr || connection->asking_since() < slowest->asking_since())) {
          slowest = connection.get();
        }
      } else if (connection->idle() && connection->idle_since() + options.rest <= now &&
                 (longest == nullptr || connection->idle_since() < longest->idle_since())) {
        longest = connection.get();
      }
    }
    if (Connection* const leaves = slowest != nullptr ? slowest : longest) {
      leaves->close();
    }
  }

  void begin_stop(std::chrono::milliseconds grace) {
    stopping = true;
    error_code ignored;
    acceptor.close(ignored);
    vacancy.cancel();
    for (const auto& connection : std::vector(connections)) {
      if (connection->idle() || connection->streaming()) {
        connection->close();
      }
    }
    if (connections.empty()) {
      return;
    }
    end_of_grace.expires_after(grace);
    end_of_grace.async_wait([this](const error_code& error) {
      if (!error) {
        for (const auto& connection : std::vector(connections)) {
          connection->close();
        }
      }
    });
  }

  const ServerOptions options;
  const Handler handler;
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer vacancy{io};
  asio::steady_timer end_of_grace{io};
  LargeBodies large_bodies{options.max_large_bodies, asio::steady_timer(io, Clock::time_point::max())};
  std::shared_ptr<asio::ssl::context> tls;
  std::vector<std::shared_ptr<Connection>> connections;
  bool stopping = false;
  std::uint16_t port = 0;
  std::thread thread;
};

Server::Server(std::shared_ptr<Core> core) : core_(std::move(core)) {}

Server::~Server() {
  stop(std::chrono::milliseconds{0});
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  auto core = std::make_shared<Core>(std::move(options), std::move(handler));
  if (core->options.tls) {
    auto context = server_context(*core->options.tls);
    if (!context) {
      return tl::unexpected(context.error());
    }
    core->tls = std::move(*context);
  }
  if (auto opened = open(core->acceptor, core->io, core->options.listen); !opened) {
    return tl::unexpected(opened.error());
  }
  core->port = core->acceptor.local_endpoint().port();
  asio::co_spawn(core->io, [raw = core.get()] { return raw->accept(); }, asio::detached);
  core->thread = std::thread([raw = core.get()] { raw->io.run(); });
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options,
                                              std::function<Response(const IncomingRequest&)> handler) {
  return start(std::move(options), Handler([handler = std::move(handler)](const IncomingRequest& request, Reply reply) {
                 reply.send(handler(request));
               }));
}

std::uint16_t Server::port() const {
  return core_->port;
}

Result<> Server::set_tls(const ServerTls& tls) {
  auto context = server_context(tls);
  if (!context) {
    return tl::unexpected(context.error());
  }
  asio::post(core_->io, [core = core_.get(), fresh = std::move(*context)] { core->tls = fresh; });
  return {};
}

void Server::stop(std::chrono::milliseconds grace) {
  if (!core_->thread.joinable()) {
    return;
  }
  asio::post(core_->io, [core = core_.get(), grace] { core->begin_stop(grace); });
  core_->thread.join();
}

}  // namespace gantree::http
