#include "world.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "cluster_objects.h"
#include "connection.h"
#include "input.h"
#include "live/object.h"
#include "output.h"

namespace gantree {

namespace {

CLI::Option* add_files(CLI::App& command, Sources& sources, const std::string& description) {
  return command.add_option("-f,--file", sources.files, description)->allow_extra_args(false)->type_name("PATH");
}

void add_levels(CLI::App& command, Sources& sources) {
  command
      .add_option("--levels", sources.levels,
                  "Node labels, coarse to fine, as the topology of jobs to which no Topology object applies")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LABEL,LABEL,...");
}

// What --fair-sharing may be, in the words of Kueue's configuration.
const std::map<std::string, std::vector<ShareStrategy>>& share_strategies() {
  static const std::map<std::string, std::vector<ShareStrategy>> kStrategies = {
      {"false", {}},
      {"true", {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}},
      {"LessThanOrEqualToFinalShare", {ShareStrategy::kFinalShare}},
      {"LessThanInitialShare", {ShareStrategy::kInitialShare}},
      {"LessThanOrEqualToFinalShare,LessThanInitialShare", {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare}}};
  return kStrategies;
}

// Of what is there twice, once in the cluster.
std::string in_the_cluster(std::string message) {
  const std::string first = fmt::format("(first at {}:1)", kNoFile);
  const std::size_t at = message.find(first);
  return at == std::string::npos ? message : message.replace(at, first.size(), "(first in the cluster)");
}

}  // namespace

void add_fair_sharing(CLI::App& command, std::vector<ShareStrategy>& strategies) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : share_strategies()) {
    words.push_back(word);
  }
  command
      .add_option_function<std::string>(
          "--fair-sharing", [&strategies](const std::string& word) { strategies = share_strategies().at(word); },
          "Let queues that borrow less than their share evict jobs of queues that borrow more: true, false, or how "
          "far, "
          "as LessThanOrEqualToFinalShare, LessThanInitialShare or both")
      ->check(CLI::IsMember(words))
      ->type_name("STRATEGY");
}

void add_source_options(CLI::App& command, Sources& sources) {
  add_files(command, sources, "A file, a folder, or - for standard input; may be given often");
  add_levels(command, sources);
  add_fair_sharing(command, sources.shares);
  add_connection_options(command, sources.config);
}

void add_live_source_options(CLI::App& command, Sources& sources) {
  add_files(command, sources, "A file, a folder, or - for standard input, instead of the cluster; may be given often");
  add_levels(command, sources);
  add_fair_sharing(command, sources.shares);
  add_connection_options(command, sources.config);
}

Result<std::vector<json::Document>> read_documents(const Sources& sources, const std::vector<ApiKind>& kinds) {
  auto added = sources.files.empty() ? std::vector<json::Document>() : read_inputs(sources.files);
  if (!added || !sources.reads_cluster()) {
    return added;
  }
  auto cluster = open_cluster(sources.config);
  if (!cluster) {
    return fail(cluster.error().code, "gantree: " + cluster.error().message);
  }
  auto documents = list_objects(*cluster, kinds);
  if (documents) {
    std::move(added->begin(), added->end(), std::back_inserter(*documents));
  }
  return documents;
}

Result<> read_world(const std::vector<json::Document>& documents, const Sources& sources, World& world,
                    Telling telling) {
  world.quota.evict_by_share(sources.shares);
  world.cluster.engine().on_broken_answer([&world](const BrokenAnswer& broken) {
    tell(fmt::format("broken invariant: the placement found for {} breaks a rule, and is not used: {}; input: {}",
                     broken.gang, broken.fault, world.broken_answers.keep(broken)));
  });
  if (!sources.reads_cluster()) {
    auto taken = take_in(documents, sources.levels, world.cluster, world.quota);
    if (!taken) {
      return tl::unexpected(taken.error());
    }
    world.reading = std::move(*taken);
    return {};
  }
  // On a cluster somebody else's broken object is no reason to say nothing.
  std::optional<TopologyId> levels;
  if (!sources.levels.empty()) {
    const Topology topology{.name = "levels", .levels = sources.levels};
    if (auto valid = validate(topology); !valid) {
      return tl::unexpected(valid.error());
    }
    levels = world.cluster.engine().add_topology(topology);
  }
  std::vector<Error> faults;
  auto taken = take_in(all_dialects(), documents, levels, world.cluster, world.quota, &faults, Detail::kSigns);
  if (!taken) {
    return tl::unexpected(taken.error());
  }
  for (const Error& fault : faults) {
    // What a file brings is the user's own.
    if (!fault.message.starts_with(fmt::format("{}:", kNoFile))) {
      return fail(fault.code, in_the_cluster(fault.message));
    }
    if (telling == Telling::kFaults) {
      tell(without_places(fault.message));
    }
  }
  world.reading = std::move(*taken);
  for (Submission& submission : world.reading.queue) {
    if (submission.rejection) {
      submission.rejection->message = without_places(std::move(submission.rejection->message));
    }
  }
  for (std::string& note : world.reading.notes) {
    note = without_places(std::move(note));
  }
  return {};
}

Result<> read_world(const Sources& sources, World& world) {
  // The documents are large; what is needed of them is taken in.
  const auto documents = read_documents(sources, all_kinds());
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  return read_world(*documents, sources, world);
}

void have_topology(World& world) {
  if (world.cluster.engine().topologies() == 0) {
    world.cluster.engine().add_topology({"hosts", {kHostnameLabel}});
  }
}

view::Present what_is(World& world, const Sources& sources) {
  have_topology(world);
  return view::what_is(world.cluster, world.quota, std::move(world.reading), sources.origin());
}

}  // namespace gantree
