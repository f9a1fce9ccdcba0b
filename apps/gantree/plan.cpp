// gantree plan: what would happen. Manifests in, placement or reason out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "cycle/cycle.h"
#include "dialects/dialects.h"
#include "input.h"
#include "output.h"
#include "terminal.h"
#include "view/decision_json.h"
#include "view/svg_plan.h"
#include "view/text_plan.h"

namespace gantree {

namespace {

struct PlanOptions {
  std::vector<std::string> files;
  std::string output = "text";
  std::vector<std::string> levels;
  bool verbose = false;
  std::shared_ptr<std::string> color;
};

std::string render(const PlanOptions& options, const Plan& plan, Cluster& cluster) {
  if (options.output == "json") {
    return plan_to_json(plan, cluster).to_json(true) + "\n";
  }
  if (options.output == "yaml") {
    return plan_to_json(plan, cluster).to_yaml();
  }
  if (options.output == "svg") {
    return view::svg_plan(cluster, plan);
  }
  return view::text_plan(cluster, plan, text_options(*options.color));
}

// What the user should know beside the answer.
void tell_about(const Reading& reading, bool verbose) {
  for (const std::string& note : reading.notes) {
    tell(note);
  }
  if (!reading.queue.empty() && !verbose) {
    return;
  }
  std::vector<std::string> ignored;
  for (const auto& [kind, count] : reading.ignored) {
    ignored.push_back(fmt::format("{} {}", count, kind));
  }
  const std::string passed_over = ignored.empty() ? "" : fmt::format("; passed over: {}", fmt::join(ignored, ", "));
  tell(fmt::format("{}{}", reading.queue.empty() ? "nothing asks for a place" : "planning", passed_over));
}

int plan(const PlanOptions& options) {
  Cluster cluster;
  Quota quota;
  Reading reading;
  {
    // The documents are large; what is needed of them is taken in.
    const auto documents = read_inputs(options.files);
    if (!documents) {
      fmt::print(stderr, "{}\n", documents.error().message);
      return kBadInput;
    }
    auto taken = take_in(*documents, options.levels, cluster, quota);
    if (!taken) {
      fmt::print(stderr, "{}\n", taken.error().message);
      return kBadInput;
    }
    reading = std::move(*taken);
  }
  tell_about(reading, options.verbose);
  const Plan made = run_cycle(cluster, quota, std::move(reading.queue));
  if (!write_output(render(options, made, cluster))) {
    return kBadInput;
  }
  const bool all = std::all_of(made.decisions.begin(), made.decisions.end(),
                               [](const Decision& decision) { return decision.state == GangState::kPlaced; });
  return all ? kDone : kNotAll;
}

}  // namespace

void add_plan(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "Say where the jobs in some manifests would go, or why not");
  command->add_option("-f,--file", options->files, "A file, a folder, or - for standard input; may be given often")
      ->required()
      ->allow_extra_args(false)
      ->type_name("PATH");
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml", "svg"}))
      ->type_name("FORMAT");
  command
      ->add_option("--levels", options->levels,
                   "Node labels, coarse to fine, as the topology of jobs to which no Topology object applies")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LABEL,LABEL,...");
  options->color = add_color_option(*command);
  command->add_flag("-v,--verbose", options->verbose, "Say which kinds of objects were passed over");
  command->footer(
      "Exit code: 0 where everything that asks is placed, 2 where something waits or is rejected,\n"
      "1 on bad input or usage.");
  command->callback([&run, options] { run = [options] { return plan(*options); }; });
}

}  // namespace gantree
