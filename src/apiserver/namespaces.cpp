#include "apiserver/namespaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::size_t kMostPerTurn = 500;
constexpr std::string_view kAuthority = "kube-root-ca.crt";
constexpr std::string_view kOwnService = "kubernetes";
// The first of those that Services are given.
constexpr std::string_view kOwnAddress = "10.96.0.1";
// So few objects keep a deleted namespace that it tells of them.
constexpr std::size_t kFewLeft = 100;

Call creation(std::string path, const Object& object) {
  Call call;
  call.method = "POST";
  call.path = std::move(path);
  call.body = to_json(object);
  call.user = "system:kube-controller-manager";
  return call;
}

Object named(std::string_view api_version, std::string_view kind, std::string_view name) {
  Object object;
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object_in(object, "metadata")["name"] = name;
  return object;
}

// What keeps a namespace that is deleted.
struct Remains {
  std::map<std::string, std::size_t> resources;
  std::map<std::string, std::size_t> finalizers;
  std::map<std::string, std::string> refusals;  // why objects of a resource cannot be deleted, one of each
  std::size_t count = 0;
};

std::string counted(const std::map<std::string, std::size_t>& counts, std::string_view between) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {} {} resource instances", text.empty() ? "" : ", ", name, between, count);
  }
  return text;
}

// As the real namespace controller tells it.
Array what_keeps(const Remains& remains, std::string_view now) {
  Array conditions;
  const auto add = [&](std::string_view type, bool holds, std::string_view reason, std::string message) {
    Object condition;
    condition["type"] = type;
    condition["status"] = holds ? "True" : "False";
    condition["lastTransitionTime"] = now;
    condition["reason"] = reason;
    condition["message"] = std::move(message);
    conditions.push_back(std::move(condition));
  };
  add("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered");
  add("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
      "All legacy kube types successfully parsed");
  if (remains.refusals.empty()) {
    add("NamespaceDeletionContentFailure", false, "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization");
  } else {
    std::vector<std::string> reasons;
    for (const auto& [resource, why] : remains.refusals) {
      reasons.push_back(why);
    }
    std::sort(reasons.begin(), reasons.end());
    add("NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
        fmt::format("Failed to delete all resource types, {} remaining: {}", reasons.size(), fmt::join(reasons, ", ")));
  }
  if (remains.resources.empty()) {
    add("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed");
  } else {
    add("NamespaceContentRemaining", true, "SomeResourcesRemain",
        "Some resources are remaining: " + counted(remains.resources, "has"));
  }
  if (remains.finalizers.empty()) {
    add("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers", "All content-preserving finalizers finished");
  } else {
    add("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: " + counted(remains.finalizers, "in"));
  }
  return conditions;
}

bool same_but_for_times(const Array& a, const Array& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Value& x, const Value& y) {
    return text_at(x, {"status"}) == text_at(y, {"status"}) && text_at(x, {"message"}) == text_at(y, {"message"});
  });
}

bool says_the_same(const Object& a, const Object& b, std::string_view member) {
  const Value* one = a.if_contains(member);
  const Value* other = b.if_contains(member);
  return one != nullptr && other != nullptr && same(*one, *other);
}

// Creates the object, or replaces it where it says something else. Made by nobody but the server.
void keep(Core& core, std::string_view table, std::string_view ns, const std::string& collection, Object object,
          const std::function<bool(const Object&)>& right) {
  const std::string name(text_at(object, {"metadata", "name"}));
  const auto known = core.read(table, {std::string(ns), name});
  if (known && right(*known)) {
    return;
  }
  Call call = creation(collection, object);
  if (known) {
    call.method = "PUT";
    call.path += "/" + name;
  }
  core.ask(std::move(call), [](const Answer&) {});
}

}  // namespace

void Namespaces::begin() {
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    if (core_.store.find("namespaces", {"", std::string(name)}) == nullptr) {
      core_.ask(creation("/api/v1/namespaces", named("v1", "Namespace", name)), [](const Answer&) {});
    }
  }
  if (const Table* table = core_.store.find_table("namespaces")) {
    for (const auto& [key, entry] : table->entries) {
      changed("namespaces", key, entry.facts.get());
    }
  }
}

