// gantree tree: the domains of a cluster, what is free in them, and the largest gang that still fits.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster_objects.h"
#include "commands.h"
#include "dialects/dialects.h"
#include "dialects/koordinator/topology_status.h"
#include "output.h"
#include "terminal.h"
#include "view/tree_report.h"
#include "view/words.h"
#include "world.h"

namespace gantree {

namespace {

struct TreeOptions {
  Sources sources;
  std::string output = "text";
  std::string as;
  std::string topology;
  std::vector<std::string> request;
  std::vector<std::string> tolerated;
  std::string level;
  std::optional<int> depth;
  bool hosts = false;
  std::shared_ptr<std::string> color;
};

Result<std::vector<json::Document>> read_cluster(const TreeOptions& options, World& world) {
  auto documents = read_documents(options.sources, all_kinds());
  if (!documents) {
    return documents;
  }
  if (const auto taken = read_world(*documents, options.sources, world); !taken) {
    return tl::unexpected(taken.error());
  }
  return documents;
}

void ensure_topology(Cluster& cluster) {
  if (cluster.engine().topologies() == 0) {
    tell("there is no Topology in the input and no --levels, so this is a topology of hosts only");
    cluster.engine().add_topology({"hosts", {kHostnameLabel}});
  }
}

// As an API object, not as a report.
Result<std::string> object_answer(const TreeOptions& options, const std::vector<json::Document>& documents,
                                  Cluster& cluster) {
  if (options.output == "text") {
    return invalid(fmt::format("gantree: --as {} needs -o yaml or -o json", options.as));
  }
  const auto object = koordinator::cluster_network_topology(documents, cluster);
  if (!object) {
    return tl::unexpected(object.error());
  }
  return options.output == "json" ? object->to_json(true) + "\n" : object->to_yaml();
}

Result<std::vector<TopologyId>> chosen_topologies(const Engine& engine, const std::string& name) {
  std::vector<TopologyId> all;
  std::vector<std::string> names;
  for (std::size_t t = 0; t < engine.topologies(); ++t) {
    all.push_back(make_id<TopologyTag>(t));
    names.push_back(engine.topology(all.back()).name);
  }
  if (name.empty()) {
    return all;
  }
  if (const auto found = engine.find_topology(name)) {
    return std::vector{*found};
  }
  return fail(Errc::kNotFound,
              fmt::format("gantree: there is no Topology \"{}\" (there is {})", name, fmt::join(names, ", ")));
}

bool any_node_has(const Inventory& inventory, ResourceId resource) {
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    if (inventory.alive(make_id<NodeTag>(n)) && inventory.allocatable(make_id<NodeTag>(n), resource) > 0) {
      return true;
    }
  }
  return false;
}

// "nvidia.com/gpu=1", "cpu=4", ...
Result<Amounts> read_request(const std::vector<std::string>& parts, const Inventory& inventory) {
  Amounts request;
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      return invalid(fmt::format("gantree: --request: \"{}\" is not RESOURCE=AMOUNT", part));
    }
    const auto resource = inventory.resources().find(name);
    if (!resource || !any_node_has(inventory, *resource)) {
      return fail(Errc::kNotFound, fmt::format("gantree: --request: no node has the resource \"{}\"", name));
    }
    const auto amount =
        parse_quantity(std::string_view(part).substr(equals + 1), ResourceNames::unit(*resource), Round::kUp);
    if (!amount) {
      return fail(amount.error().code, fmt::format("gantree: --request: {}: {}", name, amount.error().message));
    }
    if (*amount <= 0) {
      return invalid(fmt::format("gantree: --request: {} must be more than 0", name));
    }
    request.set(*resource, *amount);
  }
  return request;
}

// How many levels to list: of --hosts, --level and --depth, in this order.
Result<std::optional<int>> listed_levels(const TreeOptions& options, const Topology& topology) {
  const std::vector<std::string> words = view::level_words(topology);
  if (options.hosts) {
    return static_cast<int>(words.size());
  }
  if (options.level.empty()) {
    return options.depth;
  }
  for (std::size_t level = 0; level < words.size(); ++level) {
    if (words[level] == options.level || (level < topology.levels.size() && topology.levels[level] == options.level)) {
      return static_cast<int>(level) + 1;
    }
  }
  return fail(Errc::kNotFound, fmt::format("gantree: Topology \"{}\" has no level \"{}\" (it has {})", topology.name,
                                           options.level, fmt::join(words, ", ")));
}

