#include "apiserver/webhook_caller.h"

#include <fmt/format.h>

#include "apiserver/core.h"
#include "apiserver/service_address.h"
#include "base/base64.h"
#include "http/client.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr std::string_view kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr std::size_t kLongestAnswer = std::size_t{8} << 20;
constexpr std::chrono::minutes kIdle{5};
constexpr std::int64_t kUsualPort = 443;

Hooks read_hooks(const Core& core, std::string_view name) {
  Hooks hooks;
  if (const Table* table = core.store.find_table(name)) {
    for (const auto& [key, entry] : table->entries) {
      const auto object = core.read(name, key);
      const Array* list = object ? array_at(*object, {"webhooks"}) : nullptr;
      if (list != nullptr) {
        for (const Value& value : *list) {
          hooks.push_back(read_hook(value));
        }
      }
    }
  }
  return hooks;
}

}  // namespace

WebhookCaller::WebhookCaller(Core& core) : core_(core) {}
WebhookCaller::~WebhookCaller() = default;

void WebhookCaller::close() {
  peers_.clear();
}

void WebhookCaller::drop_idle(std::chrono::steady_clock::time_point now) {
  std::erase_if(peers_, [&](const auto& peer) { return peer.second.under_way == 0 && now - peer.second.used > kIdle; });
}

const Hooks& WebhookCaller::mutating() {
  if (!mutating_) {
    mutating_ = read_hooks(core_, kMutating);
  }
  return *mutating_;
}

const Hooks& WebhookCaller::validating() {
  if (!validating_) {
    validating_ = read_hooks(core_, kValidating);
  }
  return *validating_;
}

void WebhookCaller::changed(std::string_view table) {
  if (table == kMutating) {
    mutating_.reset();
  } else if (table == kValidating) {
    validating_.reset();
  }
}

Result<WebhookCaller::Target> WebhookCaller::target_of(const Object& client) const {
  Target target;
  target.authority = from_base64(text_at(client, {"caBundle"})).value_or("");
  if (const std::string_view url = text_at(client, {"url"}); !url.empty()) {
    const std::size_t host = url.find("://");
    const std::size_t path = host == std::string_view::npos ? host : url.find('/', host + 3);
    target.base = url.substr(0, path);
    target.path = path == std::string_view::npos ? "/" : std::string(url.substr(path));
    return target;
  }
  const Object* service = object_at(client, {"service"});
  if (service == nullptr) {
    return invalid("the webhook has neither a url nor a service");
  }
  const std::string name(text_at(*service, {"name"}));
  const std::string ns(text_at(*service, {"namespace"}));
  const Value* port = find(*service, {"port"});
  const auto address =
      address_of_service(core_, {ns, name}, port != nullptr && port->is_int64() ? port->get_int64() : kUsualPort);
  if (!address) {
    return tl::unexpected(address.error());
  }
  target.base = "https://" + *address;
  const std::string_view path = text_at(*service, {"path"});
  target.path = path.empty() ? "/" : std::string(path);
  target.server_name = fmt::format("{}.{}.svc", name, ns);
  return target;
}

WebhookCaller::Peer& WebhookCaller::peer_for(const Target& target) {
  Peer& peer = peers_[fmt::format("{}\n{}\n{}", target.base, target.server_name, target.authority)];
  if (peer.client == nullptr) {
    http::Endpoint endpoint;
    endpoint.base_url = target.base;
    endpoint.ca_pem = target.authority;
    endpoint.server_name = target.server_name;
    endpoint.compressed = false;
    endpoint.user_agent = "kube-apiserver-admission";
    peer.client = std::make_unique<http::Client>(std::move(endpoint));
  }
  return peer;
}

Task<Result<Value>> WebhookCaller::call(Object client, std::string body, std::chrono::milliseconds timeout) {
  const auto target = target_of(client);
  if (!target) {
    co_return Result<Value>(tl::unexpected(target.error()));
  }
  http::Request request;
  request.method = http::Method::kPost;
  request.target = target->path;
  request.headers.push_back({"Content-Type", "application/json"});
  request.headers.push_back({"Accept", "application/json"});
  request.body = std::move(body);
  request.timeout = timeout;
  request.max_body = kLongestAnswer;
  request.http2 = false;
  Peer& peer = peer_for(*target);
  ++peer.under_way;
  Later<http::Outcome> later([this, &peer, &request](const std::function<void(http::Outcome)>& done) {
    peer.client->send(std::move(request), [this, done](http::Outcome outcome) {
      core_.post([done, outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
    });
  });
  const http::Outcome outcome = co_await later;
  --peer.under_way;
  peer.used = std::chrono::steady_clock::now();
  if (outcome.kind != http::Outcome::Kind::kReply) {
    co_return Result<Value>(fail(Errc::kIo, fmt::format("failed to call webhook: Post \"{}{}\": {}", target->base,
                                                        target->path, outcome.error)));
  }
  if (outcome.status != 200) {
    co_return Result<Value>(fail(
        Errc::kIo, fmt::format("failed to call webhook: the server answered {}: {}", outcome.status, outcome.body)));
  }
  co_return parse_json(outcome.body);
}

}  // namespace gantree::apiserver
