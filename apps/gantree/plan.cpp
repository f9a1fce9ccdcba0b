// gantree plan: what would happen. Manifests in, placement or reason out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "cycle/cycle.h"
#include "output.h"
#include "terminal.h"
#include "view/decision_json.h"
#include "view/svg_plan.h"
#include "view/text_plan.h"
#include "world.h"

namespace gantree {

namespace {

struct PlanOptions {
  Sources sources;
  std::string output = "text";
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

int plan(PlanOptions options) {
  const kube::ConfigRequest& config = options.sources.config;
  options.sources.on_top = !config.kubeconfig.empty() || !config.context.empty();
  if (options.sources.files.empty() && !options.sources.on_top) {
    tell("say what to plan: -f FILE, or --kubeconfig FILE or --context NAME for what a cluster has; see --help");
    return kBadInput;
  }
  World world;
  if (const auto read = read_world(options.sources, world); !read) {
    fmt::print(stderr, "{}\n", read.error().message);
    return kBadInput;
  }
  tell_about(world.reading, options.verbose);
  const Plan made = run_cycle(world.cluster, world.quota, std::move(world.reading.queue));
  if (!write_output(render(options, made, world.cluster))) {
    return kBadInput;
  }
  const bool all = std::all_of(made.decisions.begin(), made.decisions.end(),
                               [](const Decision& decision) { return decision.state == GangState::kPlaced; });
  return all ? kDone : kNotAll;
}

}  // namespace

void add_plan(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Say where jobs would go, or why not: those in some manifests, or of a cluster");
  add_source_options(*command, options->sources);
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml", "svg"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->add_flag("-v,--verbose", options->verbose, "Say which kinds of objects were passed over");
  command->footer(
      "With --kubeconfig or --context: what would become of all that waits in that cluster now, and of the jobs that "
      "-f\n"
      "adds. Nothing is written to it.\n"
      "Exit code: 0 where everything that asks is placed, 2 where something waits or is rejected,\n"
      "1 on bad input or usage.");
  command->callback([&run, options] { run = [options] { return plan(*options); }; });
}

}  // namespace gantree
