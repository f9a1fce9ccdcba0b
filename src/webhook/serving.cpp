#include "webhook/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <utility>

#include "base/check.h"
#include "kueue/conversion.h"
#include "webhook/certificate.h"
#include "webhook/cluster_store.h"

namespace gantree::webhook {

namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && !file.eof()) {
    return fail(Errc::kIo, fmt::format("{}: cannot be read", path));
  }
  if (text.empty() || text.size() > kLongestFile) {
    return fail(Errc::kIo, fmt::format("{}: {}", path, text.empty() ? "is missing or empty" : "is too large"));
  }
  return text;
}

WallTime wall_clock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// Waits, unless told to stop, for half to all of the time: replicas do not act in step.
void pause(std::chrono::milliseconds time, const std::stop_token& stop, std::mt19937& random) {
  std::uniform_int_distribution<std::int64_t> part(time.count() / 2, time.count());
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::milliseconds(part(random)), [] { return false; });
}

bool same(const http::ServerTls& a, const http::ServerTls& b) {
  return a.certificate_chain == b.certificate_chain && a.private_key == b.private_key;
}

// The host of "host:port", where that is one address: those who call us by it must find it in the certificate.
std::string host_of(std::string_view listen) {
  std::string_view host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return host == "*" || host == "::" || host == "0.0.0.0" ? std::string() : std::string(host);
}

}  // namespace

Result<http::ServerTls> read_folder(const std::string& folder) {
  auto certificate = read_file(folder + "/tls.crt");
  if (!certificate) {
    return tl::unexpected(certificate.error());
  }
  auto key = read_file(folder + "/tls.key");
  if (!key) {
    return tl::unexpected(key.error());
  }
  if (!belong_together({*certificate, *key})) {
    return invalid(fmt::format("{}: tls.crt and tls.key do not belong together", folder));
  }
  return http::ServerTls{.certificate_chain = std::move(*certificate), .private_key = std::move(*key)};
}

Serving::Serving(ServingOptions options, kube::Client* client, Routes routes, ServingReports reports)
    : options_(std::move(options)), client_(client), routes_(std::move(routes)), reports_(std::move(reports)) {
  GANTREE_CHECK(client_ != nullptr || !options_.folder.empty());
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Serving::~Serving() {
  stop(std::chrono::milliseconds(0));
}

void Serving::stop(std::chrono::milliseconds grace) {
  thread_.request_stop();
  if (thread_.joinable()) {
    thread_.join();
  }
  if (server_ != nullptr) {
    server_->stop(grace);
  }
  port_ = 0;
}

void Serving::run(const std::stop_token& stop) {
  std::mt19937 random(std::random_device{}());
  std::chrono::milliseconds after_trouble = options_.first_pause;
  while (!stop.stop_requested()) {
    const auto tls = look(stop);
    if (tls) {
      serve(*tls);
    } else if (!stop.stop_requested()) {
      reports_.trouble(tls.error().message);
    }
    const bool well = tls && server_ != nullptr;
    after_trouble = well ? options_.first_pause : std::min(after_trouble * 2, options_.interval);
    pause(well ? options_.interval : after_trouble, stop, random);
  }
}

void Serving::serve(const http::ServerTls& tls) {
  if (server_ != nullptr && same(tls, served_)) {
    return;
  }
  if (server_ == nullptr) {
    auto server = Server::start(options_.listen, tls, routes_);
    if (!server) {
      reports_.trouble(server.error().message);
      return;
    }
    server_ = std::move(*server);
    port_ = server_->port();
    reports_.news(fmt::format("webhooks are served on port {}", server_->port()));
  } else {
    if (auto set = server_->set_tls(tls); !set) {
      reports_.trouble(set.error().message);
      return;
    }
    reports_.news("webhooks are served with another certificate from now on");
  }
  served_ = tls;
}

Result<http::ServerTls> Serving::look(const std::stop_token& stop) {
  return options_.folder.empty() ? own_certificate(stop) : read_folder(options_.folder);
}

Result<http::ServerTls> Serving::own_certificate(const std::stop_token& stop) {
  ClusterStore store(*client_, {.name_space = options_.ns, .name = options_.service}, stop);
  KeeperOptions keeper{.names = service_names(options_.service, options_.ns),
                       .configurations = {{ConfigurationKind::kValidating, options_.service},
                                          {ConfigurationKind::kMutating, options_.service}}};
  for (const std::string_view definition : kueue::converted_definitions()) {
    keeper.configurations.push_back({ConfigurationKind::kConversion, std::string(definition)});
  }
  if (std::string host = host_of(options_.listen); !host.empty()) {
    keeper.names.push_back(std::move(host));
  }
  auto kept = keep_certificate(store, keeper, wall_clock());
  if (!kept) {
    return tl::unexpected(kept.error());
  }
  if (!kept->missing.empty() && !told_missing_) {
    reports_.trouble(
        fmt::format("there is no {}: the API server will not ask all that it should", kept->missing.front()));
  }
  told_missing_ = !kept->missing.empty();
  return http::ServerTls{.certificate_chain = std::move(kept->serving.certificate),
                         .private_key = std::move(kept->serving.key)};
}

}  // namespace gantree::webhook
