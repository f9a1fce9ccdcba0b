// A cluster as some manifests describe it, or as its API server does.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "dialects/dialects.h"
#include "kube/config.h"
#include "service/broken_answer.h"

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
};

// Adds --fair-sharing.
void add_fair_sharing(CLI::App& command, std::vector<ShareStrategy>& strategies);

// Adds -f and --levels to a command.
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

// The documents of the files, or all objects of those kinds of the cluster.
[[nodiscard]] Result<std::vector<json::Document>> read_documents(const Sources& sources,
                                                                 const std::vector<ApiKind>& kinds);

// Fails with one sentence, which names the file where one is to blame.
[[nodiscard]] Result<> read_world(const Sources& sources, World& world);
// What is wrong with objects of a cluster is told on stderr, or not at all.
enum class Telling : bool { kNothing, kFaults };
[[nodiscard]] Result<> read_world(const std::vector<json::Document>& documents, const Sources& sources, World& world,
                                  Telling telling = Telling::kFaults);

}  // namespace gantree
