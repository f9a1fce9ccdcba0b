// A cluster as some manifests describe it, or as its API server does.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"
#include "kube/config.h"
#include "service/broken_answer.h"
#include "view/present.h"

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace gantree {

// What every command that reads manifests is told.
struct Sources {
  std::vector<std::string> files;  // none: the cluster
  std::vector<std::string> levels;
  kube::ConfigRequest config;
  std::vector<ShareStrategy> shares = {};  // by which jobs are evicted; none: by no shares
  bool on_top = false;                     // the files come on top of what the cluster has

  [[nodiscard]] bool reads_cluster() const { return files.empty() || on_top; }
  [[nodiscard]] view::Source origin() const { return reads_cluster() ? view::Source::kCluster : view::Source::kFiles; }
};

// Adds --fair-sharing.
void add_fair_sharing(CLI::App& command, std::vector<ShareStrategy>& strategies);

// Adds -f and --levels to a command, and --kubeconfig and --context: with one of those the files come on top of the
// cluster, which the command has to say in `on_top`.
void add_source_options(CLI::App& command, Sources& sources);
// The same, but without -f the cluster is read: adds --kubeconfig and --context too.
void add_live_source_options(CLI::App& command, Sources& sources);

// Stays where it is once it has been read.
struct World {
  Cluster cluster;
  Quota quota;
  Reading reading;
  BrokenAnswers broken_answers{};
};

// The documents of the files, or all objects of those kinds of the cluster, or these and then the documents.
[[nodiscard]] Result<std::vector<json::Document>> read_documents(const Sources& sources,
                                                                 const std::vector<ApiKind>& kinds);

// Fails with one sentence, which names the file where one is to blame.
[[nodiscard]] Result<> read_world(const Sources& sources, World& world);
// What is wrong with objects of a cluster is told on stderr, or not at all.
enum class Telling : bool { kNothing, kFaults };
[[nodiscard]] Result<> read_world(const std::vector<json::Document>& documents, const Sources& sources, World& world,
                                  Telling telling = Telling::kFaults);

// Hosts alone, where there is no other topology: something has to be drawn.
void have_topology(World& world);

// What became of the gangs of a world, which is as view::what_is() leaves it: its queue is used up.
[[nodiscard]] view::Present what_is(World& world, const Sources& sources);

}  // namespace gantree
