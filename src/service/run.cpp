#include "service/run.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "dialects/kueue/names.h"
#include "http/client.h"
#include "http/server.h"
#include "kube/credentials.h"
#include "kube/leader.h"
#include "kube/watches.h"
#include "service/inbox.h"
#include "service/loop.h"
#include "webhook/serving.h"

namespace gantree {

namespace {

// How long the loop may be silent before the process counts as ill.
constexpr std::chrono::seconds kLongestSilence{30};

// Waits for the signals that end the process, so that no handler has to run anywhere else.
class SignalWatch {
 public:
  explicit SignalWatch(LoopMailbox& mailbox) {
    sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
      sigaddset(&signals_, signal);
    }
    // Threads that are started later inherit it.
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this, &mailbox] {
      int signal = 0;
      while (sigwait(&signals_, &signal) == 0 && !ending_) {
        if (signal == SIGUSR1) {
          continue;  // somebody else's
        }
        if (asked_) {
          std::_Exit(1);  // asked twice: at once
        }
        asked_ = true;
        mailbox.post(Stop{});
      }
    });
  }
  ~SignalWatch() {
    ending_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  sigset_t signals_ = {};
  sigset_t before_ = {};
  bool asked_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

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

http::Response readiness(const Loop& loop) {
  const http::Response healthy = health(loop);
  if (healthy.status != 200 || loop.synced()) {
    return healthy;
  }
  return http::plain(503, "the cluster's objects are still being listed");
}

// Health and readiness are answered at once; the metrics by the loop, which owns what they tell of.
http::Handler pages(Loop& loop, LoopMailbox& mailbox, const kube::Counters& reads, const kube::Counters& writes) {
  return [&](const http::IncomingRequest& request, http::Reply reply) {
    if (request.method != "GET" && request.method != "HEAD") {
      reply.send(http::method_not_allowed("GET, HEAD"));
    } else if (request.path == "/healthz") {
      reply.send(health(loop));
    } else if (request.path == "/readyz") {
      reply.send(readiness(loop));
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

kube::LeaderHandlers leader_handlers(LoopMailbox& mailbox, Log& log, const std::string& self) {
  auto others = std::make_shared<std::atomic<bool>>(false);
  return {.started =
              [&, others] {
                log.info("leading");
                mailbox.post(LeadershipChanged{.leading = true, .after_another = *others});
              },
          .stopped =
              [&] {
                log.warning("no longer leading");
                mailbox.post(LeadershipChanged{.leading = false, .after_another = false});
              },
          .changed =
              [&log, self, others](const std::string& holder) {
                if (holder != self && !holder.empty()) {
                  *others = true;
                  log.info("another leads", {{"holder", holder}});
                }
              },
          .failed =
              [&log, failures = std::make_shared<std::atomic<unsigned>>(0)](const std::string& what) {
                // The first one is worth a line, and then ever fewer.
                const unsigned count = ++*failures;
                if ((count & (count - 1)) == 0) {
                  log.warning(
                      "the lease cannot be had, so this process does not work; gantree doctor tells what is missing",
                      {{"what", what}, {"failures", std::to_string(count)}});
                }
              }};
}

bool serves_workloads(const kube::Watches& watches) {
  const std::vector<kube::WatchState> states = watches.states();
  return std::any_of(states.begin(), states.end(), [](const kube::WatchState& state) {
    return state.served && state.synced && state.wanted.group == kueue::kGroup && state.wanted.plural == "workloads";
  });
}

}  // namespace

Result<> run_service(const RunOptions& options, Log& log) {
  const auto config = kube::load_config(options.config, kube::process_environment());
  if (!config) {
    return tl::unexpected(config.error());
  }
  auto credentials = kube::make_credentials(*config);
  if (!credentials) {
    return tl::unexpected(credentials.error());
  }
  const std::string self = identity();
  const bool in_pod = config->token_file.starts_with(kube::kServiceAccountFolder);
  const std::string ns = !options.ns.empty() ? options.ns : in_pod ? config->default_namespace : "gantree-system";
  SchedulerOptions scheduler = options.scheduler;
  scheduler.instance = self;
  kueue::ControllerOptions queues = options.queues;
  queues.instance = self;

  LoopMailbox mailbox;
  const SignalWatch signals(mailbox);
  // Lists and watches do not share a thread or a connection with writes.
  http::Client read_transport(kube::make_endpoint(*config, *credentials));
  http::Client write_transport(kube::make_endpoint(*config, *credentials));
  kube::Client reader(read_transport, *credentials);
  kube::ClientOptions write_options;
  write_options.http2_for_writes = options.http2_for_writes;
  const auto renew_deadline = options.lease_duration * 7 / 10;
  if (options.leader_elect) {
    // A write that was begun in the last moment of leading is given up before another replica may lead.
    write_options.timeout = options.lease_duration - renew_deadline;
  }
  kube::Client writer(write_transport, *credentials, write_options);

  std::unique_ptr<kube::Watches> watches;
  Loop loop({.mailbox = mailbox,
             .log = log,
             .writer = writer,
             .synced = [&] { return watches && watches->synced(); },
             .serves_workloads = [&] { return watches && serves_workloads(*watches); }},
            scheduler, queues, !options.leader_elect);

  std::unique_ptr<http::Server> server;
  if (!options.listen.empty()) {
    auto started =
        http::Server::start({.listen = options.listen}, pages(loop, mailbox, reader.counters(), writer.counters()));
    if (!started) {
      return tl::unexpected(started.error());
    }
    server = std::move(*started);
    log.info("serving health and metrics", {{"port", std::to_string(server->port())}});
  }

  std::unique_ptr<kube::Leader> leader;
  if (options.leader_elect) {
    // The fence is asked on another thread, and only once the leader is there.
    writer.set_fence([&leader] { return leader != nullptr && leader->leading(); });
    kube::ElectionOptions election;
    election.name_space = ns;
    election.name = options.lease_name;
    election.identity = self;
    election.lease_duration = options.lease_duration;
    election.renew_deadline = renew_deadline;
    election.retry_period = options.lease_duration / 5;
    if (auto sound = kube::check(election); !sound) {
      return tl::unexpected(sound.error());
    }
    leader = std::make_unique<kube::Leader>(writer, election, leader_handlers(mailbox, log, self));
  }

  std::unique_ptr<webhook::Serving> webhooks;
  if (!options.webhook_listen.empty()) {
    // Every replica serves, so its client is the one without a fence.
    webhooks = std::make_unique<webhook::Serving>(
        webhook::ServingOptions{.listen = options.webhook_listen,
                                .folder = options.webhook_folder,
                                .service = options.webhook_service,
                                .ns = ns},
        &reader, webhook::dialect_routes(),
        webhook::ServingReports{.news = [&log](const std::string& news) { log.info(news); },
                                .trouble = [&log](const std::string& trouble) { log.warning(trouble); }});
  }

  Inbox inbox(mailbox, log, loop.kinds());
  watches = std::make_unique<kube::Watches>(reader, inbox.requests());
  log.info("started",
           {{"version", GANTREE_VERSION}, {"server", config->server}, {"as", config->origin}, {"identity", self}});
  const bool clean = loop.run(options.patience);
  // Where a write is still under way the lease runs out by itself: nobody else writes until then.
  if (leader && clean) {
    leader->resign(std::chrono::seconds(2));
  }
  if (webhooks) {
    webhooks->stop(std::chrono::seconds(2));
  }
  if (server) {
    server->stop(std::chrono::seconds(1));
  }
  watches.reset();
  leader.reset();
  log.info("stopped");
  return {};
}

}  // namespace gantree
