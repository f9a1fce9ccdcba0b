// gantree install, gantree uninstall: the scheduler into a cluster, and out of it.
#include "install/apply.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cluster_access.h"
#include "commands.h"
#include "connection.h"
#include "install/manifest.h"
#include "output.h"

namespace gantree {

namespace {

constexpr std::chrono::seconds kInstallPatience{60};

struct InstallFlags {
  InstallOptions options;
  kube::ConfigRequest config;
  bool dry_run = false;
};

void show(const ManifestObject& object, const std::string& what) {
  fmt::print("{} {}\n", object.title(), what);
  std::fflush(stdout);
}

int told(const Error& error) {
  tell(error.message);
  return kBadInput;
}

int install(const InstallFlags& flags) {
  const auto objects = manifest(flags.options);
  if (!objects) {
    return told(objects.error());
  }
  if (flags.dry_run) {
    return write_output(to_yaml(*objects)) ? kDone : kBadInput;
  }
  const auto cluster = open_cluster(flags.config);
  if (!cluster) {
    return told(cluster.error());
  }
  if (const auto applied = apply(*cluster->client, *objects, kInstallPatience, show); !applied) {
    return told(applied.error());
  }
  fmt::print("\nGantree is installed in namespace {}. Is all well? gantree doctor --namespace {}\n", flags.options.ns,
             flags.options.ns);
  return kDone;
}

int uninstall(const InstallFlags& flags) {
  const auto objects = manifest(flags.options);
  if (!objects) {
    return told(objects.error());
  }
  const auto cluster = open_cluster(flags.config);
  if (!cluster) {
    return told(cluster.error());
  }
  if (const auto removed = remove(*cluster->client, *objects, show); !removed) {
    return told(removed.error());
  }
  fmt::print(
      "\nThe namespace, and the definitions with the PodGroups, topologies and queues in them, are still there:\n");
  for (const ManifestObject& object : *objects) {
    if (object.kind == "Namespace" || object.kind == "CustomResourceDefinition") {
      fmt::print("  kubectl delete {} {}\n", object.kind == "Namespace" ? "namespace" : "crd", object.name);
    }
  }
  return kDone;
}

void add_place_options(CLI::App& command, InstallFlags& flags) {
  add_connection_options(command, flags.config);
  command.add_option("--namespace", flags.options.ns, "Where Gantree runs")->type_name("NS")->capture_default_str();
}

}  // namespace

void add_install(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<InstallFlags>();
  CLI::App* command = app.add_subcommand("install", "Put the scheduler into a cluster");
  add_place_options(*command, *flags);
  command->add_flag("--dry-run", flags->dry_run, "Print what would be applied, as YAML, and ask no cluster");
  command->add_option("--image", flags->options.image, "The container image")->type_name("IMAGE");
  command->add_option("--replicas", flags->options.replicas, "How many replicas")
      ->check(CLI::Range(0, 100))
      ->type_name("N");
  command
      ->add_option("--scheduler-names", flags->options.schedulers,
                   "Pods whose schedulerName is one of these are placed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME,...");
  command->add_flag_callback(
      "--skip-definitions", [flags] { flags->options.definitions = false; },
      "Leave the CustomResourceDefinitions out; those of somebody else stay as they are anyway");
  command->add_flag("--default-queues", flags->options.default_queues,
                    "Make KAI's queues default-parent-queue and default-queue, without quota or limit; those that are "
                    "there stay as they are");
  command->footer(
      "Applies deploy/gantree.yaml by server-side apply; what is as it should be stays. Helm users: "
      "deploy/chart/gantree.");
  command->callback([&run, flags] { run = [flags] { return install(*flags); }; });
}

void add_uninstall(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<InstallFlags>();
  CLI::App* command = app.add_subcommand("uninstall", "Take the scheduler out of a cluster");
  add_place_options(*command, *flags);
  command->footer("Definitions, PodGroups, topologies, queues and the namespace stay.");
  command->callback([&run, flags] { run = [flags] { return uninstall(*flags); }; });
}

}  // namespace gantree
