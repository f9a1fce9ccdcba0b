// gantree doctor: what is wrong with a cluster, and what to do about it.
#include "install/doctor.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cluster_access.h"
#include "commands.h"
#include "connection.h"
#include "output.h"
#include "terminal.h"

namespace gantree {

namespace {

struct DoctorFlags {
  DoctorOptions options;
  kube::ConfigRequest config;
  std::string output = "text";
  std::shared_ptr<std::string> color;
};

int exit_code(Health health) {
  switch (health) {
    case Health::kOk:
      return kDone;
    case Health::kWarning:
      return kNotAll;
    case Health::kError:
      return kBadInput;
  }
  return kBadInput;
}

int doctor(const DoctorFlags& flags) {
  const auto cluster = open_cluster(flags.config);
  if (!cluster) {
    tell(cluster.error().message);
    return kBadInput;
  }
  DoctorOptions options = flags.options;
  options.server = cluster->config.server;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const Findings findings = examine(*cluster->client, options, now);
  const bool written = write_output(flags.output == "json"   ? findings_to_json(findings).to_json(true) + "\n"
                                    : flags.output == "yaml" ? findings_to_json(findings).to_yaml()
                                                             : findings_to_text(findings, text_options(*flags.color)));
  return written ? exit_code(worst(findings)) : kBadInput;
}

}  // namespace

void add_doctor(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App* command = app.add_subcommand("doctor", "Tell what is wrong with a cluster, and what to do about it");
  add_connection_options(*command, flags->config);
  command->add_option("--namespace", flags->options.installation.ns, "Where Gantree runs")
      ->type_name("NS")
      ->capture_default_str();
  command->add_option("--name", flags->options.installation.name, "What its Deployment is called")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--scheduler-names", flags->options.schedulers, "The schedulerNames that Gantree serves")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME,...")
      ->capture_default_str();
  command->add_flag("--as-self", flags->options.as_self,
                    "Check what whoever asks may do, not what Gantree's service account may");
  command->add_option("-o,--output", flags->output, "How to show the findings")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("FORMAT");
  flags->color = add_color_option(*command);
  command->footer("Reads only. Exit code 0: all is well; 2: warnings; 1: errors.");
  command->callback([&run, flags] { run = [flags] { return doctor(*flags); }; });
}

}  // namespace gantree
