// gantree explain: why a gang waits, is rejected, or landed where it did.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "cycle/gang_name.h"
#include "cycle/why.h"
#include "output.h"
#include "terminal.h"
#include "view/explain_json.h"
#include "view/explain_text.h"
#include "world.h"

namespace gantree {

namespace {

constexpr std::size_t kMostSuggested = 3;

struct ExplainOptions {
  Sources sources;
  std::string job;
  std::string output = "text";
  std::shared_ptr<std::string> color;
};

std::vector<GangKey> all_keys(const World& world) {
  std::vector<GangKey> keys;
  for (const Submission& submission : world.reading.queue) {
    keys.push_back(submission.key);
  }
  for (const RunningGang& gang : world.cluster.running()) {
    keys.push_back(gang.key);
  }
  return keys;
}

// The gangs that are meant, or one sentence that says why that is not clear.
Result<std::vector<GangKey>> meant(const World& world, const std::string& job) {
  const std::vector<GangKey> all = all_keys(world);
  const std::vector<NamedGangs> found = find_gangs(all, job);
  if (found.size() == 1) {
    return found.front().keys;
  }
  if (found.empty()) {
    const std::vector<std::string> similar = similar_names(all, job, kMostSuggested);
    return fail(Errc::kNotFound,
                fmt::format("gantree: nothing called \"{}\" asks for a place or runs{}", job,
                            similar.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
  }
  std::vector<std::string> names;
  for (const NamedGangs& one : found) {
    names.push_back(fmt::format("{}/{}/{}", one.ns, one.kind, one.name));
  }
  return invalid(fmt::format("gantree: \"{}\" may be any of {}", job, fmt::join(names, ", ")));
}

std::string render(const ExplainOptions& options, const Explanation& why, Cluster& cluster) {
  if (options.output == "json") {
    return view::explanation_to_json(why, cluster).to_json(true) + "\n";
  }
  if (options.output == "yaml") {
    return view::explanation_to_json(why, cluster).to_yaml();
  }
  return view::explanation_to_text(why, cluster, text_options(*options.color));
}

int explain_job(const ExplainOptions& options) {
  World world;
  if (const auto read = read_world(options.sources, world); !read) {
    fmt::print(stderr, "{}\n", read.error().message);
    return kBadInput;
  }
  const auto keys = meant(world, options.job);
  if (!keys) {
    fmt::print(stderr, "{}\n", keys.error().message);
    return kBadInput;
  }
  for (const std::string& note : world.reading.notes) {
    tell(note);
  }
  const Explanation why = explain_gang(world.cluster, world.quota, std::move(world.reading.queue), *keys);
  if (!write_output(render(options, why, world.cluster))) {
    return kBadInput;
  }
  return why.running || why.decision.state == GangState::kPlaced ? kDone : kNotAll;
}

}  // namespace

void add_explain(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Say why a job waits or is where it is, and what would help");
  add_source_options(*command, options->sources);
  command->add_option("JOB", options->job, "NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME")->required();
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->footer(
      "All jobs in the input are planned, as `gantree plan` does; this one is explained at its turn.\n"
      "Exit code: 0 where it is placed or runs, 2 where it waits or is rejected, 1 on bad input or usage.");
  command->callback([&run, options] { run = [options] { return explain_job(*options); }; });
}

}  // namespace gantree
