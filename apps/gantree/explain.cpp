// gantree explain: why a gang waits, is rejected, or landed where it did.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster_objects.h"
#include "commands.h"
#include "cycle/gang_name.h"
#include "cycle/why.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "output.h"
#include "terminal.h"
#include "view/explain_json.h"
#include "view/explain_text.h"
#include "world.h"

namespace gantree {

namespace {

constexpr std::size_t kMostSuggested = 3;
constexpr std::string_view kWorkloadPrefix = "workload/";

struct ExplainOptions {
  Sources sources;
  std::string job;
  std::string ns;
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

bool asks_for_workload(const ExplainOptions& options) {
  return options.job.starts_with(kWorkloadPrefix);
}

// The job of a Workload: KIND/NAME in its namespace. A Workload asks for nothing of its own.
Result<std::string> job_of_workload(const std::vector<json::Document>& documents, const std::string& ns,
                                    const std::string& name) {
  std::vector<std::string> jobs;
  const auto looked = for_each_object(documents, [&](const Object& object) -> Result<> {
    const json::Value metadata = object.metadata();
    const json::Value own = text_at(metadata, "name");
    if (object.group != kueue::kGroup || object.kind != "Workload" || !own || own.text() != name) {
      return {};
    }
    const json::Value at = text_at(metadata, "namespace");
    const std::string place(at ? at.text() : "default");
    if (!ns.empty() && ns != place) {
      return {};
    }
    json::Reader read(object.file, object.value, fmt::format("Workload \"{}/{}\"", place, name));
    const Owner owner = read_controller(read, metadata);
    if (owner.present()) {
      jobs.push_back(fmt::format("{}/{}/{}", place, owner.kind, owner.name));
    }
    return {};
  });
  if (!looked) {
    return tl::unexpected(looked.error());
  }
  if (jobs.size() == 1) {
    return jobs.front();
  }
  return fail(Errc::kNotFound, jobs.empty() ? fmt::format("gantree: there is no Workload \"{}\" of a job", name)
                                            : fmt::format("gantree: Workload \"{}\" may be that of any of {}", name,
                                                          fmt::join(jobs, ", ")));
}

// What is asked about, as find_gangs() takes it.
Result<std::string> subject(const ExplainOptions& options, const std::vector<json::Document>& documents) {
  if (asks_for_workload(options)) {
    return job_of_workload(documents, options.ns, options.job.substr(kWorkloadPrefix.size()));
  }
  return options.ns.empty() ? options.job : fmt::format("{}/{}", options.ns, options.job);
}

int explain_job(const ExplainOptions& options) {
  World world;
  std::vector<ApiKind> kinds = all_kinds();
  if (asks_for_workload(options)) {
    kinds.push_back({.group = kueue::kGroup, .kind = "Workload", .versions = {"v1beta2"}, .namespaced = true});
  }
  Result<std::string> job;
  {
    // The documents are large; what is needed of them is taken in.
    const auto documents = read_documents(options.sources, kinds);
    job = documents ? subject(options, *documents) : tl::unexpected(documents.error());
    const Result<> read = job ? read_world(*documents, options.sources, world) : tl::unexpected(job.error());
    if (!read) {
      fmt::print(stderr, "{}\n", read.error().message);
      return kBadInput;
    }
  }
  const auto keys = meant(world, *job);
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
  add_live_source_options(*command, options->sources);
  command->add_option("JOB", options->job, "NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME; workload/NAME")
      ->required();
  command->add_option("-n,--namespace", options->ns, "The namespace of the job")->type_name("NS");
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->footer(
      "Reads the cluster of your kubeconfig, or the files that -f names. All jobs there are planned, as\n"
      "`gantree plan` does; this one is explained at its turn.\n"
      "Exit code: 0 where it is placed or runs, 2 where it waits or is rejected, 1 on bad input or usage.");
  command->callback([&run, options] { run = [options] { return explain_job(*options); }; });
}

}  // namespace gantree
