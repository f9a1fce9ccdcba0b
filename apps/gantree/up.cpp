// gantree up: a whole cluster on this machine.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/front.h"
#include "base/whole_number.h"
#include "cluster_access.h"
#include "commands.h"
#include "connection.h"
#include "controllers/runner.h"
#include "controllers/shapes.h"
#include "install/apply.h"
#include "install/manifest.h"
#include "output.h"
#include "queue_options.h"
#include "service/run.h"
#include "up_data.h"
#include "up_nodes.h"
#include "up_webhooks.h"

namespace gantree {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::string_view kWebhookService = "gantree-webhook";
constexpr std::string_view kAccount = "gantree";

struct UpFlags {
  std::string data;
  bool in_memory = false;
  bool no_scheduler = false;
  bool no_sync = false;
  std::string listen = "127.0.0.1:16443";
  std::string nodes;
  std::string generate;
  controllers::Options pace;
  RunOptions run;
  std::string log_level = "warning";
};

std::string host_of(const std::string& listen) {
  std::string host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  return host.empty() || host == "*" || host == "0.0.0.0" ? "127.0.0.1" : host;
}

// Endpoints are addresses, never names.
std::string address_of(const std::string& host) {
  in6_addr ignored = {};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1
             ? host
             : "127.0.0.1";
}

// For CLI11: what is wrong with the text, or "". "60x" is made 60.
std::string read_speed(std::string& text) {
  const std::string number = text.ends_with('x') ? text.substr(0, text.size() - 1) : text;
  double speed = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), speed);
  if (error != std::errc() || end != number.data() + number.size() || !(speed >= 0.01 && speed <= 100'000)) {
    return fmt::format("\"{}\" is no speed such as 1, 60x or 0.5, of 0.01 to 100000", text);
  }
  text = number;
  return {};
}

std::string check_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(text.substr(colon + 1), 0);
  return port && *port <= 65'535 ? std::string()
                                 : fmt::format("\"{}\" is no address such as 127.0.0.1:16443 or :0", text);
}

