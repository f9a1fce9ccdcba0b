// gantree explain: why a gang waits, is rejected, or landed where it did.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster_objects.h"
#include "commands.h"
#include "dialects/lineage.h"
#include "explain/why.h"
#include "output.h"
#include "subject.h"
#include "terminal.h"
#include "view/explain_json.h"
#include "view/explain_text.h"
#include "world.h"

namespace gantree {

namespace {

struct ExplainOptions {
  Sources sources;
  std::string job;
  std::string ns;
  std::string output = "text";
  std::shared_ptr<std::string> color;
};

std::string render(const ExplainOptions& options, const Explanation& why, const std::vector<view::PresentGang>& known,
                   Cluster& cluster) {
  if (options.output == "json") {
    return view::explanation_to_json(why, known, cluster).to_json(true) + "\n";
  }
  if (options.output == "yaml") {
    return view::explanation_to_json(why, known, cluster).to_yaml();
  }
  return view::explanation_to_text(why, known, cluster, text_options(*options.color));
}

// What is left to say of one that neither asks nor runs.
Explanation of_record(const GangRecord& record) {
  Explanation why;
  why.key = record.key;
  why.over = true;
  return why;
}

// By what the cluster says of it, where one knows it.
bool is_well(const Explanation& why, const view::PresentGang* is) {
  if (why.over) {
    return why.record->standing == Standing::kFinished && !why.record->failed;
  }
  const bool all_of_it = why.running || why.decision.state == GangState::kPlaced;
  return is == nullptr ? all_of_it
                       : is->state == view::Presence::kAdmitted || (is->state == view::Presence::kRunning && all_of_it);
}

int explain_job(const ExplainOptions& options) {
  World world;
  const std::string text = options.ns.empty() ? options.job : fmt::format("{}/{}", options.ns, options.job);
  std::vector<GangKey> near;
  {
    // The documents are large; what is needed of them is taken in.
    const auto documents = read_documents(options.sources, all_kinds());
    const Result<> read =
        documents ? read_world(*documents, options.sources, world) : tl::unexpected(documents.error());
    if (!read) {
      fmt::print(stderr, "{}\n", read.error().message);
      return kBadInput;
    }
    near = relatives(*documents, text);
  }
  const auto subject = find_subject(world, near, text);
  if (!subject) {
    fmt::print(stderr, "{}\n", subject.error().message);
    return kBadInput;
  }
  for (const std::string& note : world.reading.notes) {
    tell(note);
  }
  have_topology(world);
  const std::vector<view::PresentGang> known =
      view::present_gangs(world.cluster, world.reading, options.sources.origin());
  Explanation why = subject->keys.empty()
                        ? of_record(*subject->record)
                        : explain_gang(world.cluster, world.quota, std::move(world.reading.queue), subject->keys);
  if (const auto record = world.reading.records.find(why.key); record != world.reading.records.end()) {
    why.record = record->second;
  }
  if (!write_output(render(options, why, known, world.cluster))) {
    return kBadInput;
  }
  return is_well(why, view::find(known, why.key)) ? kDone : kNotAll;
}

}  // namespace

void add_explain(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Say why a job waits or is where it is, and what would help");
  add_live_source_options(*command, options->sources);
  command
      ->add_option("JOB", options->job,
                   "NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME of a job, a pod or a Workload")
      ->required();
  command->add_option("-n,--namespace", options->ns, "The namespace of the job")->type_name("NS");
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->footer(
      "Reads the cluster of your kubeconfig, or the files that -f names. What the cluster says of the job comes first; "
      "below\n"
      "\"If it were decided now\", what would happen: all jobs are planned, as `gantree plan` does, and this one is "
      "explained\n"
      "at its turn.\n"
      "Exit code: 0 where it is placed, admitted, runs or has succeeded, 2 where it waits, is rejected, deactivated, "
      "suspended, "
      "on\n"
      "its way out or has failed, 1 on bad input or usage.");
  command->callback([&run, options] { run = [options] { return explain_job(*options); }; });
}

}  // namespace gantree
