#include "kube/served.h"

#include <algorithm>
#include <array>

#include "json/decode.h"
#include "json/read.h"

namespace gantree::kube {
namespace {

template <class Visit>
void each(json::Reader& read, json::Value parent, std::string_view list, const Visit& visit) {
  if (const json::Value items = read.array(parent, list)) {
    for (const json::NodeData& item : items.items()) {
      visit(json::Value(&item));
    }
  }
}

bool can_watch(json::Reader& read, json::Value resource) {
  bool list = false;
  bool watch = false;
  each(read, resource, "verbs", [&](json::Value verb) {
    list |= verb.kind() == json::Kind::kString && verb.text() == "list";
    watch |= verb.kind() == json::Kind::kString && verb.text() == "watch";
  });
  return list && watch;
}

void read_aggregated(json::Reader& read, json::Value root, Served& served) {
  each(read, root, "items", [&](json::Value group) {
    const std::string name(read.text(read.object(group, "metadata"), "name").value_or(""));
    each(read, group, "versions", [&](json::Value version) {
      const std::string number(read.require_text(version, "version"));
      if (read.text(version, "freshness") == "Stale") {
        served.stale.push_back({name, number});
      }
      each(read, version, "resources", [&](json::Value resource) {
        if (!can_watch(read, resource)) {
          return;
        }
        served.resources.push_back(
            {.group = name,
             .version = number,
             .plural = std::string(read.require_text(resource, "resource")),
             .kind = std::string(read.text(read.object(resource, "responseKind"), "kind").value_or("")),
             .namespaced = read.text(resource, "scope") != "Cluster"});
      });
    });
  });
}

void read_groups(json::Reader& read, json::Value root, Served& served) {
  each(read, root, "groups", [&](json::Value group) {
    const std::string name(read.require_text(group, "name"));
    each(read, group, "versions", [&](json::Value version) {
      served.group_versions.push_back({name, std::string(read.require_text(version, "version"))});
    });
  });
}

void read_versions(json::Reader& read, json::Value root, Served& served) {
  each(read, root, "versions", [&](json::Value version) {
    served.group_versions.push_back({"", std::string(read.as_text(version, "versions"))});
  });
}

void read_resources(json::Reader& read, json::Value root, Served& served) {
  const std::string_view name = read.require_text(root, "groupVersion");
  const std::size_t slash = name.find('/');
  const bool core = slash == std::string_view::npos;
  each(read, root, "resources", [&](json::Value resource) {
    const std::string_view plural = read.require_text(resource, "name");
    if (plural.find('/') != std::string_view::npos || !can_watch(read, resource)) {
      return;
    }
    served.resources.push_back({.group = std::string(core ? "" : name.substr(0, slash)),
                                .version = std::string(core ? name : name.substr(slash + 1)),
                                .plural = std::string(plural),
                                .kind = std::string(read.text(resource, "kind").value_or("")),
                                .namespaced = read.boolean(resource, "namespaced").value_or(false)});
  });
}

}  // namespace

std::string discovery_accept() {
  return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
         "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
}

Result<Served> read_served(const std::string& body) {
  const Result<std::vector<json::Document>> documents = json::read_documents("discovery", body);
  if (!documents.has_value()) {
    return tl::unexpected<Error>(documents.error());
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return invalid("discovery: the server's answer is no object");
  }
  const json::Value root = documents->front().root();
  json::Reader read("discovery", root, "the server's answer");
  using Read = void (*)(json::Reader&, json::Value, Served&);
  constexpr std::array<std::pair<std::string_view, Read>, 4> kForms = {{{"APIGroupDiscoveryList", read_aggregated},
                                                                        {"APIGroupList", read_groups},
                                                                        {"APIVersions", read_versions},
                                                                        {"APIResourceList", read_resources}}};
  const std::string_view kind = read.require_text(root, "kind");
  const auto form = std::ranges::find(kForms, kind, &std::pair<std::string_view, Read>::first);
  Served served;
  if (form == kForms.end()) {
    read.complain(root, "is of a kind that discovery does not know");
  } else {
    form->second(read, root, served);
  }
  if (!read.ok()) {
    return read.error();
  }
  return served;
}

}  // namespace gantree::kube
