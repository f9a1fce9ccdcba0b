#include "apiserver/front.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/person.h"
#include "apiserver/status.h"
#include "apiserver/token.h"

namespace gantree::apiserver {

namespace {

// What etcd lets kube-apiserver store, and some more.
constexpr std::size_t kLongestBody = std::size_t{3} << 20;
constexpr std::size_t kMostConnections = 4'096;
constexpr std::string_view kUser = "kubernetes-admin";

// Who shows a token that is the administrator's or signed by this server; whether it is still good is asked later, on
// the api thread. Nothing where it is none of ours.
struct Caller {
  std::string user;
  std::shared_ptr<const TokenOf> token = {};  // of a service account
};

std::optional<Caller> caller_of(const http::IncomingRequest& request, const std::string& secret) {
  static constexpr std::string_view kScheme = "Bearer ";
  const std::string_view header = request.header("authorization");
  if (!header.starts_with(kScheme)) {
    return std::nullopt;
  }
  const std::string_view shown = header.substr(kScheme.size());
  if (same_secret(shown, secret)) {
    return Caller{std::string(kUser)};
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto token = read_token(secret, shown, now.time_since_epoch().count());
  if (!token) {
    return std::nullopt;
  }
  std::string user = token->user();
  return Caller{std::move(user), std::make_shared<const TokenOf>(std::move(*token))};
}

http::Response to_response(const Failure& failure) {
  http::Response response;
  response.status = failure.code;
  response.content_type = "application/json";
  response.body = to_json(failure.status);
  if (failure.code == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  return response;
}

http::Response to_response(Answer answer) {
  http::Response response;
  response.status = answer.status;
  response.content_type = std::move(answer.content_type);
  response.headers = std::move(answer.headers);
  response.headers.emplace_back("Cache-Control", "no-cache, private");
  if (answer.status == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  // By this one clients know that the server looks after its load itself, and send as fast as they like.
  response.headers.emplace_back("X-Kubernetes-PF-FlowSchema-UID", "00000000-0000-4000-8000-000000000001");
  response.headers.emplace_back("X-Kubernetes-PF-PriorityLevel-UID", "00000000-0000-4000-8000-000000000002");
  response.rest = std::move(answer.body);
  return response;
}

// Frames around an object: {"type":"ADDED","object":...}.
Bytes frame(WatchEvent::Type type) {
  static const auto make = [](std::string_view name) {
    return std::make_shared<const std::string>(fmt::format("{{\"type\":\"{}\",\"object\":", name));
  };
  static const Bytes kAdded = make("ADDED");
  static const Bytes kModified = make("MODIFIED");
  static const Bytes kDeleted = make("DELETED");
  static const Bytes kBookmark = make("BOOKMARK");
  static const Bytes kError = make("ERROR");
  switch (type) {
    case WatchEvent::Type::kAdded:
      return kAdded;
    case WatchEvent::Type::kModified:
      return kModified;
    case WatchEvent::Type::kDeleted:
      return kDeleted;
    case WatchEvent::Type::kBookmark:
      return kBookmark;
    case WatchEvent::Type::kError:
      break;
  }
  return kError;
}

// A watch that leads to a client. Api thread, but for the construction.
class HttpSink final : public WatchSink {
 public:
  void open(std::shared_ptr<http::Outflow> flow) { flow_ = std::move(flow); }

  bool events(std::span<const WatchEvent> events, bool initial) override {
    static const Bytes kEnd = std::make_shared<const std::string>("}\n");
    if (flow_ == nullptr) {
      return false;
    }
    std::vector<Bytes> pieces;
    pieces.reserve(events.size() * 3);
    for (const WatchEvent& event : events) {
      pieces.push_back(frame(event.type));
      pieces.push_back(event.object);
      pieces.push_back(kEnd);
    }
    return flow_->send(std::move(pieces), initial ? http::Outflow::Patience::kAny : http::Outflow::Patience::kBounded);
  }
  void ended() override {
    if (flow_ != nullptr) {
      flow_->end();
    }
  }

 private:
  std::shared_ptr<http::Outflow> flow_;
};

bool is_watch(std::string_view query) {
  return query.find("watch=") != std::string_view::npos;
}

Call to_call(http::IncomingRequest request, Caller caller, std::shared_ptr<const Person> as) {
  Call call;
  call.user = std::move(caller.user);
  call.token = std::move(caller.token);
  call.trusted = call.user == kUser;
  call.as = std::move(as);
  call.agent = request.header("user-agent");
  call.content_type = request.header("content-type");
  call.accept = request.header("accept");
  call.method = std::move(request.method);
  call.path = std::move(request.path);
  call.query = std::move(request.query);
  call.body = std::move(request.body);
  return call;
}

void answer(Api& api, http::IncomingRequest request, Caller caller, http::Reply reply) {
  auto as = person_in(request.headers);
  if (!as) {
    reply.send(to_response(as.error()));
    return;
  }
  Call call = to_call(std::move(request), std::move(caller), std::move(*as));
  std::shared_ptr<HttpSink> sink;
  if (is_watch(call.query)) {
    sink = std::make_shared<HttpSink>();
    call.sink = sink;
  }
  auto kept = std::make_shared<http::Reply>(std::move(reply));
  api.call(std::move(call), [&api, kept, sink](Answer given) {
    if (!given.streaming) {
      kept->send(to_response(std::move(given)));
      return;
    }
    std::weak_ptr<HttpSink> watching = sink;
    sink->open(kept->stream(to_response(std::move(given)), [&api, watching] {
      if (auto gone = watching.lock()) {
        api.forget(std::move(gone));
      }
    }));
  });
}

}  // namespace

Result<std::unique_ptr<Front>> Front::start(FrontOptions options, Api& api) {
  http::ServerOptions server;
  server.listen = options.listen;
  server.tls = options.tls;
  server.limits.body_bytes = kLongestBody;
  server.max_connections = kMostConnections;
  server.admits = [token = options.token](const http::IncomingRequest& head) {
    return caller_of(head, token).has_value();
  };
  server.refusal = [token = options.token](const http::IncomingRequest& request, int status, std::string_view what) {
    if (!caller_of(request, token)) {
      return to_response(unauthorized());
    }
    return to_response(status == 413 ? failure(413, "RequestEntityTooLarge",
                                               fmt::format("Request entity too large: limit is {}", kLongestBody))
                                     : failure(status, "BadRequest", what));
  };
  auto started = http::Server::start(std::move(server),
                                     [&api, token = options.token](http::IncomingRequest request, http::Reply reply) {
                                       auto caller = caller_of(request, token);
                                       if (!caller) {
                                         reply.send(to_response(unauthorized()));
                                         return;
                                       }
                                       answer(api, std::move(request), std::move(*caller), std::move(reply));
                                     });
  if (!started) {
    return tl::unexpected(started.error());
  }
  return std::unique_ptr<Front>(new Front(std::move(*started)));
}

}  // namespace gantree::apiserver
