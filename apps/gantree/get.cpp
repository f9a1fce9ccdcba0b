// gantree get: gangs, queues and workloads at a glance, of a cluster or of files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster_access.h"
#include "cluster_objects.h"
#include "commands.h"
#include "connection.h"
#include "input.h"
#include "model/gang_name.h"
#include "output.h"
#include "queues.h"
#include "terminal.h"
#include "view/present_json.h"
#include "view/present_text.h"
#include "view/queue_rows.h"
#include "world.h"

namespace gantree {

namespace {

struct GetOptions {
  std::string what;
  std::string name;                // of one alone; "" for all
  std::vector<std::string> files;  // none: the cluster
  kube::ConfigRequest config;
  std::string ns;
  bool all_namespaces = false;
  std::string output = "text";
  std::shared_ptr<std::string> color;
};

constexpr std::string_view kQueues = "queues";
constexpr std::string_view kLocalQueues = "localqueues";
constexpr std::string_view kWorkloads = "workloads";
constexpr std::string_view kGangs = "gangs";

// What people call them.
const std::map<std::string, std::string>& kind_names() {
  static const std::map<std::string, std::string> kNames = [] {
    std::map<std::string, std::string> names;
    for (const auto& [kind, words] : {std::pair<std::string_view, std::vector<std::string>>{kGangs, {"gangs", "gang"}},
                                      {kQueues, {"queues", "queue", "q", "clusterqueues", "clusterqueue", "cq"}},
                                      {kLocalQueues, {"localqueues", "localqueue", "lq"}},
                                      {kWorkloads, {"workloads", "workload", "wl"}}}) {
      for (const std::string& word : words) {
        names.emplace(word, kind);
      }
    }
    return names;
  }();
  return kNames;
}

bool shows_queues(const GetOptions& options) {
  return options.what == kQueues || options.what == kLocalQueues;
}

// A Workload goes by its own name and by that of its job, with or without the kind.
bool is_meant(const view::WorkloadRow& row, const std::string& name) {
  return name.empty() || row.name == name || row.job == name || row.job.substr(row.job.find('/') + 1) == name;
}

// Asks for the hosts by name where they are few: a cluster may have a hundred thousand others. Where they cannot be
// read, it is told less well where workloads are.
Result<> read_hosts(ClusterAccess& cluster, const std::set<std::string>& hosts, Queues& queues) {
  constexpr std::size_t kAtOnce = 100;
  constexpr std::size_t kFew = 20 * kAtOnce;
  const std::vector<ApiKind> nodes{{.group = "", .kind = "Node", .versions = {"v1"}, .namespaced = false}};
  if (hosts.size() > kFew) {
    const auto listed = list_objects(cluster, nodes);
    return listed ? take_queues(*listed, queues) : Result<>{};
  }
  for (auto next = hosts.begin(); next != hosts.end();) {
    const auto end = std::next(next, std::min<std::ptrdiff_t>(kAtOnce, std::distance(next, hosts.end())));
    const auto listed =
        list_objects(cluster, nodes, fmt::format("{} in ({})", kHostnameLabel, fmt::join(next, end, ",")));
    if (!listed) {
      return {};
    }
    if (auto taken = take_queues(*listed, queues); !taken) {
      return taken;
    }
    next = end;
  }
  return {};
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
  const auto documents = list_objects(*cluster, queue_kinds());
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->empty()) {
    return fail(Errc::kNotFound,
                fmt::format("gantree: {} knows no queues: `gantree install` defines them", cluster->config.server));
  }
  if (auto taken = take_queues(*documents, queues); !taken) {
    return taken;
  }
  return shows_queues(options) ? Result<>{}
                               : read_hosts(*cluster, view::hosts_to_know(queues.controller, options.ns), queues);
}

Result<> read_files(const GetOptions& options, Queues& queues) {
  const auto documents = read_inputs(options.files);
  return documents ? take_queues(*documents, queues) : tl::unexpected(documents.error());
}

std::string as_values(const GetOptions& options, json::Out out) {
  return options.output == "json" ? out.to_json(true) + "\n" : out.to_yaml();
}

// Those of that name alone.
std::vector<view::QueueRow> of_name(std::vector<view::QueueRow> rows, const std::string& name) {
  std::erase_if(rows, [&](const view::QueueRow& row) { return !name.empty() && row.name != name; });
  return rows;
}

std::string render_queues(const GetOptions& options, const kueue::Controller& queues) {
  const bool local_alone = options.what == kLocalQueues;
  const auto rows =
      local_alone ? std::vector<view::QueueRow>() : of_name(view::cluster_queue_rows(queues), options.name);
  const bool with_local = local_alone || options.all_namespaces || !options.ns.empty();
  const auto local =
      with_local ? of_name(view::local_queue_rows(queues, options.ns), options.name) : std::vector<view::QueueRow>();
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
    tell(options.name.empty() ? std::string("there are no queues")
                              : fmt::format("there is no queue \"{}\"", options.name));
  }
  return drawn;
}

