#include "service/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>

#include "dialects/kueue/names.h"
#include "http/client.h"
#include "http/server.h"
#include "kube/credentials.h"
#include "kube/leader.h"
#include "kube/object_stream.h"
#include "kube/watches.h"
#include "service/inbox.h"
#include "service/leadership.h"
#include "service/loop.h"
#include "service/signal_watch.h"
#include "webhook/access.h"
#include "webhook/serving.h"

namespace gantree {

namespace {

// How long the loop may be silent before the process counts as ill.
constexpr std::chrono::seconds kLongestSilence{30};
// Of those who read health or metrics, at once; and how long each may take to ask and to take the answer.
constexpr std::size_t kMostReaders = 256;
constexpr std::chrono::milliseconds kPageTimeout{3'000};

std::string identity() {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

http::Response health(const Loop& loop) {
  return loop.silence() < kLongestSilence ? http::plain(200, "ok")
                                          : http::plain(503, "the scheduling loop does not move");
}

// What answers the API server's questions. All null where it asks none.
struct Answering {
  const webhook::Serving* webhooks = nullptr;
  const webhook::Access* access = nullptr;
};

// A replica that does not answer the API server's questions yet, or not all of them, is not ready.
http::Response readiness(const Loop& loop, const Answering& answering) {
  http::Response healthy = health(loop);
  if (healthy.status != 200) {
    return healthy;
  }
  if (!loop.synced()) {
    return http::plain(503, "the cluster's objects are still being listed");
  }
  if (answering.webhooks != nullptr && !answering.webhooks->ready()) {
    return http::plain(503, "the webhooks are not served yet");
  }
  if (answering.access != nullptr && !answering.access->self()) {
    return http::plain(503, "the API server has not told yet who we are");
  }
  return healthy;
}

// Health and readiness are answered at once; the metrics by the loop, which owns what they tell of.
http::Handler pages(Loop& loop, LoopMailbox& mailbox, const kube::Counters& reads, const kube::Counters& writes,
                    const Answering& answering) {
  return [&, answering](const http::IncomingRequest& request, http::Reply reply) {
    if (request.method != "GET" && request.method != "HEAD") {
      reply.send(http::method_not_allowed("GET, HEAD"));
    } else if (request.path == "/healthz") {
      reply.send(health(loop));
    } else if (request.path == "/readyz") {
      reply.send(readiness(loop, answering));
    } else if (request.path == "/metrics") {
      auto kept = std::make_shared<http::Reply>(std::move(reply));
      mailbox.post(Errand{[&, kept] {
        http::Response page;
        page.content_type = "text/plain; version=0.0.4; charset=utf-8";
        page.body = loop.metrics_page(reads, writes);
        kept->send(std::move(page));
      }});
    } else {
      reply.send(http::plain(404, "there are /healthz, /readyz and /metrics"));
    }
  };
}

http::Handler probe_pages(Loop& loop, const Answering& answering) {
  return [&loop, answering](const http::IncomingRequest& request, http::Reply reply) {
    if (request.method != "GET" && request.method != "HEAD") {
      reply.send(http::method_not_allowed("GET, HEAD"));
    } else if (request.path == "/healthz" || request.path == "/readyz") {
      reply.send(request.path == "/healthz" ? health(loop) : readiness(loop, answering));
    } else {
      reply.send(http::plain(404, "there are /healthz and /readyz"));
    }
  };
}

bool serves(const kube::Watches& watches, std::string_view group, std::string_view plural) {
  const std::vector<kube::WatchState> states = watches.states();
  return std::any_of(states.begin(), states.end(), [&](const kube::WatchState& state) {
    return state.served && state.synced && state.wanted.group == group && state.wanted.plural == plural;
  });
}

// By a list of one, since the right to list is there. Where it fails it is asked for again.
void read_again(kube::Client& reader, LoopMailbox& mailbox, const NamespaceBudget::Aside& aside) {
  const kube::ListOptions options{
      .label_selector = {}, .field_selector = "metadata.name=" + aside.name, .limit = 1, .continue_token = {}};
  reader.list_page(
      resource_of(aside.group, aside.version, aside.kind, true), aside.ns, options,
      [&mailbox, aside](kube::Reply reply) {
        if (!reply.ok()) {
          return;
        }
        reply.body.reserve(reply.body.size() + kube::kJsonPadding);
        kube::ObjectReader objects;
        static_cast<void>(objects.read_list(reply.body, [&](const kube::ObjectRef&, std::string_view json) {
          if (auto object = prune(aside.group, aside.version, aside.kind, json)) {
            mailbox.post(ObjectRead{std::move(*object)});
          }
        }));
      });
}

// Whoever writes events and holds the lease is known by one name.
template <class Options>
Options named(Options options, const std::string& self) {
  options.instance = self;
  return options;
}

std::chrono::milliseconds renew_deadline(const RunOptions& options) {
  return options.lease_duration * 7 / 10;
}

// What little it writes, for the webhooks, goes over HTTP/2 as its lists and watches do: where both versions began
// connections at once, libcurl 7.88 gave the answers of some requests to others.
kube::ClientOptions read_options() {
  kube::ClientOptions made;
  made.http2_for_writes = true;
  return made;
}

kube::ClientOptions write_options(const RunOptions& options) {
  kube::ClientOptions made;
  made.http2_for_writes = options.http2_for_writes;
  if (options.leader_elect) {
    // A write that was begun in the last moment of leading is given up before another replica may lead.
    made.timeout = options.lease_duration - renew_deadline(options);
  }
  return made;
}

// All parts of the process, in the order in which they come to be.
class Service {
 public:
  Service(const RunOptions& options, Log& log, const kube::Config& config,
          const std::shared_ptr<kube::Credentials>& credentials)
      : options_(options),
        log_(log),
        config_(config),
        read_transport_(kube::make_endpoint(config, credentials)),
        write_transport_(kube::make_endpoint(config, credentials)),
        reader_(read_transport_, credentials, read_options()),
        writer_(write_transport_, credentials, write_options(options)),
        loop_({.mailbox = mailbox_,
               .log = log,
               .writer = writer_,
               .synced = [this] { return watches_ && watches_->synced(); },
               .serves = [this](std::string_view group,
                                std::string_view plural) { return watches_ && serves(*watches_, group, plural); },
               .prove_fresh = [this](std::chrono::steady_clock::time_point since) { watches_->prove_fresh(since); },
               .stale = [this](std::chrono::steady_clock::time_point since) { return watches_->stale(since); },
               // Long enough for another that stands for election to take it.
               .step_aside = [this] { leader_->step_aside(options_.lease_duration); },
               .longest_hand_over = options.longest_hand_over,
               .read = [this](const NamespaceBudget::Aside& aside) { read_again(reader_, mailbox_, aside); },
               .namespace_memory = options.namespace_memory},
              named(options.scheduler, self_), named(options.queues, self_), !options.leader_elect) {}

  Result<> run() {
    serve_webhooks();  // the pages tell whether it does
    if (auto served = serve_pages(); !served) {
      return served;
    }
    if (auto stands = stand_for_election(); !stands) {
      return stands;
    }
    kube::ReflectorOptions watching;
    watching.catch_up = options_.catch_up;
    watching.notice_silence_of(options_.watch_silence);
    Inbox inbox(mailbox_, log_, loop_.scheduler().kinds(), watching);
    watches_ = std::make_unique<kube::Watches>(reader_, inbox.requests());
    log_.info("started",
              {{"version", GANTREE_VERSION}, {"server", config_.server}, {"as", config_.origin}, {"identity", self_}});
    end(loop_.run(options_.patience));
    return {};
  }

 private:
  [[nodiscard]] std::string name_space() const {
    if (!options_.ns.empty()) {
      return options_.ns;
    }
    return config_.token_file.starts_with(kube::kServiceAccountFolder) ? config_.default_namespace : "gantree-system";
  }

  Result<> serve_pages() {
    const Answering answering{.webhooks = webhooks_.get(), .access = access_.get()};
    auto all = pages(loop_, mailbox_, reader_.counters(), writer_.counters(), answering);
    if (auto served = serve(server_, options_.listen, std::move(all), "health and metrics"); !served) {
      return served;
    }
    return serve(probe_server_, options_.probe_listen, probe_pages(loop_, answering), "health for probes");
  }

  Result<> serve(std::unique_ptr<http::Server>& server, const std::string& listen, http::Handler handler,
                 std::string_view what) {
    if (listen.empty()) {
      return {};
    }
    http::ServerOptions serving;
    serving.listen = listen;
    serving.max_connections = kMostReaders;
    serving.header_timeout = kPageTimeout;
    serving.write_timeout = kPageTimeout;
    auto started = http::Server::start(std::move(serving), std::move(handler));
    if (!started) {
      return tl::unexpected(started.error());
    }
    server = std::move(*started);
    log_.info(fmt::format("serving {}", what), {{"port", std::to_string(server->port())}});
    return {};
  }

  Result<> stand_for_election() {
    if (!options_.leader_elect) {
      return {};
    }
    // The fence is asked on another thread, and only once the leader is there.
    writer_.set_fence([this] { return leader_ != nullptr && leader_->leading() ? term_.load() : 0; });
    kube::ElectionOptions election;
    election.name_space = name_space();
    election.name = options_.lease_name;
    election.identity = self_;
    election.lease_duration = options_.lease_duration;
    election.renew_deadline = renew_deadline(options_);
    election.retry_period = options_.lease_duration / 5;
    if (auto sound = kube::check(election); !sound) {
      return sound;
    }
    leader_ = std::make_unique<kube::Leader>(
        writer_, election, leader_handlers({.mailbox = mailbox_, .log = log_, .self = self_, .term = term_, .now = [] {
                                              return std::chrono::steady_clock::now();
                                            }}));
    return {};
  }

  void serve_webhooks() {
    if (options_.webhook_listen.empty()) {
      return;
    }
    // Every replica serves, so its client is the one without a fence.
    access_ = std::make_unique<webhook::Access>(reader_);
    webhooks_ = std::make_unique<webhook::Serving>(
        webhook::ServingOptions{.listen = options_.webhook_listen,
                                .folder = options_.webhook_folder,
                                .service = options_.webhook_service,
                                .ns = name_space()},
        &reader_,
        webhook::dialect_routes(
            {.defaults_in = [this](std::string_view ns) { return loop_.defaults_in(ns); },
             .self = [this] { return access_->self(); },
             .administers = [this](const webhook::Review& review) { return access_->administers(review); }}),
        webhook::ServingReports{.news = [this](const std::string& news) { log_.info(news); },
                                .trouble = [this](const std::string& trouble) { log_.warning(trouble); }});
  }

  // `clean`: no write is under way. Otherwise the lease runs out by itself: nobody else writes until then.
  void end(bool clean) {
    if (leader_ && clean) {
      leader_->resign(std::chrono::seconds(2));
    }
    if (webhooks_) {
      webhooks_->stop(std::chrono::seconds(2));
    }
    for (const auto* server : {&server_, &probe_server_}) {
      if (*server) {
        (*server)->stop(std::chrono::seconds(1));
      }
    }
    watches_.reset();
    leader_.reset();
    log_.info("stopped");
  }

  const RunOptions& options_;
  Log& log_;
  const kube::Config& config_;
  const std::string self_ = identity();
  LoopMailbox mailbox_;
  std::atomic<std::uint64_t> term_{0};
  const SignalWatch signals_{mailbox_};
  // Lists and watches do not share a thread or a connection with writes.
  http::Client read_transport_;
  http::Client write_transport_;
  kube::Client reader_;
  kube::Client writer_;
  std::unique_ptr<kube::Watches> watches_;
  Loop loop_;
  std::unique_ptr<webhook::Access> access_;
  std::unique_ptr<webhook::Serving> webhooks_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> probe_server_;
  std::unique_ptr<kube::Leader> leader_;
};

}  // namespace

Result<> run_service(const RunOptions& options, Log& log) {
  if (options.watch_silence < std::chrono::seconds(2)) {
    return invalid("a watch may be silent for two seconds at least");
  }
  auto config = kube::load_config(options.config, kube::process_environment());
  if (!config) {
    return tl::unexpected(config.error());
  }
  if (!options.act_as.empty()) {
    config->impersonation.emplace_back("Impersonate-User", options.act_as);
  }
  auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    return tl::unexpected(credentials.error());
  }
  return Service(options, log, *config, *credentials).run();
}

}  // namespace gantree
