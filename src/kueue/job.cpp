#include "kueue/job.h"

#include <algorithm>
#include <limits>
#include <span>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"

namespace gantree::kueue {

namespace {

const std::vector<const JobKind*>& all_kinds() {
  static const std::vector<const JobKind*> kKinds = [] {
    std::vector<const JobKind*> kinds = {&batch_job(), &job_set()};
    kinds.insert(kinds.end(), role_jobs().begin(), role_jobs().end());
    return kinds;
  }();
  return kKinds;
}

// A map with further entries, which count before those of the same key.
json::Out with_entries(json::Value map, const std::map<std::string, std::string>& more) {
  json::Out out = json::Out::object();
  for (const json::MemberData& member : map ? map.members() : std::span<const json::MemberData>()) {
    if (!more.contains(std::string(member.key))) {
      out.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  for (const auto& [key, value] : more) {
    out.add(key, value);
  }
  return out;
}

json::Out with_items(json::Value list, std::vector<json::Out> more) {
  json::Out out = json::Out::array();
  if (list && list.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : list.items()) {
      out.push(json::copy(json::Value(&item)));
    }
  }
  for (json::Out& item : more) {
    out.push(std::move(item));
  }
  return out;
}

bool has_gate(json::Value gates, std::string_view name) {
  const bool listed = gates && gates.kind() == json::Kind::kArray;
  const auto items = listed ? gates.items() : std::span<const json::NodeData>();
  return std::any_of(items.begin(), items.end(), [&](const json::NodeData& item) {
    const json::Value own = text_at(json::Value(&item), "name");
    return own && own.text() == name;
  });
}

// All members but these.
json::Out without(json::Value object, std::initializer_list<std::string_view> keys) {
  json::Out out = json::Out::object();
  for (const json::MemberData& member : object ? object.members() : std::span<const json::MemberData>()) {
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) {
      out.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  return out;
}

}  // namespace

int pods_needed(const JobProgress& progress, std::string_view set, int wanted) {
  for (const auto& [name, over] : progress.reclaimable) {
    if (name == set) {
      return std::max(0, wanted - over);
    }
  }
  return wanted;
}

const JobKind* job_kind(std::string_view group, std::string_view kind) {
  for (const JobKind* one : all_kinds()) {
    const ApiKind api = one->api();
    if (api.group == group && api.kind == kind) {
      return one;
    }
  }
  return nullptr;
}

std::vector<ApiKind> job_apis() {
  std::vector<ApiKind> apis;
  for (const JobKind* kind : all_kinds()) {
    apis.push_back(kind->api());
  }
  return apis;
}

std::map<std::string, std::string> labels_of(const SetStart& start) {
  constexpr std::size_t kLongestLabel = 63;  // names of queues may be longer
  std::map<std::string, std::string> labels = {{std::string(kPodSetLabel), start.name}};
  for (const auto& [label, queue] :
       {std::pair(kLocalQueueLabel, &start.local_queue), std::pair(kClusterQueueLabel, &start.cluster_queue)}) {
    if (!queue->empty() && queue->size() <= kLongestLabel) {
      labels.emplace(label, *queue);
    }
  }
  return labels;
}

json::Out with_start(json::Value pod_template, const SetStart& start) {
  const json::Value metadata = map_at(pod_template, "metadata");
  const json::Value spec = map_at(pod_template, "spec");
  json::Out marked = without(metadata, {"labels", "annotations"});
  marked.add("labels", with_entries(map_at(metadata, "labels"), labels_of(start)));
  marked.add("annotations",
             with_entries(map_at(metadata, "annotations"), {{std::string(kWorkloadAnnotation), start.workload}}));
  json::Out pods = without(spec, {"nodeSelector", "tolerations", "schedulingGates"});
  // The template's own words count before the flavor's.
  std::map<std::string, std::string> selector = start.node_selector;
  const json::Value own = map_at(spec, "nodeSelector");
  for (const json::MemberData& member : own ? own.members() : std::span<const json::MemberData>()) {
    selector.erase(std::string(member.key));
  }
  pods.add("nodeSelector", with_entries(own, selector));
  pods.add("tolerations", with_items(spec ? spec["tolerations"] : json::Value(), start.tolerations));
  const json::Value before = spec ? spec["schedulingGates"] : json::Value();
  std::vector<json::Out> gates;
  if (start.topology && !has_gate(before, kTopologyGate)) {
    gates.push_back(std::move(json::Out::object().add("name", kTopologyGate)));
  }
  pods.add("schedulingGates", with_items(before, std::move(gates)));
  return std::move(json::Out::object().add("metadata", std::move(marked)).add("spec", std::move(pods)));
}

json::Value condition_that_holds(json::Reader& read, json::Value status, std::string_view type) {
  const json::Value conditions = read.array(status, "conditions");
  for (const json::NodeData& item : conditions ? conditions.items() : std::span<const json::NodeData>()) {
    const json::Value condition = read.as_object(json::Value(&item), "condition");
    if (read.text(condition, "type") == type && read.text(condition, "status") == "True") {
      return condition;
    }
  }
  return {};
}

int number_at(json::Reader& read, json::Value parent, std::string_view key, int fallback) {
  return static_cast<int>(read.integer(parent, key, 0, std::numeric_limits<int>::max()).value_or(fallback));
}

json::Out::Array set_suspend(const Object& job, const JobKind& kind, bool suspend) {
  json::Patch patch(job.value);
  patch.set(kind.suspend_field(), suspend);
  return patch.take();
}

std::string annotation_path(std::string_view key) {
  std::string path = "/metadata/annotations/";
  for (const char c : key) {
    path += c == '/' ? std::string("~1") : std::string(1, c);
  }
  return path;
}

void annotate(const Object& job, const std::vector<std::pair<std::string_view, std::string>>& annotations,
              json::Out::Array& operations) {
  if (!map_at(job.metadata(), "annotations")) {
    operations.push_back(set_field("/metadata/annotations", json::Out::object()));
  }
  for (const auto& [key, value] : annotations) {
    operations.push_back(set_field(annotation_path(key), value));
  }
}

json::Out set_field(std::string_view path, json::Out value) {
  return std::move(json::Out::object().add("op", "add").add("path", path).add("value", std::move(value)));
}

}  // namespace gantree::kueue
