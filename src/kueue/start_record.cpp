#include "kueue/start_record.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "json/equal.h"
#include "json/read.h"
#include "live/object.h"

namespace gantree::kueue {

namespace {

std::span<const json::MemberData> members_of(json::Value map) {
  return map && map.kind() == json::Kind::kObject ? map.members() : std::span<const json::MemberData>();
}

bool is_text(json::Value value, std::string_view text) {
  return value && value.kind() == json::Kind::kString && value.text() == text;
}

// The member where anything is in it: what is empty was not there before.
void add_filled(json::Out& out, std::string_view key, json::Out::Object members) {
  if (!members.empty()) {
    out.add(key, std::move(members));
  }
}

void add_filled(json::Out& out, std::string_view key, json::Out::Array items) {
  if (!items.empty()) {
    out.add(key, std::move(items));
  }
}

json::Out::Object all_but(json::Value map, std::initializer_list<std::string_view> keys) {
  json::Out::Object out;
  for (const json::MemberData& member : members_of(map)) {
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) {
      out.emplace_back(member.key, json::copy(json::Value(&member.value)));
    }
  }
  return out;
}

json::Out::Object without_entries(json::Value map, json::Value added) {
  json::Out::Object out;
  for (const json::MemberData& member : members_of(map)) {
    const json::Value value(&member.value);
    if (!added || !json::equal(value, added[member.key])) {
      out.emplace_back(member.key, json::copy(value));
    }
  }
  return out;
}

// Those that were added came last; each of them goes once.
json::Out::Array without_items(json::Value list, json::Value added) {
  std::vector<json::Value> kept;
  for (const json::NodeData& item : items_of(list)) {
    kept.emplace_back(&item);
  }
  for (const json::NodeData& item : items_of(added)) {
    const auto last =
        std::find_if(kept.rbegin(), kept.rend(), [&](json::Value one) { return json::equal(one, json::Value(&item)); });
    if (last != kept.rend()) {
      kept.erase(std::next(last).base());
    }
  }
  json::Out::Array out;
  for (const json::Value item : kept) {
    out.push_back(json::copy(item));
  }
  return out;
}

json::Out::Array without_gate(json::Value gates) {
  json::Out::Array out;
  for (const json::NodeData& item : items_of(gates)) {
    if (!is_text(json::Value(&item)["name"], kTopologyGate)) {
      out.push_back(json::copy(json::Value(&item)));
    }
  }
  return out;
}

}  // namespace

StartRecord::StartRecord(const Object& job) {
  const json::Value text = text_at(map_at(job.metadata(), "annotations"), kStartedWith);
  auto read = text ? json::read_documents(std::string(kNoFile), std::string(text.text())) : tl::unexpected(Error{});
  if (read && read->size() == 1 && read->front().root().kind() == json::Kind::kObject) {
    document_ = std::move(*read);
  }
}

json::Value StartRecord::added(std::size_t set) const {
  const std::span<const json::NodeData> sets =
      document_.empty() ? std::span<const json::NodeData>() : items_of(document_.front().root()["podSets"]);
  const json::Value one = set < sets.size() ? json::Value(&sets[set]) : json::Value();
  return one && one.kind() == json::Kind::kObject ? one : json::Value();
}

std::optional<int> StartRecord::number(std::string_view key) const {
  if (document_.empty()) {
    return std::nullopt;
  }
  json::Reader read(kNoFile, document_.front().root(), std::string(kStartedWith));
  const auto number = read.integer(document_.front().root(), key, 0, std::numeric_limits<int>::max());
  return number && read.ok() ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

json::Out added_by(json::Value pod_template, const SetStart& start) {
  const json::Value own = map_at(map_at(pod_template, "spec"), "nodeSelector");
  json::Out::Object selector;
  for (const auto& [key, value] : start.node_selector) {
    if (!own || !own[key]) {
      selector.emplace_back(key, value);
    }
  }
  json::Out added = json::Out::object();
  add_filled(added, "nodeSelector", std::move(selector));
  add_filled(added, "tolerations", start.tolerations);
  return added;
}

bool was_started(json::Value pod_template) {
  const json::Value annotations = map_at(map_at(pod_template, "metadata"), "annotations");
  return annotations && text_at(annotations, kWorkloadAnnotation).present();
}

json::Out unstarted(json::Value pod_template, json::Value added, json::Value known) {
  if (!was_started(pod_template)) {
    return json::copy(pod_template);
  }
  const json::Value metadata = map_at(pod_template, "metadata");
  json::Out marks = all_but(metadata, {"labels", "annotations"});
  add_filled(marks, "labels",
             all_but(map_at(metadata, "labels"), {kPodSetLabel, kLocalQueueLabel, kClusterQueueLabel}));
  add_filled(marks, "annotations", all_but(map_at(metadata, "annotations"), {kWorkloadAnnotation}));
  const json::Value spec = map_at(pod_template, "spec");
  json::Out pods = all_but(spec, {"nodeSelector", "tolerations", "schedulingGates"});
  if (spec) {
    const json::Value base = !added && map_at(known, "spec") ? map_at(known, "spec") : spec;
    add_filled(pods, "nodeSelector",
               without_entries(map_at(base, "nodeSelector"), added ? map_at(added, "nodeSelector") : json::Value()));
    add_filled(pods, "tolerations", without_items(base["tolerations"], added ? added["tolerations"] : json::Value()));
    add_filled(pods, "schedulingGates", without_gate(spec["schedulingGates"]));
  }
  json::Out out = all_but(pod_template, {"metadata", "spec"});
  if (!std::get<json::Out::Object>(marks.content()).empty()) {
    out.add("metadata", std::move(marks));
  }
  return std::move(out.add("spec", std::move(pods)));
}

}  // namespace gantree::kueue
