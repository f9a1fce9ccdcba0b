#include "kueue/pod_defaults.h"

#include <span>
#include <utility>
#include <vector>

#include "dialects/core/metadata.h"
#include "dialects/workloads/workload.h"
#include "json/copy.h"

namespace gantree::kueue {

namespace {

json::Out write(const std::map<std::string, std::string>& amounts) {
  json::Out out = json::Out::object();
  for (const auto& [resource, quantity] : amounts) {
    out.add(resource, quantity);
  }
  return out;
}

// The members of an object, some of them replaced or added.
json::Out with(json::Value object, std::vector<std::pair<std::string_view, json::Out>> other) {
  json::Out out = json::Out::object();
  const bool there = object && object.kind() == json::Kind::kObject;
  for (const json::MemberData& member : there ? object.members() : std::span<const json::MemberData>()) {
    bool replaced = false;
    for (const auto& [key, value] : other) {
      replaced = replaced || key == member.key;
    }
    if (!replaced) {
      out.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  for (auto& [key, value] : other) {
    out.add(key, std::move(value));
  }
  return out;
}

}  // namespace

std::vector<ApiKind> PodDefaults::kinds() {
  return {{.group = "", .kind = kLimitRange, .versions = {"v1"}, .namespaced = true},
          {.group = "node.k8s.io", .kind = kRuntimeClass, .versions = {"v1"}, .namespaced = false}};
}

PodDefaults::Amounts PodDefaults::amounts_of(json::Value map) {
  Amounts amounts;
  const bool there = map && map.kind() == json::Kind::kObject;
  for (const json::MemberData& member : there ? map.members() : std::span<const json::MemberData>()) {
    const json::Value value(&member.value);
    if (value.kind() == json::Kind::kString || value.kind() == json::Kind::kNumber) {
      amounts.emplace(member.key, value.text());
    }
  }
  return amounts;
}

std::vector<std::pair<std::string_view, json::Value>> PodDefaults::limits_of(const Object& limit_range) {
  std::vector<std::pair<std::string_view, json::Value>> limits;
  const json::Value spec = map_at(limit_range.value, "spec");
  for (const json::NodeData& item : items_of(spec ? spec["limits"] : json::Value())) {
    const json::Value limit(&item);
    const json::Value type = text_at(limit, "type");
    if (type && (type.text() == "Container" || type.text() == "Pod")) {
      limits.emplace_back(type.text(), limit);
    }
  }
  return limits;
}

void PodDefaults::add_missing(Amounts& amounts, const Amounts& more) {
  amounts.insert(more.begin(), more.end());
}

bool PodDefaults::see(const LiveObject& object, const Object& parsed) {
  if (object.kind == kRuntimeClass) {
    Amounts overhead = amounts_of(map_at(map_at(parsed.value, "overhead"), "podFixed"));
    Amounts& known = overheads_[object.name];
    return std::exchange(known, overhead) != overhead;
  }
  Range range;
  for (const auto& [type, limit] : limits_of(parsed)) {
    Limits& into = type == "Pod" ? range.pod : range.container;
    add_missing(into.limits, amounts_of(map_at(limit, "default")));
    add_missing(into.requests, amounts_of(map_at(limit, "defaultRequest")));
  }
  Range& known = ranges_[object.ns][object.name];
  return std::exchange(known, range) != range;
}

bool PodDefaults::lose(std::string_view kind, std::string_view ns, std::string_view name) {
  if (kind == kRuntimeClass) {
    return overheads_.erase(std::string(name)) > 0;
  }
  const auto of_namespace = ranges_.find(std::string(ns));
  if (of_namespace == ranges_.end() || of_namespace->second.erase(std::string(name)) == 0) {
    return false;
  }
  if (of_namespace->second.empty()) {
    ranges_.erase(of_namespace);
  }
  return true;
}

bool PodDefaults::any(const std::string& ns) const {
  return !overheads_.empty() || ranges_.contains(ns);
}

// Where several say something of a resource, the first by name counts.
PodDefaults::Range PodDefaults::in_all(const std::string& ns) const {
  Range all;
  const auto found = ranges_.find(ns);
  if (found == ranges_.end()) {
    return all;
  }
  for (const auto& [name, range] : found->second) {
    for (const auto& [into, from] : {std::pair(&all.container, &range.container), std::pair(&all.pod, &range.pod)}) {
      add_missing(into->limits, from->limits);
      add_missing(into->requests, from->requests);
    }
  }
  return all;
}

// A limit of its own stands for a request that is missing, before any default does.
json::Out PodDefaults::resources(json::Value own, const Limits& limits) {
  Amounts limit = amounts_of(map_at(own, "limits"));
  Amounts request = amounts_of(map_at(own, "requests"));
  add_missing(request, limit);
  add_missing(limit, limits.limits);
  add_missing(request, limits.requests);
  add_missing(request, limit);
  std::vector<std::pair<std::string_view, json::Out>> both;
  if (!limit.empty()) {
    both.emplace_back("limits", write(limit));
  }
  if (!request.empty()) {
    both.emplace_back("requests", write(request));
  }
  return with(own, std::move(both));
}

json::Out PodDefaults::containers(json::Value list, const Limits& limits) {
  json::Out out = json::Out::array();
  for (const json::NodeData& item : items_of(list)) {
    const json::Value container(&item);
    std::vector<std::pair<std::string_view, json::Out>> changed;
    changed.emplace_back("resources", resources(map_at(container, "resources"), limits));
    out.push(with(container, std::move(changed)));
  }
  return out;
}

bool PodDefaults::a_container_names(json::Value spec, const std::string& resource) {
  for (const std::string_view list : {std::string_view("initContainers"), std::string_view("containers")}) {
    for (const json::NodeData& item : items_of(spec[list])) {
      const json::Value own = map_at(json::Value(&item), "resources");
      if (amounts_of(map_at(own, "limits")).contains(resource) ||
          amounts_of(map_at(own, "requests")).contains(resource)) {
        return true;
      }
    }
  }
  return false;
}

// Where no container says anything of a resource, the limit of the pod as a whole stands for its request. The API
// server fills that in before it looks at LimitRanges, so that their defaults for containers do not count any more.
json::Out PodDefaults::of_pod(json::Value spec, json::Value own) {
  Amounts request = amounts_of(map_at(own, "requests"));
  for (const auto& [resource, quantity] : amounts_of(map_at(own, "limits"))) {
    if (!a_container_names(spec, resource)) {
      request.emplace(resource, quantity);
    }
  }
  std::vector<std::pair<std::string_view, json::Out>> changed;
  if (!request.empty()) {
    changed.emplace_back("requests", write(request));
  }
  return with(own, std::move(changed));
}

json::Out PodDefaults::apply(const std::string& ns, json::Value pod_template) const {
  const json::Value spec = map_at(pod_template, "spec");
  if (!spec) {
    return json::copy(pod_template);
  }
  const Range range = in_all(ns);
  std::vector<std::pair<std::string_view, json::Out>> changed;
  if (range.container != Limits()) {
    for (const std::string_view list : {std::string_view("initContainers"), std::string_view("containers")}) {
      if (!items_of(spec[list]).empty()) {
        changed.emplace_back(list, containers(spec[list], range.container));
      }
    }
  }
  if (const json::Value own = map_at(spec, "resources"); own && range != Range()) {
    changed.emplace_back("resources", range.pod == Limits() ? of_pod(spec, own) : resources(own, range.pod));
  }
  const json::Value runtime = text_at(spec, "runtimeClassName");
  const auto overhead = runtime ? overheads_.find(runtime.text()) : overheads_.end();
  if (overhead != overheads_.end() && !overhead->second.empty() && !map_at(spec, "overhead")) {
    changed.emplace_back("overhead", write(overhead->second));
  }
  if (changed.empty()) {
    return json::copy(pod_template);
  }
  std::vector<std::pair<std::string_view, json::Out>> pods;
  pods.emplace_back("spec", with(spec, std::move(changed)));
  return with(pod_template, std::move(pods));
}

}  // namespace gantree::kueue
