// gantree node: nodes that come, go, fail, heal, and are kept free.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "cluster_access.h"
#include "commands.h"
#include "connection.h"
#include "controllers/adopt.h"
#include "controllers/names.h"
#include "controllers/objects.h"
#include "controllers/shapes.h"
#include "kube/blocking.h"
#include "output.h"

namespace gantree {

namespace {

using apiserver::Object;
using apiserver::Value;

struct NodeOptions {
  kube::ConfigRequest config;
  std::vector<std::string> names;
  std::string like;
  std::string shape;
};

// One node after the other; what fails is told, and the rest still done.
using Deed = std::function<Result<std::string>(kube::Client&, const std::string&)>;

Time time_now() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Result<kube::Reply> good(kube::Reply reply, const std::string& name) {
  if (reply.ok()) {
    return reply;
  }
  return reply.http_status == 404 ? fail(Errc::kNotFound, fmt::format("there is no node \"{}\"", name))
                                  : fail(Errc::kIo, fmt::format("node \"{}\": {}", name, reply.message));
}

Result<Object> read_node(kube::Client& client, const std::string& name) {
  const auto reply = good(kube::wait_for([&](kube::Client::Done done) {
                            client.get(kube::nodes(), {.name_space = "", .name = name}, std::move(done));
                          }),
                          name);
  if (!reply) {
    return tl::unexpected(reply.error());
  }
  auto node = apiserver::parse_json(reply->body);
  if (!node || !node->is_object()) {
    return fail(Errc::kIo, fmt::format("node \"{}\" cannot be read", name));
  }
  return std::move(node->get_object());
}

Result<> create_node(kube::Client& client, const Object& node) {
  const std::string name(apiserver::text_at(node, {"metadata", "name"}));
  const auto reply = good(kube::wait_for([&](kube::Client::Done done) {
                            client.create(kube::nodes(), "", apiserver::to_json(node), std::move(done));
                          }),
                          name);
  return reply ? Result<>() : tl::unexpected(reply.error());
}

Result<> patch_node(kube::Client& client, const std::string& name, const Object& patch) {
  const auto reply = good(kube::wait_for([&](kube::Client::Done done) {
                            client.patch(kube::nodes(), {.name_space = "", .name = name}, kube::PatchType::kMerge,
                                         apiserver::to_json(patch), std::move(done));
                          }),
                          name);
  return reply ? Result<>() : tl::unexpected(reply.error());
}

Result<Object> read_simulated(kube::Client& client, const std::string& name) {
  auto node = read_node(client, name);
  if (!node) {
    return node;
  }
  if (apiserver::text_at(*node, {"metadata", "annotations", controllers::kSimulated}) != "true") {
    return invalid(fmt::format(
        "node \"{}\" is not simulated: only nodes of `gantree up` can be made to fail or heal by a command", name));
  }
  return node;
}

Deed silence(bool fails) {
  return [fails](kube::Client& client, const std::string& name) -> Result<std::string> {
    const auto node = read_simulated(client, name);
    if (!node) {
      return tl::unexpected(node.error());
    }
    if (!fails && apiserver::text_at(*node, {"metadata", "annotations", controllers::kFailedSince}).empty()) {
      return fmt::format("node/{} was healthy", name);
    }
    Object annotations;
    annotations[controllers::kFailedSince] = fails ? Value(rfc3339(time_now())) : Value();
    const Object patch{{"metadata", Object{{"annotations", std::move(annotations)}}}};
    if (auto done = patch_node(client, name, patch); !done) {
      return tl::unexpected(done.error());
    }
    return fmt::format("node/{} {}", name, fails ? "fails: it is found out within 40 seconds of its time" : "heals");
  };
}

Deed cordon(bool on) {
  return [on](kube::Client& client, const std::string& name) -> Result<std::string> {
    Object spec;
    spec["unschedulable"] = on ? Value(true) : Value();
    if (auto done = patch_node(client, name, Object{{"spec", std::move(spec)}}); !done) {
      return tl::unexpected(done.error());
    }
    return fmt::format("node/{} {}", name, on ? "cordoned" : "uncordoned");
  };
}

Deed removal() {
  return [](kube::Client& client, const std::string& name) -> Result<std::string> {
    const auto reply = good(kube::wait_for([&](kube::Client::Done done) {
                              client.remove(kube::nodes(), {.name_space = "", .name = name}, {}, std::move(done));
                            }),
                            name);
    if (!reply) {
      return tl::unexpected(reply.error());
    }
    return fmt::format("node/{} removed", name);
  };
}

int do_each(const NodeOptions& options, const Deed& deed) {
  auto cluster = open_cluster(options.config);
  if (!cluster) {
    tell(cluster.error().message);
    return kBadInput;
  }
  int code = kDone;
  for (const std::string& name : options.names) {
    const auto done = deed(*cluster->client, name);
    if (!done) {
      tell(done.error().message);
      code = kBadInput;
    } else if (!write_output(*done + "\n")) {
      return kBadInput;
    }
  }
  return code;
}

// A host of its own name that is otherwise like another one.
Object copy_of(const Object& model, const std::string& name) {
  Object node = controllers::adopted_node(model, time_now());
  apiserver::object_in(node, "metadata")["name"] = name;
  controllers::set_label(node, "kubernetes.io/hostname", name);
  apiserver::object_in(apiserver::object_in(node, "metadata"), "annotations").erase(controllers::kFailedSince);
  apiserver::object_in(node, "spec").erase("taints");
  apiserver::object_in(node, "spec").erase("unschedulable");
  apiserver::object_in(node, "spec").erase("providerID");
  return node;
}

int add_shape(const NodeOptions& options) {
  const auto shape = controllers::parse_shape(options.shape);
  auto cluster = shape ? open_cluster(options.config) : tl::unexpected(shape.error());
  if (!cluster) {
    tell(cluster.error().message);
    return kBadInput;
  }
  for (std::int64_t i = 0; i < shape->host_count(); ++i) {
    if (auto made = create_node(*cluster->client, controllers::make_host(*shape, i, time_now())); !made) {
      tell(made.error().message);
      return kBadInput;
    }
  }
  return write_output(fmt::format("{} nodes added\n", shape->host_count())) ? kDone : kBadInput;
}

int add_nodes(const NodeOptions& options) {
  if (options.names.empty() == options.shape.empty()) {
    tell("name the nodes to add (and --like which one they are to be), or give --generate a shape");
    return kBadInput;
  }
  if (!options.shape.empty()) {
    return add_shape(options);
  }
  const Deed deed = [&](kube::Client& client, const std::string& name) -> Result<std::string> {
    Object node;
    if (options.like.empty()) {
      node = copy_of(controllers::make_host({}, 0, time_now()), name);
    } else {
      const auto model = read_node(client, options.like);
      if (!model) {
        return tl::unexpected(model.error());
      }
      node = copy_of(*model, name);
    }
    if (auto made = create_node(client, node); !made) {
      return tl::unexpected(made.error());
    }
    return fmt::format("node/{} added", name);
  };
  return do_each(options, deed);
}

CLI::App* add_deed(CLI::App& node, std::function<int()>& run, const std::string& name, const std::string& about,
                   const Deed& deed) {
  auto options = std::make_shared<NodeOptions>();
  CLI::App* command = node.add_subcommand(name, about);
  command->add_option("NAME", options->names, "Which nodes")->required();
  add_connection_options(*command, options->config);
  command->callback([&run, options, deed] { run = [options, deed] { return do_each(*options, deed); }; });
  return command;
}

}  // namespace

void add_node(CLI::App& app, std::function<int()>& run) {
  CLI::App* node = app.add_subcommand("node", "Add, remove, cordon nodes; make simulated ones fail and heal");
  node->require_subcommand(1);
  auto options = std::make_shared<NodeOptions>();
  CLI::App* add = node->add_subcommand("add", "Add simulated nodes: by name, or a whole shape");
  add->add_option("NAME", options->names, "What they are called");
  add->add_option("--like", options->like, "Of the same size and with the same labels as this one")->type_name("NODE");
  add->add_option("--generate", options->shape, "As for `gantree up`")->type_name("SHAPE");
  add_connection_options(*add, options->config);
  add->footer(controllers::presets_text());
  add->callback([&run, options] { run = [options] { return add_nodes(*options); }; });
  add_deed(*node, run, "remove", "Delete nodes; their pods go too", removal());
  add_deed(*node, run, "fail", "Make simulated nodes fail, as if their power were cut", silence(true));
  add_deed(*node, run, "heal", "Bring nodes back that were made to fail", silence(false));
  add_deed(*node, run, "cordon", "Let no new pods start on nodes", cordon(true));
  add_deed(*node, run, "uncordon", "Let pods start again", cordon(false));
}

}  // namespace gantree
