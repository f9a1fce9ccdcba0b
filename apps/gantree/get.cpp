// gantree get: queues and workloads at a glance, of a cluster or of files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster_access.h"
#include "cluster_objects.h"
#include "commands.h"
#include "connection.h"
#include "dialects/kueue/names.h"
#include "input.h"
#include "json/copy.h"
#include "kueue/controller.h"
#include "live/scheduler.h"
#include "output.h"
#include "terminal.h"
#include "view/queue_rows.h"

namespace gantree {

namespace {

struct GetOptions {
  std::string what;
  std::vector<std::string> files;  // none: the cluster
  kube::ConfigRequest config;
  std::string ns;
  bool all_namespaces = false;
  std::string output = "text";
  std::shared_ptr<std::string> color;
};

constexpr std::string_view kQueues = "queues";

// What is known of queues and workloads, with the hosts that these are on.
struct Queues {
  LiveScheduler scheduler{SchedulerOptions{}};
  kueue::Controller controller{scheduler.cluster(), {}};
};

ApiKind node_kind() {
  return {.group = "", .kind = "Node", .versions = {"v1"}, .namespaced = false};
}

std::vector<ApiKind> wanted_kinds() {
  std::vector<ApiKind> kinds;
  for (const ApiKind& kind : kueue::Controller::kinds()) {
    if (kind.group == kueue::kGroup) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

// As the API server would tell it: what names no namespace is in that called default.
std::string text_of(const Object& object) {
  const json::Value metadata = object.metadata();
  const bool namespaced = object.kind == "LocalQueue" || object.kind == "Workload";
  if (!namespaced || !metadata || metadata.kind() != json::Kind::kObject || metadata["namespace"]) {
    return json::copy(object.value).to_json(false);
  }
  json::Out root = json::Out::object();
  for (const json::MemberData& member : object.value.members()) {
    json::Out value = json::copy(json::Value(&member.value));
    if (member.key == "metadata") {
      value.add("namespace", "default");
    }
    root.add(member.key, std::move(value));
  }
  return root.to_json(false);
}

// Takes in what concerns queues and passes over the rest. A broken object is told and passed over.
Result<> take(const std::vector<json::Document>& documents, Queues& queues) {
  return for_each_object(documents, [&](const Object& object) -> Result<> {
    const bool node = object.group.empty() && object.kind == "Node";
    const bool ours = object.group == kueue::kGroup && kueue::Controller::owns(object.group, object.kind);
    if (!node && !ours) {
      return {};
    }
    auto live = prune(object.group, object.version, object.kind, text_of(object));
    if (!live) {
      return fail(live.error().code, fmt::format("{}: {}", json::to_string(object.place()), live.error().message));
    }
    const Result<> taken = node ? queues.scheduler.changed(std::move(*live), {}) : queues.controller.changed(*live, {});
    if (!taken) {
      tell(without_places(taken.error().message));
    }
    return {};
  });
}

// Fills in the namespace to show where none was named: that of the context. "" for all.
Result<> read_cluster(GetOptions& options, Queues& queues) {
  auto cluster = open_cluster(options.config);
  if (!cluster) {
    return fail(cluster.error().code, "gantree: " + cluster.error().message);
  }
  if (options.ns.empty() && !options.all_namespaces && options.what != kQueues) {
    options.ns = cluster->config.default_namespace;
  }
  const auto documents = list_objects(*cluster, wanted_kinds());
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->empty()) {
    return fail(Errc::kNotFound,
                fmt::format("gantree: {} knows no queues: `gantree install` defines them", cluster->config.server));
  }
  if (auto taken = take(*documents, queues); !taken) {
    return taken;
  }
  if (options.what == kQueues || !view::needs_hosts(queues.controller)) {
    return {};
  }
  const auto nodes = list_objects(*cluster, {node_kind()});
  return nodes ? take(*nodes, queues) : Result<>{};  // where they are is then told less well
}

Result<> read_files(const GetOptions& options, Queues& queues) {
  const auto documents = read_inputs(options.files);
  return documents ? take(*documents, queues) : tl::unexpected(documents.error());
}

std::string as_values(const GetOptions& options, json::Out out) {
  return options.output == "json" ? out.to_json(true) + "\n" : out.to_yaml();
}

std::string render_queues(const GetOptions& options, const kueue::Controller& queues) {
  const auto rows = view::cluster_queue_rows(queues);
  const bool with_local = options.all_namespaces || !options.ns.empty();
  const auto local = with_local ? view::local_queue_rows(queues, options.ns) : std::vector<view::QueueRow>();
  if (options.output == "json" || options.output == "yaml") {
    json::Out out = json::Out::object();
    out.add("queues", view::queues_to_json(rows));
    if (with_local) {
      out.add("localQueues", view::queues_to_json(local));
    }
    return as_values(options, std::move(out));
  }
  const bool wide = options.output == "wide";
  const view::TextOptions text = text_options(*options.color);
  std::string drawn = rows.empty() ? std::string() : view::queues_to_text(rows, wide, text);
  if (!local.empty()) {
    drawn += (drawn.empty() ? "" : "\n") + view::queues_to_text(local, wide, text);
  }
  if (drawn.empty()) {
    tell("there are no queues");
  }
  return drawn;
}

std::string render_workloads(const GetOptions& options, Queues& queues) {
  const view::TextOptions text = text_options(*options.color);
  const auto rows = view::workload_rows(queues.controller, queues.scheduler.cluster(), options.ns, text.unicode);
  if (options.output == "json" || options.output == "yaml") {
    return as_values(options, std::move(json::Out::object().add("workloads", view::workloads_to_json(rows))));
  }
  if (rows.empty()) {
    tell(options.ns.empty() ? std::string("there are no workloads")
                            : fmt::format("there are no workloads in namespace \"{}\" (-A shows all)", options.ns));
    return {};
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return view::workloads_to_text(rows, options.output == "wide", now.time_since_epoch().count(), text);
}

int get(GetOptions options) {
  Queues queues;
  const Result<> read = options.files.empty() ? read_cluster(options, queues) : read_files(options, queues);
  if (!read) {
    fmt::print(stderr, "{}\n", read.error().message);
    return kBadInput;
  }
  for (const std::string& remark : queues.controller.look()) {
    tell(remark);
  }
  const std::string drawn =
      options.what == kQueues ? render_queues(options, queues.controller) : render_workloads(options, queues);
  return write_output(drawn) ? kDone : kBadInput;
}

}  // namespace

void add_get(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* command = app.add_subcommand("get", "List queues or workloads: who waits, for what, and what is used");
  command->add_option("KIND", options->what, "queues or workloads")
      ->required()
      ->check(CLI::IsMember({"queues", "workloads"}))
      ->type_name("KIND");
  command
      ->add_option("-f,--file", options->files,
                   "A file, a folder, or - for standard input, instead of the cluster; may be given often")
      ->allow_extra_args(false)
      ->type_name("PATH");
  add_connection_options(*command, options->config);
  CLI::Option* ns = command
                        ->add_option("-n,--namespace", options->ns,
                                     "Workloads of this namespace; of queues, the LocalQueues in it too")
                        ->type_name("NS");
  command->add_flag("-A,--all-namespaces", options->all_namespaces, "The same of all namespaces")->excludes(ns);
  command->add_option("-o,--output", options->output, "How to show them")
      ->check(CLI::IsMember({"text", "wide", "json", "yaml"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->footer(
      "Without -n and -A: the workloads of the context's namespace, all that are in files; ClusterQueues alone.");
  command->callback([&run, options] { run = [options] { return get(*options); }; });
}

}  // namespace gantree