void Namespaces::changed(std::string_view table, const Key& key, const Facts* now) {
  if (table == "namespaces") {
    if (now == nullptr) {
      ending_.erase(key.name);
    } else if (now->deleting) {
      ending_.insert(key.name);
      schedule();
    } else {
      core_.soon([this, ns = key.name] {
        give_account(ns);
        give_authority(ns);
        if (ns == "default") {
          give_own_service();
        }
      });
    }
  } else if (now == nullptr && ending_.contains(key.ns)) {
    schedule();
  } else if (table == "serviceaccounts" && now == nullptr && key.name == "default") {
    core_.soon([this, ns = key.ns] { give_account(ns); });
  } else if (table == "configmaps" && key.name == kAuthority) {
    core_.soon([this, ns = key.ns] { give_authority(ns); });
  } else if (now == nullptr && key.ns == "default" && key.name == kOwnService &&
             (table == "services" || table == "endpoints" || table == "endpointslices.discovery.k8s.io")) {
    core_.soon([this] { give_own_service(); });
  }
}

Outcome<> Namespaces::check_creation(const Kind& kind, std::string_view ns, std::string_view name) const {
  const Entry* entry = core_.store.find("namespaces", {"", std::string(ns)});
  if (entry == nullptr) {
    return tl::unexpected(not_found({"", "namespaces"}, ns));
  }
  if (entry->facts->deleting) {
    Failure failure = forbidden_request(
        kind.what(), name,
        fmt::format("unable to create new content in namespace {} because it is being terminated", ns));
    add_cause(failure, "NamespaceTerminating", fmt::format("namespace {} is being terminated", ns),
              "metadata.namespace");
    return tl::unexpected(std::move(failure));
  }
  return {};
}

void Namespaces::schedule() {
  if (!scheduled_) {
    scheduled_ = true;
    core_.soon([this] { work(); });
  }
}

void Namespaces::work() {
  scheduled_ = false;
  for (const std::string& ns : std::set(ending_)) {
    if (empty_out(ns)) {
      tell_what_is_left(ns);
    } else {
      core_.edit("namespaces", {"", ns}, [](Object& object) {
        const Array* finalizers = array_at(object, {"spec", "finalizers"});
        if (finalizers == nullptr || finalizers->empty()) {
          return false;
        }
        object_in(object, "spec").clear();
        return true;
      });
    }
  }
}

bool Namespaces::empty_out(const std::string& ns) {
  bool left = false;
  std::size_t under_way = core_.removals.under_way("");
  for (const auto& [name, table] : core_.store.tables()) {
    const KindPtr kind = core_.registry.stored_kind(name);
    if (kind == nullptr) {
      continue;
    }
    for (auto it = table->entries.lower_bound({ns, ""}); it != table->entries.end() && it->first.ns == ns; ++it) {
      left = true;
      if (it->second.facts->deleting) {
        continue;
      }
      if (under_way >= kMostPerTurn) {
        return true;  // goes on when some of them are gone
      }
      Call call;
      call.path = path_of(*kind, it->first);
      call.query = "propagationPolicy=Background";
      call.user = "system:serviceaccount:kube-system:namespace-controller";
      under_way += core_.removals.ask({name, it->first}, std::move(call), [this] { schedule(); }) ? 1 : 0;
    }
  }
  return left;
}