// A port of this machine that nobody uses now.
Result<int> free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool found = socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (socket >= 0) {
    ::close(socket);
  }
  if (!found) {
    return fail(Errc::kIo, "no free port was found on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

// What `gantree install` would put there, but for the scheduler's own pods: it runs in this process.
Result<> install_into(apiserver::Api& api, const kube::ConfigRequest& config, const InstallOptions& options) {
  auto objects = manifest(options);
  if (!objects) {
    return tl::unexpected(objects.error());
  }
  std::erase_if(*objects, [](const ManifestObject& object) {
    return object.kind == "Deployment" || object.kind == "PodDisruptionBudget" || object.kind == "NetworkPolicy";
  });
  const auto cluster = open_cluster(config);
  if (!cluster) {
    return tl::unexpected(cluster.error());
  }
  std::vector<ManifestObject> made;
  auto applied =
      apply(*cluster->client, *objects, kPatience, [&](const ManifestObject& object, const std::string& how) {
        if (is_webhook_configuration(object) && how == "created") {
          made.push_back(object);
        }
      });
  return applied ? own_webhooks(api, made) : applied;
}

// Until SIGTERM or SIGINT, which must be blocked.
void wait_for_signal(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
}

void greet(apiserver::Api& api, const std::string& kubeconfig, const std::string& server, bool scheduler) {
  fmt::print(
      "The cluster is up at {}{}.\n\n  export KUBECONFIG={}\n  kubectl get nodes\n\n{}Ctrl-C ends it.\n", server,
      scheduler ? "" : ", without a scheduler", kubeconfig,
      has_nodes(api) ? "" : "It has no nodes yet: end it and give it some, as with gantree up --generate demo.\n");
  std::fflush(stdout);
}

// What the user asks nodes to be made from: "--generate demo".
std::string wanted_nodes(const UpFlags& flags) {
  std::string text = flags.nodes.empty() ? "" : fmt::format("--nodes {}", flags.nodes);
  if (!flags.generate.empty()) {
    text += fmt::format("{}--generate {}", text.empty() ? "" : " ", flags.generate);
  }
  return text;
}

// The nodes that the user asks for. Those of a folder that was filled before stay as they are, without those that were
// removed since.
Result<> fill(apiserver::Api& api, UpFlags& flags) {
  const std::string wanted = wanted_nodes(flags);
  if (wanted.empty()) {
    return {};
  }
  if (const std::string made = read_mark(api, kNodesMark); !made.empty()) {
    if (made != wanted) {
      tell(fmt::format(
          "the cluster has its nodes already, of {}: {} is passed over. gantree node add adds hosts, --data "
          "FOLDER makes another cluster",
          made, wanted));
      flags.generate.clear();
    }
    return {};
  }
  if (!flags.nodes.empty()) {
    if (auto added = add_nodes_of_file(api, flags.nodes); !added) {
      return added;
    }
  }
  if (!flags.generate.empty()) {
    if (auto added = add_generated_nodes(api, flags.generate); !added) {
      return added;
    }
  }
  return set_mark(api, kNodesMark, wanted);
}

// The network of generated nodes, once.
Result<> fill_network(apiserver::Api& api, const UpFlags& flags, const std::stop_token& stop) {
  if (flags.generate.empty() || !read_mark(api, kNetworkMark).empty()) {
    return {};
  }
  if (auto added = add_topologies(api, flags.generate, stop); !added) {
    return added;
  }
  return set_mark(api, kNetworkMark, flags.generate);
}

// The scheduler, installed as in any cluster and run in this process, until it is told to end.
Result<> schedule(apiserver::Api& api, UpFlags& flags, DataFolder& folder, const std::string& server, Log& log) {
  const auto port = free_port();
  if (!port) {
    return tl::unexpected(port.error());
  }
  flags.run.webhook_listen = fmt::format("127.0.0.1:{}", *port);
  InstallOptions install;
  install.default_queues = true;
  // As in any cluster it has an account of its own: with the user's it would have all rights, and its webhooks could
  // not tell what it changes from what the user does.
  flags.run.act_as = fmt::format("system:serviceaccount:{}:{}", install.ns, kAccount);
  api.set_service(fmt::format("{}/{}", install.ns, kWebhookService), flags.run.webhook_listen);
  if (auto installed = install_into(api, flags.run.config, install); !installed) {
    return installed;
  }
  if (auto filled = fill(api, flags); !filled) {
    return filled;
  }
  folder.keep();
  // What the webhooks have to judge can be made only when they are served, which run_service() sees to.
  const std::jthread rest([&](const std::stop_token& stop) {
    if (auto added = fill_network(api, flags, stop); !added && !stop.stop_requested()) {
      log.warning(added.error().message);
    }
    greet(api, flags.run.config.kubeconfig, server, true);
  });
  return run_service(flags.run, log);
}

// The signals that end it, blocked. Requires: there is no other thread yet, so that all of them inherit it.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

Result<> serve(UpFlags flags) {
  const sigset_t signals = block_signals();
  const bool passing = flags.in_memory && flags.data.empty();
  const auto folder = DataFolder::open(passing ? "" : flags.data.empty() ? default_data_folder() : flags.data);
  if (!folder) {
    return tl::unexpected(folder.error());
  }
  const std::string host = host_of(flags.listen);
  const auto token = (*folder)->token();
  const auto certificate = (*folder)->certificate(host);
  if (!token || !certificate) {
    return tl::unexpected(!token ? token.error() : certificate.error());
  }
  Log log(stderr, flags.log_level == "info" ? LogLevel::kInfo : LogLevel::kWarning, LogFormat::kText);
  apiserver::ApiOptions options;
  options.file = flags.in_memory ? std::string() : (*folder)->file("cluster.db");
  options.sync = !flags.no_sync;
  options.secret = *token;
  options.trouble = [&log](const std::string& what) { log.warning(what); };
  const auto api = apiserver::Api::start(std::move(options));
  if (!api) {
    return tl::unexpected(api.error());
  }
  const auto front = apiserver::Front::start({.listen = flags.listen, .tls = certificate->tls, .token = *token}, **api);
  if (!front) {
    return fail(Errc::kIo, fmt::format("{}; choose another address with --listen, as in --listen 127.0.0.1:0",
                                       front.error().message));
  }
  (*api)->announce(address_of(host), (*front)->port(), certificate->authority);
  const bool is_v6 = host.find(':') != std::string::npos;
  const std::string server =
      fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", (*front)->port());
  const auto kubeconfig = (*folder)->write_kubeconfig(server, certificate->authority, *token);
  if (!kubeconfig) {
    return tl::unexpected(kubeconfig.error());
  }
  if (auto added = add_workload_kinds(**api); !added) {
    return added;
  }
  const auto controllers =
      std::make_unique<controllers::Runner>(**api, flags.pace, [&log](const std::string& what) { log.warning(what); });
  flags.run.config.kubeconfig = *kubeconfig;
  if (flags.no_scheduler) {
    if (auto forgotten = forget_webhooks(**api); !forgotten) {
      return forgotten;
    }
    if (auto filled = fill(**api, flags); !filled) {
      return filled;
    }
    (*folder)->keep();
    greet(**api, *kubeconfig, server, false);
    wait_for_signal(signals);
  } else {
    if (auto ran = schedule(**api, flags, **folder, server, log); !ran) {
      return ran;
    }
  }
  (*front)->stop(std::chrono::seconds(1));
  return {};
}

}  // namespace

void add_up(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<UpFlags>();
  flags->run.leader_elect = false;
  flags->run.listen = "";
  CLI::App* command =
      app.add_subcommand("up", "Run a whole cluster on this machine, for kubectl and every other client");
  command->add_option("--data", flags->data, "Where the cluster is kept; below XDG_DATA_HOME, else ./.gantree")
      ->type_name("FOLDER");
  command->add_flag("--in-memory", flags->in_memory, "Keep nothing: the cluster ends with the process");
  command->add_flag("--no-sync", flags->no_sync,
                    "Do not wait for the disk: what is answered outlives the process, but not a crash of the machine");
  command->add_option("--listen", flags->listen, "Where the API is served; port 0 stands for any free one")
      ->check(CLI::Validator(check_address, ""))
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command->add_option("--nodes", flags->nodes, "The Nodes of this file, a dump of a real cluster for example")
      ->type_name("FILE");
  command
      ->add_option("--generate", flags->generate,
                   "Made-up nodes, as in blocks=4,racks=8,hosts=16,gpus=8, or a preset: see below")
      ->type_name("SHAPE");
  command->add_option("--speed", flags->pace.speed, "How many times faster than real the simulated pods and nodes are")
      ->transform(CLI::Validator(read_speed, ""))
      ->type_name("N")
      ->capture_default_str();
  add_duration(*command, "--start-delay", flags->pace.start_delay,
               "From a pod's binding to its running, before --speed");
  command->add_flag("--no-scheduler", flags->no_scheduler, "The cluster without the scheduler");
  command
      ->add_option("--scheduler-names", flags->run.scheduler.schedulers,
                   "Pods whose schedulerName is one of these are placed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME,...");
  add_queue_options(*command, flags->run.queues);
  command->add_option("--log-level", flags->log_level, "The least that is logged")
      ->check(CLI::IsMember({"info", "warning"}))
      ->type_name("LEVEL")
      ->capture_default_str();
  command->footer(
      controllers::presets_text() +
      "\nPrints where the kubeconfig is. SIGTERM or Ctrl-C ends it in order; kill -9 loses nothing that was "
      "acknowledged.");
  command->callback([&run, flags] {
    run = [flags] {
      if (auto served = serve(*flags); !served) {
        tell(served.error().message);
        return static_cast<int>(kBadInput);
      }
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace gantree
