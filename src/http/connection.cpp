#include "http/connection.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "http/flow.h"

namespace gantree::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

namespace {

// How long a client may take to notice that all is said, before the socket goes.
constexpr std::chrono::milliseconds kFarewell{2'000};

// How much of a long answer is put together for one write.
constexpr std::size_t kPart = std::size_t{128} << 10;

enum class Length : std::uint8_t { kKnown, kChunked };

std::string head_of(const Response& response, Length length, bool keep_alive) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (length == Length::kKnown) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.size());
  } else {
    head += "Transfer-Encoding: chunked\r\n";
  }
  if (!response.content_type.empty()) {
    fmt::format_to(std::back_inserter(head), "Content-Type: {}\r\n", response.content_type);
  }
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  }
  head += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return head;
}

template <class Stream>
class StreamConnection final : public Connection, public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, ConnectionPlace place, std::shared_ptr<asio::ssl::context> context)
      : place_(std::move(place)),
        context_(std::move(context)),
        stream_(std::move(stream)),
        deadline_(stream_.get_executor()),
        answered_(stream_.get_executor()),
        parser_(place_.options.limits) {}

  void start(std::function<void()> ended) override {
    asio::co_spawn(
        stream_.get_executor(), [self = this->shared_from_this()] { return self->serve(); },
        [self = this->shared_from_this(), ended = std::move(ended)](const std::exception_ptr& broken) {
          self->close();
          self->give_back();
          ended();
          // Every expected error is an error_code: what throws is memory, or a mistake.
          if (broken) {
            std::rethrow_exception(broken);
          }
        });
  }

  void close() override {
    closed_ = true;
    deadline_.cancel();
    answered_.cancel();
    place_.large_bodies.freed.cancel();
    error_code ignored;
    socket().close(ignored);
    if (flow_ != nullptr) {
      flow_->cut();
    }
  }

  [[nodiscard]] bool idle() const override { return idle_; }
  [[nodiscard]] Clock::time_point idle_since() const override { return idle_since_; }
  [[nodiscard]] bool asking() const override { return asking_; }
  [[nodiscard]] Clock::time_point asking_since() const override { return asking_since_; }

  [[nodiscard]] bool streaming() const override { return flow_ != nullptr; }

  void set_response(Response response, std::shared_ptr<Flow> flow) {
    response_ = std::move(response);
    flow_ = std::move(flow);
    if (closed_ && flow_ != nullptr) {
      flow_->cut();
    }
    answered_.cancel();
  }
  void wake() {
    if (flow_ != nullptr && flow_->is_cut()) {
      close();  // also out of a write that nobody takes
    } else {
      answered_.cancel();
    }
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, tcp::socket>;

  // Leads an answer from any thread to the connection, as long as there is one.
  class Target final : public Reply::Target {
   public:
    explicit Target(const std::shared_ptr<StreamConnection>& connection)
        : alive_(connection->place_.alive), connection_(connection) {}

    void answer(Response response) override { hand_over(std::move(response), nullptr); }

    std::shared_ptr<Outflow> stream(Response head, std::function<void()> gone) override {
      std::size_t most_waiting = 0;
      if (const auto connection = connection_.lock()) {
        most_waiting = connection->place_.options.max_waiting_bytes;
      }
      auto flow = std::make_shared<Flow>(most_waiting, std::move(gone), notifier());
      if (!hand_over(std::move(head), flow)) {
        flow->cut();
      }
      return std::make_shared<FlowHandle>(std::move(flow));
    }

   private:
    bool hand_over(Response response, std::shared_ptr<Flow> flow) {
      const auto alive = alive_.lock();
      auto connection = connection_.lock();
      if (alive == nullptr || connection == nullptr) {
        return false;
      }
      const auto executor = connection->stream_.get_executor();
      asio::dispatch(executor, [connection = std::move(connection), response = std::move(response),
                                flow = std::move(flow)]() mutable {
        connection->set_response(std::move(response), std::move(flow));
      });
      return true;
    }

    // Tells the connection, from any thread, that there is more to send.
    std::function<void()> notifier() {
      return [alive_now = alive_, to = connection_] {
        const auto alive = alive_now.lock();
        auto connection = to.lock();
        if (alive != nullptr && connection != nullptr) {
          const auto executor = connection->stream_.get_executor();
          asio::post(executor, [connection = std::move(connection)] { connection->wake(); });
        }
      };
    }

    std::weak_ptr<void> alive_;
    std::weak_ptr<StreamConnection> connection_;
  };

  tcp::socket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  // Closes the connection unless the next call, or no_limit(), comes first.
  void limit(std::chrono::milliseconds time) {
    deadline_.expires_after(time);
    deadline_.async_wait([self = this->weak_from_this()](const error_code& error) {
      const auto connection = self.lock();
      // A wait that ended just before it was called off comes here all the same.
      if (!error && connection != nullptr && connection->deadline_.expiry() <= Clock::now()) {
        connection->close();
      }
    });
  }
  void no_limit() { deadline_.expires_at(Clock::time_point::max()); }

  asio::awaitable<void> serve() {
    if (!co_await handshake()) {
      co_return;
    }
    for (bool more = true; more && !closed_;) {
      const Progress progress = co_await read();
      if (progress == Progress::kNeedMore) {
        co_return;
      }
      more = progress == Progress::kDone && parser_.keep_alive();
      const bool head_only = co_await respond(progress);
      more = more && !place_.stopping;
      give_back();
      if (!closed_ && flow_ != nullptr) {
        co_await pour(head_only);
        co_return;
      }
      if (closed_ || !co_await write(more, head_only)) {
        co_return;
      }
    }
    co_await part();
  }

  asio::awaitable<bool> handshake() {
    error_code error;
    if constexpr (kTls) {
      limit(place_.options.header_timeout);
      co_await stream_.async_handshake(asio::ssl::stream_base::server,
                                       asio::redirect_error(asio::use_awaitable, error));
    }
    co_return !error && !closed_;
  }

  // kNeedMore: the client has gone, or was too slow.
  asio::awaitable<Progress> read() {
    idle_ = !parser_.started();
    idle_since_ = Clock::now();
    bool in_body = false;
    std::size_t taken = 0;
    if (!idle_) {
      begin_asking();
    }
    // Who connects has something to ask. Only between requests a client may take its time.
    limit(asking_ ? place_.options.header_timeout : place_.options.idle_timeout);
    Progress progress = admit(parser_.feed(""), in_body);
    while (progress == Progress::kNeedMore) {
      if (parser_.take_expectation() && !co_await permit_body()) {
        co_return Progress::kNeedMore;
      }
      error_code error;
      const std::size_t size =
          co_await stream_.async_read_some(asio::buffer(incoming_), asio::redirect_error(asio::use_awaitable, error));
      if (error || closed_) {
        co_return Progress::kNeedMore;
      }
      if (idle_) {
        idle_ = false;
        begin_asking();
        limit(place_.options.header_timeout);
      }
      progress = admit(parser_.feed({incoming_.data(), size}), in_body);
      taken += in_body ? size : 0;
      if (progress == Progress::kNeedMore && taken > place_.options.large_body_bytes && !co_await take_turn()) {
        co_return Progress::kNeedMore;
      }
    }
    no_limit();
    co_return progress;
  }

  void begin_asking() {
    if (!asking_) {
      asking_ = true;
      asking_since_ = Clock::now();
    }
  }

  // Looks at the header once it is there and the body is not.
  Progress admit(Progress progress, bool& in_body) {
    if (progress != Progress::kNeedMore || in_body || !parser_.header_done()) {
      asking_ = asking_ && progress == Progress::kNeedMore;
      return progress;
    }
    in_body = true;
    asking_ = false;
    limit(place_.options.body_timeout);
    return place_.options.admits && !place_.options.admits(parser_.head()) ? parser_.turn_away() : progress;
  }

  // Waits until one more large body may be taken in. The deadline of the body runs on.
  asio::awaitable<bool> take_turn() {
    LargeBodies& bodies = place_.large_bodies;
    while (!has_turn_ && bodies.left == 0 && !closed_) {
      error_code woken;
      co_await bodies.freed.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
    if (!has_turn_ && !closed_) {
      --bodies.left;
      has_turn_ = true;
    }
    co_return !closed_;
  }
  void give_back() {
    if (has_turn_) {
      has_turn_ = false;
      ++place_.large_bodies.left;
      place_.large_bodies.freed.cancel();
    }
  }

  asio::awaitable<bool> permit_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    error_code error;
    co_await asio::async_write(stream_, asio::buffer(kContinue), asio::redirect_error(asio::use_awaitable, error));
    co_return !error && !closed_;
  }

  // Waits until there is a response. True where its body must not be sent.
  asio::awaitable<bool> respond(Progress progress) {
    if (progress == Progress::kBad) {
      const IncomingRequest rest = parser_.take_rest();
      response_ = place_.options.refusal ? place_.options.refusal(rest, parser_.status(), parser_.what())
                                         : plain(parser_.status(), parser_.what());
      co_return false;
    }
    IncomingRequest request = parser_.take();
    const bool head_only = request.method == "HEAD";
    answered_.expires_at(Clock::time_point::max());
    place_.handler(std::move(request), Reply(std::make_shared<Target>(this->shared_from_this())));
    while (!response_ && !closed_) {
      error_code woken;
      co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
    co_return head_only;
  }

  // In as few writes as there are parts: each is a call to the system and a record of TLS.
  asio::awaitable<bool> write(bool keep_alive, bool head_only) {
    const Response response = *std::exchange(response_, std::nullopt);
    std::string part = head_of(response, Length::kKnown, keep_alive);
    if (!head_only) {
      part += response.body;
    }
    const std::size_t pieces = head_only ? 0 : response.rest.size();
    error_code error;
    for (std::size_t i = 0; !part.empty() || i < pieces; part.clear()) {
      while (i < pieces && part.size() < kPart) {
        part += *response.rest[i++];
      }
      limit(place_.options.write_timeout);
      co_await asio::async_write(stream_, asio::buffer(part), asio::redirect_error(asio::use_awaitable, error));
      if (error || closed_) {
        co_return false;
      }
    }
    co_return true;
  }

  // Sends what the flow brings until it ends, and notices when the client goes.
  asio::awaitable<void> pour(bool head_only) {
    const Response response = *std::exchange(response_, std::nullopt);
    std::string part = head_of(response, Length::kChunked, false);
    if (!response.body.empty() && !head_only) {
      part += chunk(response.body);
    }
    asio::co_spawn(
        stream_.get_executor(), [self = this->shared_from_this()] { return self->notice_end(); }, asio::detached);
    bool more = !head_only;
    while (!closed_) {
      if (!part.empty()) {
        limit(place_.options.write_timeout);
        error_code error;
        co_await asio::async_write(stream_, asio::buffer(part), asio::redirect_error(asio::use_awaitable, error));
        no_limit();
        if (error || closed_) {
          break;
        }
      }
      if (!more) {
        break;
      }
      answered_.expires_at(Clock::time_point::max());
      auto [bytes, state] = flow_->take(kPart);
      part = bytes.empty() ? std::string() : chunk(bytes);
      more = state != Flow::State::kEnded;
      if (!more) {
        part += "0\r\n\r\n";
      } else if (state == Flow::State::kCut) {
        break;
      } else if (part.empty()) {
        error_code woken;
        co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
      }
    }
    if (!more && !closed_) {
      co_await see_off();
    }
  }

  // All is said: gives the client a while to take notice.
  asio::awaitable<void> see_off() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    limit(kFarewell);
    while (!closed_) {
      answered_.expires_at(Clock::time_point::max());
      co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }

  // A client that gets a stream has nothing more to say: what it sends is passed over.
  asio::awaitable<void> notice_end() {
    error_code error;
    while (!error && !closed_) {
      co_await stream_.async_read_some(asio::buffer(incoming_), asio::redirect_error(asio::use_awaitable, error));
    }
    close();
  }

  static std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

  // What the client still sends is read and thrown away: closing on it at once could cost it our answer.
  asio::awaitable<void> part() {
    idle_ = false;
    limit(kFarewell);
    error_code error;
    if constexpr (kTls) {
      co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
      error.clear();
    }
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    while (!error && !closed_) {
      co_await socket().async_read_some(asio::buffer(incoming_), asio::redirect_error(asio::use_awaitable, error));
    }
  }

  ConnectionPlace place_;
  std::shared_ptr<asio::ssl::context> context_;  // null without TLS
  Stream stream_;
  asio::steady_timer deadline_;
  asio::steady_timer answered_;  // never runs out; called off when there is a response
  RequestParser parser_;
  std::array<char, std::size_t{16} << 10> incoming_;
  std::optional<Response> response_;
  std::shared_ptr<Flow> flow_;  // of a stream
  bool closed_ = false;
  bool has_turn_ = false;
  bool idle_ = true;
  Clock::time_point idle_since_ = Clock::now();
  bool asking_ = true;
  Clock::time_point asking_since_ = Clock::now();
};

}  // namespace

std::shared_ptr<Connection> plain_connection(tcp::socket socket, ConnectionPlace place) {
  return std::make_shared<StreamConnection<tcp::socket>>(std::move(socket), std::move(place), nullptr);
}

std::shared_ptr<Connection> tls_connection(tcp::socket socket, const std::shared_ptr<asio::ssl::context>& context,
                                           ConnectionPlace place) {
  using Tls = asio::ssl::stream<tcp::socket>;
  return std::make_shared<StreamConnection<Tls>>(Tls(std::move(socket), *context), std::move(place), context);
}

}  // namespace gantree::http
