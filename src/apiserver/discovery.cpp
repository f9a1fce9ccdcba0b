#include "apiserver/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "apiserver/builtin.h"

namespace gantree::apiserver {

namespace {

Array texts(const std::vector<std::string>& list) {
  Array array;
  for (const std::string& text : list) {
    array.push_back(Value(text));
  }
  return array;
}

Array words(std::string_view list) {
  Array array;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    array.push_back(Value(list.substr(0, comma)));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return array;
}

struct Part {
  std::string group;
  std::string version;
  std::string kind;
  std::string verbs;
};

// What is under an object of the kind.
Part part_of(const Kind& kind, const std::string& subresource) {
  if (const BuiltinKind* row = kind.custom() ? nullptr : find_builtin(kind.group, kind.version, kind.kind)) {
    const Subresource found = subresource_of(*row, subresource);
    return {std::string(found.group), std::string(found.version), std::string(found.kind), std::string(found.verbs)};
  }
  if (subresource == "scale") {
    return {"autoscaling", "v1", "Scale", "get,patch,update"};
  }
  return {kind.group, kind.version, kind.kind, "get,patch,update"};
}

// The two pages of the core group do not say of which version they are.
Object header(std::string_view kind, bool versioned = true) {
  Object object;
  object["kind"] = kind;
  if (versioned) {
    object["apiVersion"] = "v1";
  }
  return object;
}

std::vector<KindPtr> sorted(std::vector<KindPtr> kinds) {
  std::sort(kinds.begin(), kinds.end(), [](const KindPtr& a, const KindPtr& b) { return a->resource < b->resource; });
  return kinds;
}

Object group_version(std::string_view group, std::string_view version) {
  Object object;
  object["groupVersion"] = group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
  object["version"] = version;
  return object;
}

std::vector<std::string> groups_of(const Registry& registry) {
  std::vector<std::string> groups;
  for (const auto& version : registry.group_versions()) {
    if (!version.group.empty() && std::find(groups.begin(), groups.end(), version.group) == groups.end()) {
      groups.push_back(version.group);
    }
  }
  return groups;
}

void describe(const Kind& kind, Object& resource) {
  if (!kind.short_names.empty()) {
    resource["shortNames"] = texts(kind.short_names);
  }
  if (!kind.categories.empty()) {
    resource["categories"] = texts(kind.categories);
  }
}

Object response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  Object object;
  object["group"] = group;
  // The core group's is understood.
  object["version"] = group.empty() ? std::string_view() : version;
  object["kind"] = kind;
  return object;
}

Object aggregated_resource(const Kind& kind) {
  Object resource;
  resource["resource"] = kind.resource;
  resource["responseKind"] = response_kind(kind.group, kind.version, kind.kind);
  resource["scope"] = kind.namespaced ? "Namespaced" : "Cluster";
  resource["singularResource"] = kind.singular;
  resource["verbs"] = words(kind.verbs);
  describe(kind, resource);
  Array parts;
  for (const std::string& name : kind.subresources) {
    const Part part = part_of(kind, name);
    Object entry;
    entry["subresource"] = name;
    entry["responseKind"] = response_kind(part.group, part.version, part.kind);
    entry["verbs"] = words(part.verbs);
    parts.push_back(std::move(entry));
  }
  if (!parts.empty()) {
    resource["subresources"] = std::move(parts);
  }
  return resource;
}

}  // namespace

Object api_versions() {
  Object object = header("APIVersions", false);
  object["versions"] = Array{Value("v1")};
  Object address;
  address["clientCIDR"] = "0.0.0.0/0";
  address["serverAddress"] = "";
  object["serverAddressByClientCIDRs"] = Array{Value(std::move(address))};
  return object;
}

Object api_group(const Registry& registry, std::string_view group) {
  Array versions;
  for (const auto& version : registry.group_versions()) {
    if (version.group == group) {
      versions.push_back(group_version(version.group, version.version));
    }
  }
  if (versions.empty()) {
    return {};
  }
  Object object = header("APIGroup");
  object["name"] = group;
  object["preferredVersion"] = versions.front();
  object["versions"] = std::move(versions);
  return object;
}

Object api_group_list(const Registry& registry) {
  Object object = header("APIGroupList");
  Array groups;
  for (const std::string& name : groups_of(registry)) {
    Object group = api_group(registry, name);
    group.stable_erase(group.find("kind"));
    group.stable_erase(group.find("apiVersion"));
    groups.push_back(std::move(group));
  }
  object["groups"] = std::move(groups);
  return object;
}

Object api_resource_list(const Registry& registry, std::string_view group, std::string_view version) {
  const std::vector<KindPtr> kinds = sorted(registry.kinds_of({std::string(group), std::string(version)}));
  if (kinds.empty()) {
    return {};
  }
  Object object = header("APIResourceList", !group.empty());
  object["groupVersion"] = kinds.front()->api_version();
  Array resources;
  for (const KindPtr& kind : kinds) {
    Object resource;
    resource["name"] = kind->resource;
    resource["singularName"] = kind->singular;
    resource["namespaced"] = kind->namespaced;
    resource["kind"] = kind->kind;
    resource["verbs"] = words(kind->verbs);
    describe(*kind, resource);
    resources.push_back(std::move(resource));
    for (const std::string& name : kind->subresources) {
      const Part part = part_of(*kind, name);
      Object entry;
      entry["name"] = kind->resource + "/" + name;
      entry["singularName"] = "";
      entry["namespaced"] = kind->namespaced;
      if (part.group != kind->group || part.version != kind->version) {
        entry["group"] = part.group;
        entry["version"] = part.version;
      }
      entry["kind"] = part.kind;
      entry["verbs"] = words(part.verbs);
      resources.push_back(std::move(entry));
    }
  }
  object["resources"] = std::move(resources);
  return object;
}

Object aggregated_discovery(const Registry& registry, bool core_group) {
  Object object;
  object["kind"] = "APIGroupDiscoveryList";
  object["apiVersion"] = "apidiscovery.k8s.io/v2";
  object["metadata"].emplace_object();
  Array items;
  std::string last;
  for (const auto& version : registry.group_versions()) {
    if (version.group.empty() != core_group) {
      continue;
    }
    if (items.empty() || last != version.group) {
      last = version.group;
      Object item;
      Object& metadata = object_in(item, "metadata");
      if (!version.group.empty()) {
        metadata["name"] = version.group;
      }
      item["versions"].emplace_array();
      items.push_back(std::move(item));
    }
    Object entry;
    entry["version"] = version.version;
    Array resources;
    for (const KindPtr& kind : sorted(registry.kinds_of(version))) {
      resources.push_back(aggregated_resource(*kind));
    }
    entry["resources"] = std::move(resources);
    entry["freshness"] = "Current";
    items.back().get_object()["versions"].get_array().push_back(std::move(entry));
  }
  object["items"] = std::move(items);
  return object;
}

}  // namespace gantree::apiserver
