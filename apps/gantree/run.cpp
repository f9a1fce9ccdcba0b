// gantree run: the scheduler in a real cluster.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "commands.h"
#include "connection.h"
#include "output.h"
#include "queue_options.h"
#include "service/run.h"

namespace gantree {

namespace {

struct RunFlags {
  RunOptions run;
  std::string log_level = "info";
  std::string log_format = "text";
};

LogLevel level_of(const std::string& name) {
  static const std::map<std::string, LogLevel> kLevels = {{"debug", LogLevel::kDebug},
                                                          {"info", LogLevel::kInfo},
                                                          {"warning", LogLevel::kWarning},
                                                          {"error", LogLevel::kError}};
  return kLevels.at(name);
}

int serve(const RunFlags& flags) {
  Log log(stderr, level_of(flags.log_level), flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  if (auto ran = run_service(flags.run, log); !ran) {
    log.error(ran.error().message);
    return kBadInput;
  }
  return kDone;
}

void add_election_options(CLI::App& command, RunOptions& run) {
  command
      .add_option("--leader-elect", run.leader_elect,
                  "Work only while holding the lease, so that several replicas may run")
      ->type_name("BOOL")
      ->capture_default_str();
  command
      .add_option("--namespace", run.ns,
                  "Where the lease and the webhook's Secret are; that of the pod, else gantree-system")
      ->type_name("NS");
  command.add_option("--lease-name", run.lease_name, "The lease")->type_name("NAME")->capture_default_str();
  add_duration(command, "--lease-duration", run.lease_duration, "How long the lease outlives a leader that is gone");
}

void add_watch_options(CLI::App& command, RunOptions& run) {
  add_duration(command, "--watch-silence", run.watch_silence,
               "A watch on which nothing comes for so long is taken for dead, and resumed on a new connection");
  add_duration(command, "--catch-up", run.catch_up,
               "How long a watch of many objects may take to be shown to be as fresh as the lease before it is listed "
               "anew");
  add_duration(command, "--hand-over-limit", run.longest_hand_over,
               "How long all of that may take before the lease is given to another replica; twice as long each time in "
               "a row");
}

// Less than that would set aside what anybody has.
constexpr std::size_t kLeastMebibytes = 16;

void add_memory_option(CLI::App& command, RunOptions& run) {
  command
      .add_option_function<std::size_t>(
          "--namespace-memory", [&run](std::size_t mebibytes) { run.namespace_memory = mebibytes << 20U; },
          "How many MiB what waits in one namespace may take; what is beyond it waits until there is room, and is "
          "told. "
          "0: no limit")
      ->check(CLI::Validator(
          [](const std::string& text) {
            std::size_t mebibytes = 0;
            const bool good =
                CLI::detail::lexical_cast(text, mebibytes) &&
                (mebibytes == 0 || (mebibytes >= kLeastMebibytes && mebibytes <= (std::size_t{1} << 20U)));
            return good ? std::string() : fmt::format("must be 0, or from {} to 1048576", kLeastMebibytes);
          },
          ""))
      ->type_name("MIB")
      ->default_str(std::to_string(kNamespaceMemory >> 20U));
}

void add_webhook_options(CLI::App& command, RunOptions& run) {
  command
      .add_option("--webhook-listen", run.webhook_listen,
                  "Where admission webhooks are served, as in :9443; nowhere unless given")
      ->type_name("HOST:PORT");
  command
      .add_option("--webhook-cert-dir", run.webhook_folder,
                  "A folder with tls.crt and tls.key; unless given, a certificate is made and kept in a Secret")
      ->type_name("FOLDER");
  command
      .add_option("--webhook-service", run.webhook_service, "The Service by which the API server reaches the webhooks")
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace

void add_run(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Schedule on a real cluster");
  add_connection_options(*command, flags->run.config);
  command
      ->add_option("--scheduler-names", flags->run.scheduler.schedulers,
                   "Pods whose schedulerName is one of these are placed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME,...")
      ->capture_default_str();
  command
      ->add_option("--preemption", flags->run.scheduler.preemption,
                   "Evict whole gangs of lower priority where that lets a gang start")
      ->type_name("BOOL")
      ->capture_default_str();
  add_duration(*command, "--give-back-after", flags->run.scheduler.give_back_after,
               "How long a gang that never was whole may hold room in which it cannot start, say after a crash");
  add_queue_options(*command, flags->run.queues);
  add_election_options(*command, flags->run);
  add_watch_options(*command, flags->run);
  add_webhook_options(*command, flags->run);
  add_memory_option(*command, flags->run);
  command
      ->add_option("--listen", flags->run.listen,
                   "Where /healthz, /readyz and /metrics are served, as in 127.0.0.1:8080; \"\" for nowhere")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command
      ->add_option(
          "--probe-listen", flags->run.probe_listen,
          "Where /healthz and /readyz are served for probes, on a thread and with connections of their own, as in "
          ":8081; nowhere unless given")
      ->type_name("HOST:PORT");
  add_duration(*command, "--drain", flags->run.patience, "How long writes under way may take when told to stop");
  command->add_option("--log-level", flags->log_level, "The least that is logged")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->type_name("LEVEL")
      ->capture_default_str();
  command->add_option("--log-format", flags->log_format, "How it is logged")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->footer(
      "Reads what the scheduler needs of the cluster, binds pods, and keeps statuses. SIGTERM ends it in order.");
  command->callback([&run, flags] { run = [flags] { return serve(*flags); }; });
}

}  // namespace gantree