std::string render_workloads(const GetOptions& options, Queues& queues) {
  const view::TextOptions text = text_options(*options.color);
  auto rows = view::workload_rows(queues.controller, queues.scheduler.cluster(), options.ns, text.unicode);
  std::erase_if(rows, [&](const view::WorkloadRow& row) { return !is_meant(row, options.name); });
  if (options.output == "json" || options.output == "yaml") {
    return as_values(options, std::move(json::Out::object().add("workloads", view::workloads_to_json(rows))));
  }
  if (rows.empty()) {
    const std::string what =
        options.name.empty() ? std::string("are no workloads") : fmt::format("is no workload \"{}\"", options.name);
    tell(options.ns.empty() ? fmt::format("there {}", what)
                            : fmt::format("there {} in namespace \"{}\" (-A shows all)", what, options.ns));
    return {};
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return view::workloads_to_text(rows, options.output == "wide", now.time_since_epoch().count(), text);
}

std::string render_gangs(const GetOptions& options, const view::Present& present, Cluster& cluster) {
  if (options.output == "json" || options.output == "yaml") {
    return as_values(options, view::present_to_json(present, cluster));
  }
  if (present.gangs.empty() && present.planned.decisions.empty()) {
    tell(options.name.empty() ? std::string("no gang runs or asks for a place")
                              : fmt::format("no gang \"{}\" runs or asks for a place", options.name));
    return {};
  }
  view::TextOptions text = text_options(*options.color);
  text.hosts = options.output == "wide";
  std::vector<view::TextLine> lines = view::draw_present(cluster, present, text);
  lines.emplace_back();
  lines.emplace_back().add(view::summary(present));
  return view::render(lines, text.color);
}

int get_gangs(const GetOptions& options) {
  World world;
  const Sources sources{.files = options.files, .levels = {}, .config = options.config};
  if (const auto read = read_world(sources, world); !read) {
    fmt::print(stderr, "{}\n", read.error().message);
    return kBadInput;
  }
  view::Present present = what_is(world, sources);
  const auto other = [&](const auto& one) {
    return (!options.ns.empty() && one.key.ns != options.ns) ||
           (!options.name.empty() && !may_mean(options.name, one.key));
  };
  std::erase_if(present.gangs, other);
  std::erase_if(present.planned.decisions, other);
  std::erase_if(present.planned.evictions, other);
  return write_output(render_gangs(options, present, world.cluster)) ? kDone : kBadInput;
}

int get(GetOptions options) {
  options.what = kind_names().at(options.what);
  if (options.what == kGangs) {
    return get_gangs(options);
  }
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
      shows_queues(options) ? render_queues(options, queues.controller) : render_workloads(options, queues);
  const bool missing = drawn.empty() && !options.name.empty();
  return write_output(drawn) && !missing ? kDone : kBadInput;
}

}  // namespace

void add_get(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<GetOptions>();
  CLI::App* command = app.add_subcommand(
      "get", "List gangs, queues or workloads: who runs where, who waits, for what, and what is used");
  std::vector<std::string> words;
  for (const auto& [word, kind] : kind_names()) {
    words.push_back(word);
  }
  command
      ->add_option("KIND", options->what,
                   "gangs, queues, localqueues or workloads; also in the singular, or short: q, cq, lq, wl")
      ->required()
      ->check(CLI::IsMember(words))
      ->type_name("KIND");
  command->add_option("NAME", options->name, "Show this one alone; a workload also by the name of its job")
      ->type_name("NAME");
  command
      ->add_option("-f,--file", options->files,
                   "A file, a folder, or - for standard input, instead of the cluster; may be given often")
      ->allow_extra_args(false)
      ->type_name("PATH");
  add_connection_options(*command, options->config);
  CLI::Option* ns = command
                        ->add_option("-n,--namespace", options->ns,
                                     "Gangs or workloads of this namespace; of queues, the LocalQueues in it too")
                        ->type_name("NS");
  command->add_flag("-A,--all-namespaces", options->all_namespaces, "The same of all namespaces")->excludes(ns);
  command->add_option("-o,--output", options->output, "How to show them")
      ->check(CLI::IsMember({"text", "wide", "json", "yaml"}))
      ->type_name("FORMAT");
  options->color = add_color_option(*command);
  command->footer(
      "Without -n and -A: the workloads of the context's namespace, all that are in files; ClusterQueues alone; gangs "
      "of\n"
      "all namespaces. What is told of gangs is what the objects of the cluster say; of jobs in files that no cluster "
      "has,\n"
      "what `gantree plan` would do, and it is called that.");
  command->callback([&run, options] { run = [options] { return get(*options); }; });
}

}  // namespace gantree
