// gantree apply: manifests into a cluster, where there is no kubectl at hand.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "cluster_access.h"
#include "commands.h"
#include "connection.h"
#include "dialects/object.h"
#include "input.h"
#include "json/copy.h"
#include "kube/blocking.h"
#include "output.h"

namespace gantree {

namespace {

struct ApplyFlags {
  std::vector<std::string> files;
  kube::ConfigRequest config;
  bool namespaces = false;
};

struct Applied {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string body;
};

// Which path a kind has, as the server tells it.
class Paths {
 public:
  explicit Paths(kube::Client& client) : client_(client) {}

  Result<kube::Resource> find(const std::string& api_version, const std::string& kind) {
    if (auto asked = ask(api_version); !asked) {
      return tl::unexpected(asked.error());
    }
    const auto at = known_.find({api_version, kind});
    if (at == known_.end()) {
      return fail(Errc::kNotFound, fmt::format("the server has no kind {} in {}", kind, api_version));
    }
    return at->second;
  }

 private:
  Result<> ask(const std::string& api_version) {
    if (!asked_.insert(api_version).second) {
      return {};
    }
    const std::size_t slash = api_version.find('/');
    const std::string path = (slash == std::string::npos ? "/api/" : "/apis/") + api_version;
    const kube::Reply reply =
        kube::wait_for([&](kube::Client::Done done) { client_.get_path(path, "application/json", std::move(done)); });
    const auto list = reply.ok()
                          ? apiserver::parse_json(reply.body)
                          : fail(Errc::kNotFound, fmt::format("the server has no {}: {}", api_version, reply.message));
    if (!list) {
      return tl::unexpected(list.error());
    }
    const apiserver::Array* all = apiserver::array_at(*list, {"resources"});
    for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const std::string plural(apiserver::text_at((*all)[i], {"name"}));
      if (plural.find('/') != std::string::npos) {
        continue;
      }
      const apiserver::Value* namespaced = apiserver::find((*all)[i], {"namespaced"});
      kube::Resource resource;
      resource.group = slash == std::string::npos ? std::string() : api_version.substr(0, slash);
      resource.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
      resource.plural = plural;
      resource.kind = apiserver::text_at((*all)[i], {"kind"});
      resource.namespaced = namespaced != nullptr && namespaced->is_bool() && namespaced->get_bool();
      known_[{api_version, resource.kind}] = resource;
    }
    return {};
  }

  kube::Client& client_;
  std::set<std::string> asked_;
  std::map<std::pair<std::string, std::string>, kube::Resource> known_;
};

std::string text_in(const Object& object, std::string_view key) {
  const json::Value metadata = object.metadata();
  const json::Value value = metadata && metadata.kind() == json::Kind::kObject ? metadata[key] : json::Value();
  return value && value.kind() == json::Kind::kString ? std::string(value.text()) : std::string();
}

Result<std::vector<Applied>> read_objects(const std::vector<std::string>& files) {
  const auto documents = read_inputs(files);
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  std::vector<Applied> all;
  const auto read = for_each_object(*documents, [&](const Object& object) -> Result<> {
    const std::string name = text_in(object, "name");
    if (name.empty()) {
      return invalid(
          fmt::format("{}: a {} without a name cannot be applied", json::to_string(object.place()), object.kind));
    }
    all.push_back({.api_version = object.group.empty() ? std::string(object.version)
                                                       : fmt::format("{}/{}", object.group, object.version),
                   .kind = std::string(object.kind),
                   .ns = text_in(object, "namespace"),
                   .name = name,
                   .body = json::copy(object.value).to_json(false)});
    return {};
  });
  if (!read) {
    return tl::unexpected(read.error());
  }
  return all;
}

kube::Reply patch(kube::Client& client, const kube::Resource& resource, const Applied& object) {
  return kube::wait_for([&](kube::Client::Done done) {
    client.patch(resource, {.name_space = object.ns, .name = object.name}, kube::PatchType::kApply, object.body,
                 std::move(done), {.field_manager = "gantree-apply", .force = true});
  });
}

// True where it is there now.
bool apply_one(kube::Client& client, Paths& paths, Applied object, const std::string& default_ns) {
  const auto resource = paths.find(object.api_version, object.kind);
  if (!resource) {
    tell(fmt::format("{} \"{}\": {}", object.kind, object.name, resource.error().message));
    return false;
  }
  object.ns = resource->namespaced ? (object.ns.empty() ? default_ns : object.ns) : std::string();
  const kube::Reply reply = patch(client, *resource, object);
  if (!reply.ok()) {
    tell(fmt::format("{} \"{}\" could not be applied: {}", object.kind, object.name, reply.message));
    return false;
  }
  return write_output(
      fmt::format("{}/{} {}\n", resource->plural, object.name, reply.http_status == 201 ? "created" : "applied"));
}

// The namespaces that the objects name and do not bring along.
std::vector<Applied> missing_namespaces(const std::vector<Applied>& objects) {
  std::set<std::string> named;
  for (const Applied& object : objects) {
    named.insert(object.ns);
  }
  named.erase("");
  for (const Applied& object : objects) {
    if (object.kind == "Namespace") {
      named.erase(object.name);
    }
  }
  std::vector<Applied> all;
  for (const std::string& name : named) {
    apiserver::Object body{{"apiVersion", "v1"}, {"kind", "Namespace"}};
    body["metadata"] = apiserver::Object{{"name", name}};
    all.push_back({.api_version = "v1", .kind = "Namespace", .ns = {}, .name = name, .body = apiserver::to_json(body)});
  }
  return all;
}

int apply_files(const ApplyFlags& flags) {
  auto objects = read_objects(flags.files);
  auto cluster = objects ? open_cluster(flags.config) : tl::unexpected(objects.error());
  if (!cluster) {
    tell(cluster.error().message);
    return kBadInput;
  }
  if (flags.namespaces) {
    std::vector<Applied> first = missing_namespaces(*objects);
    objects->insert(objects->begin(), std::make_move_iterator(first.begin()), std::make_move_iterator(first.end()));
  }
  Paths paths(*cluster->client);
  int code = kDone;
  for (Applied& object : *objects) {
    if (!apply_one(*cluster->client, paths, std::move(object), cluster->config.default_namespace)) {
      code = kBadInput;
    }
  }
  return code;
}

}  // namespace

void add_apply(CLI::App& app, std::function<int()>& run) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command = app.add_subcommand("apply", "Apply manifests to a cluster, where there is no kubectl");
  command->add_option("-f,--file", flags->files, "A file, a folder, or - for standard input; may be given often")
      ->required()
      ->allow_extra_args(false)
      ->type_name("PATH");
  command->add_flag("--create-namespaces", flags->namespaces, "Make the namespaces that are named and not there");
  add_connection_options(*command, flags->config);
  command->footer("As `kubectl apply --server-side --force-conflicts` does. Exit code: 1 where something was refused.");
  command->callback([&run, flags] { run = [flags] { return apply_files(*flags); }; });
}

}  // namespace gantree