Result<view::TreeReport> report(const TreeOptions& options, TopologyId topology, const Amounts& request,
                                Cluster& cluster) {
  const auto levels = listed_levels(options, cluster.engine().topology(topology));
  if (!levels) {
    return tl::unexpected(levels.error());
  }
  return view::report_tree(cluster, {topology, request, options.tolerated, *levels});
}

// Networks with several names are drawn once.
Result<std::string> text_answer(const TreeOptions& options, const std::vector<TopologyId>& topologies,
                                const Amounts& request, Cluster& cluster) {
  const view::TextOptions text = text_options(*options.color);
  std::vector<view::TextLine> lines;
  for (const std::vector<TopologyId>& same : view::networks(cluster, topologies)) {
    auto drawn = report(options, same.front(), request, cluster);
    if (!drawn) {
      return tl::unexpected(drawn.error());
    }
    drawn->scene.name = view::names_of(cluster, same);
    if (!lines.empty()) {
      lines.emplace_back();
    }
    append(lines, view::tree_to_text(*drawn, cluster.inventory().resources(), text));
  }
  return view::render(lines, text.color);
}

Result<std::string> value_answer(const TreeOptions& options, const std::vector<TopologyId>& topologies,
                                 const Amounts& request, Cluster& cluster) {
  json::Out trees = json::Out::array();
  for (const TopologyId topology : topologies) {
    const auto told = report(options, topology, request, cluster);
    if (!told) {
      return tl::unexpected(told.error());
    }
    trees.push(view::tree_to_json(*told, cluster.inventory().resources()));
  }
  json::Out out = json::Out::object();
  out.add("topologies", std::move(trees));
  return options.output == "json" ? out.to_json(true) + "\n" : out.to_yaml();
}

Result<std::string> answer(const TreeOptions& options) {
  World world;
  Cluster& cluster = world.cluster;
  const auto documents = read_cluster(options, world);
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (!options.as.empty()) {
    return object_answer(options, *documents, cluster);
  }
  ensure_topology(cluster);
  const auto topologies = chosen_topologies(cluster.engine(), options.topology);
  if (!topologies) {
    return tl::unexpected(topologies.error());
  }
  const auto request = read_request(options.request, cluster.inventory());
  if (!request) {
    return tl::unexpected(request.error());
  }
  return options.output == "text" ? text_answer(options, *topologies, *request, cluster)
                                  : value_answer(options, *topologies, *request, cluster);
}

int tree(const TreeOptions& options) {
  const Result<std::string> text = answer(options);
  if (!text) {
    fmt::print(stderr, "{}\n", text.error().message);
    return kBadInput;
  }
  return write_output(*text) ? kDone : kBadInput;
}

void add_depth_options(CLI::App& command, TreeOptions& options) {
  CLI::Option* depth = command.add_option("--depth", options.depth, "List so many levels, from the top")
                           ->check(CLI::Range(1, kMaxLevels + 1))
                           ->type_name("N");
  CLI::Option* level = command.add_option("--level", options.level, "List down to this level, a label or a word of it")
                           ->type_name("LEVEL");
  CLI::Option* hosts = command.add_flag("--hosts", options.hosts, "List every host");
  depth->excludes(level)->excludes(hosts);
  level->excludes(hosts);
}

}  // namespace

void add_tree(CLI::App& app, std::function<int()>& run) {
  auto options = std::make_shared<TreeOptions>();
  CLI::App* command = app.add_subcommand("tree", "Show domains, what is free in them, and the largest gang that fits");
  add_live_source_options(*command, options->sources);
  command->add_option("-o,--output", options->output, "How to show the answer")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->type_name("FORMAT");
  command->add_option("--as", options->as, "Print the domains as an API object of this kind, with -o yaml or json")
      ->check(CLI::IsMember({"clusternetworktopology"}))
      ->type_name("KIND");
  command->add_option("--topology", options->topology, "Only this Topology")->type_name("NAME");
  command
      ->add_option("--request", options->request,
                   "What one pod asks for, as in nvidia.com/gpu=8,cpu=32; one GPU where not given")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("RESOURCE=AMOUNT,...");
  command
      ->add_option("--tolerate", options->tolerated,
                   "Keys of taints that the pod tolerates, besides those that most hosts carry; \"*\" for all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("KEY,KEY,...");
  add_depth_options(*command, *options);
  options->color = add_color_option(*command);
  command->footer(
      "Reads the cluster of your kubeconfig, or the files that -f names. Jobs that ask are not placed first: this is "
      "the\n"
      "cluster as it is.");
  command->callback([&run, options] { run = [options] { return tree(*options); }; });
}

}  // namespace gantree