void Namespaces::tell_what_is_left(const std::string& ns) {
  if (core_.removals.under_way(ns) > 0) {
    return;  // there may be less in a moment
  }
  Remains remains;
  for (const auto& [name, table] : core_.store.tables()) {
    const KindPtr kind = core_.registry.stored_kind(name);
    if (kind == nullptr) {
      continue;
    }
    const std::string resource = kind->what().text() + (kind->group.empty() ? "." : "");
    for (auto it = table->entries.lower_bound({ns, ""}); it != table->entries.end() && it->first.ns == ns; ++it) {
      ++remains.count;
      if (const std::string* why = core_.removals.refusal({name, it->first})) {
        remains.refusals.emplace(resource, *why);
        continue;
      }
      ++remains.resources[resource];
      for (const std::string& finalizer : it->second.facts->finalizers) {
        ++remains.finalizers[finalizer];
      }
    }
  }
  if (remains.count > kFewLeft && remains.refusals.empty()) {
    return;  // it is told when there are less
  }
  core_.edit("namespaces", {"", ns}, [&](Object& object) {
    Array conditions = what_keeps(remains, core_.now());
    const Array* before = array_at(object, {"status", "conditions"});
    if (before != nullptr && same_but_for_times(*before, conditions)) {
      return false;
    }
    object_in(object, "status")["conditions"] = std::move(conditions);
    return true;
  });
}

void Namespaces::give_authority(const std::string& ns) {
  const Entry* entry = core_.store.find("namespaces", {"", ns});
  if (core_.options.authority.empty() || entry == nullptr || entry->facts->deleting) {
    return;
  }
  Object object = named("v1", "ConfigMap", kAuthority);
  object["data"] = Object{{"ca.crt", core_.options.authority}};
  keep(core_, "configmaps", ns, fmt::format("/api/v1/namespaces/{}/configmaps", ns), std::move(object),
       [this](const Object& known) { return text_at(known, {"data", "ca.crt"}) == core_.options.authority; });
}

void Namespaces::give_own_service() {
  const std::string& host = core_.options.host;
  const int port = core_.options.port;
  if (host.empty() || core_.store.find("namespaces", {"", "default"}) == nullptr) {
    return;
  }
  Object service = named("v1", "Service", kOwnService);
  object_in(service, "metadata")["labels"] = Object{{"component", "apiserver"}, {"provider", "kubernetes"}};
  Array ports{Object{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", port}}};
  service["spec"] = Object{{"type", "ClusterIP"}, {"clusterIP", kOwnAddress}, {"ports", std::move(ports)}};
  if (core_.store.find("services", {"default", std::string(kOwnService)}) == nullptr) {
    core_.ask(creation("/api/v1/namespaces/default/services", service), [](const Answer&) {});
  }
  const Array leads_to{Object{{"name", "https"}, {"port", port}, {"protocol", "TCP"}}};
  Object endpoints = named("v1", "Endpoints", kOwnService);
  object_in(endpoints, "metadata")["labels"] = Object{{"endpointslice.kubernetes.io/skip-mirror", "true"}};
  endpoints["subsets"] = Array{Object{{"addresses", Array{Object{{"ip", host}}}}, {"ports", leads_to}}};
  keep(core_, "endpoints", "default", "/api/v1/namespaces/default/endpoints", endpoints,
       [&](const Object& known) { return says_the_same(known, endpoints, "subsets"); });
  Object slice = named("discovery.k8s.io/v1", "EndpointSlice", kOwnService);
  object_in(slice, "metadata")["labels"] = Object{{"kubernetes.io/service-name", kOwnService}};
  slice["addressType"] = host.find(':') == std::string::npos ? "IPv4" : "IPv6";
  slice["endpoints"] = Array{Object{{"addresses", Array{Value(host)}}, {"conditions", Object{{"ready", true}}}}};
  slice["ports"] = leads_to;
  keep(core_, "endpointslices.discovery.k8s.io", "default",
       "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice, [&](const Object& known) {
         return says_the_same(known, slice, "ports") && says_the_same(known, slice, "endpoints");
       });
}

void Namespaces::give_account(const std::string& ns) {
  const Entry* entry = core_.store.find("namespaces", {"", ns});
  if (entry == nullptr || entry->facts->deleting || core_.store.find("serviceaccounts", {ns, "default"}) != nullptr) {
    return;
  }
  core_.ask(
      creation(fmt::format("/api/v1/namespaces/{}/serviceaccounts", ns), named("v1", "ServiceAccount", "default")),
      [](const Answer&) {});
}

}  // namespace gantree::apiserver
