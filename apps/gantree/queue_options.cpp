#include "queue_options.h"

#include <CLI/CLI.hpp>

#include "connection.h"
#include "world.h"

namespace gantree {

namespace {

// As Kueue has it.
constexpr const char* kEviction = "Eviction";
constexpr const char* kCreation = "Creation";

}  // namespace

void add_queue_options(CLI::App& command, kueue::ControllerOptions& queues) {
  kueue::ReadyRules& ready = queues.ready;
  add_fair_sharing(command, queues.shares);
  add_duration(command, "--pods-ready-timeout", ready.timeout,
               "Evict a job of a queue whose pods are not all ready so long after admission; 0s: wait without end");
  add_duration(command, "--pods-recovery-timeout", ready.recovery,
               "The same for pods that were ready and have to be replaced, and as long unless said otherwise; 0s: wait "
               "without end")
      ->default_str("");
  command
      .add_option("--requeue-limit", ready.limit,
                  "How often such a job is queued again before it is deactivated; below 0: without end")
      ->type_name("N")
      ->capture_default_str();
  add_duration(command, "--requeue-backoff", ready.backoff, "How long it rests before the first time; doubles");
  add_duration(command, "--requeue-backoff-max", ready.longest_backoff, "How long it rests at most");
  command
      .add_option_function<std::string>(
          "--requeue-timestamp", [&ready](const std::string& word) { ready.requeue_by_creation = word == kCreation; },
          "By what time such a job has its place in its queue then: that of its Eviction, or of its Creation")
      ->check(CLI::IsMember({kEviction, kCreation}))
      ->type_name("TIME")
      ->default_str(kEviction);
  command
      .add_option("--block-admission", ready.one_by_one,
                  "Admit a job of a queue only when the pods of all that were admitted before are ready")
      ->type_name("BOOL")
      ->capture_default_str();
  command.add_flag(
      "--ignore-admission-checks", queues.ignore_checks,
      "Take the admission checks of ClusterQueues to pass; without it a queue that has any admits nothing");
}

}  // namespace gantree
