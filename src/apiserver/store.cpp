#include "apiserver/store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace gantree::apiserver {

namespace {

// How much of the past a table keeps for watches that come back.
constexpr std::size_t kRecentEvents = 20'000;
constexpr std::size_t kRecentBytes = std::size_t{64} << 20;

// Fields that may be selected, by table: name of the field and where it is.
struct FieldPath {
  std::string_view table;
  std::string_view field;
};
constexpr FieldPath kFields[] = {
    {"pods", "spec.nodeName"},
    {"pods", "spec.restartPolicy"},
    {"pods", "spec.schedulerName"},
    {"pods", "spec.serviceAccountName"},
    {"pods", "spec.hostNetwork"},
    {"pods", "status.phase"},
    {"pods", "status.podIP"},
    {"pods", "status.nominatedNodeName"},
    {"nodes", "spec.unschedulable"},
    {"namespaces", "status.phase"},
    {"secrets", "type"},
    {"services", "spec.clusterIP"},
    {"services", "spec.type"},
    {"events", "involvedObject.kind"},
    {"events", "involvedObject.namespace"},
    {"events", "involvedObject.name"},
    {"events", "involvedObject.uid"},
    {"events", "involvedObject.apiVersion"},
    {"events", "involvedObject.resourceVersion"},
    {"events", "involvedObject.fieldPath"},
    {"events", "reason"},
    {"events", "reportingComponent"},
    {"events", "source"},
    {"events", "type"},
    {"jobs.batch", "status.successful"},
    {"replicasets.apps", "status.replicas"},
    {"replicationcontrollers", "status.replicas"},
};

std::string field_text(const Value& object, std::string_view path) {
  const Value* value = &object;
  while (!path.empty() && value != nullptr) {
    const std::size_t dot = path.find('.');
    value = find(*value, {path.substr(0, dot)});
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (value == nullptr || value->is_null() || value->is_object() || value->is_array()) {
    return {};
  }
  return value->is_string() ? std::string(text_of(*value)) : to_json(*value);
}

std::string selected_field(const Value& object, const FieldPath& path) {
  if (path.field == "source") {
    return std::string(text_at(object, {"source", "component"}));
  }
  std::string text = field_text(object, path.field);
  const bool is_flag = path.field == "spec.unschedulable" || path.field == "spec.hostNetwork";
  return text.empty() && is_flag ? "false" : text;
}

}  // namespace

std::shared_ptr<const Facts> facts_of(std::string_view table, const Value& object, std::span<const std::string> more) {
  auto facts = std::make_shared<Facts>();
  facts->uid = text_at(object, {"metadata", "uid"});
  facts->labels = pairs_of(object_at(object, {"metadata", "labels"}));
  for (const FieldPath& path : kFields) {
    if (path.table == table) {
      facts->fields.emplace_back(path.field, selected_field(object, path));
    }
  }
  for (const std::string& field : more) {
    facts->fields.emplace_back(field, field_text(object, field));
  }
  std::sort(facts->fields.begin(), facts->fields.end());
  if (const Array* owners = array_at(object, {"metadata", "ownerReferences"})) {
    for (const Value& owner : *owners) {
      const Value* blocks = find(owner, {"blockOwnerDeletion"});
      facts->owners.push_back({std::string(text_at(owner, {"uid"})), std::string(text_at(owner, {"apiVersion"})),
                               std::string(text_at(owner, {"kind"})), std::string(text_at(owner, {"name"})),
                               blocks != nullptr && blocks->is_bool() && blocks->get_bool()});
    }
  }
  if (const Array* finalizers = array_at(object, {"metadata", "finalizers"})) {
    for (const Value& finalizer : *finalizers) {
      facts->finalizers.emplace_back(text_of(finalizer));
    }
  }
  facts->deleting = !text_at(object, {"metadata", "deletionTimestamp"}).empty();
  facts->waits_for_dependents = facts->deleting && std::find(facts->finalizers.begin(), facts->finalizers.end(),
                                                             "foregroundDeletion") != facts->finalizers.end();
  return facts;
}

Result<std::shared_ptr<const Facts>> facts_in(std::string_view table, std::string_view json) {
  const auto is_selected = [table](std::string_view outer, std::string_view key) {
    return std::any_of(std::begin(kFields), std::end(kFields), [&](const FieldPath& path) {
      if (path.table != table) {
        return false;
      }
      // "spec.nodeName": of spec, then of nodeName in it. "source" stands for what is in it.
      const std::size_t dot = path.field.find('.');
      const std::string_view first = path.field.substr(0, dot);
      return outer.empty() ? first == key
                           : first == outer && (dot == std::string_view::npos || path.field.substr(dot + 1) == key);
    });
  };
  const auto object = parse_json_parts(json, [&](std::string_view outer, std::string_view key) {
    if (outer.empty()) {
      return key == "metadata" || is_selected(outer, key);
    }
    return outer == "metadata" ? key != "managedFields" && key != "annotations" : is_selected(outer, key);
  });
  if (!object) {
    return tl::unexpected(object.error());
  }
  return facts_of(table, *object);
}

void Store::select_by(std::string_view table_name, std::vector<std::string> fields) {
  Table& into = table(table_name);
  if (into.selectable == fields) {
    return;
  }
  into.selectable = std::move(fields);
  for (auto& [key, entry] : into.entries) {
    if (const auto object = parse_json(*entry.bytes)) {
      entry.facts = facts_of(table_name, *object, into.selectable);
    }
  }
  for (Event& event : into.recent) {
    if (const auto object = parse_json(*event.now.bytes)) {
      event.now.facts = facts_of(table_name, *object, into.selectable);
    }
    if (const auto object = parse_json(event.last ? *event.last : std::string())) {
      event.before = facts_of(table_name, *object, into.selectable);
    }
  }
}

void Store::load(std::string_view table_name, Key key, Bytes bytes, std::uint64_t revision,
                 std::shared_ptr<const Facts> facts) {
  Table& into = table(table_name);
  Entry entry{std::move(bytes), revision, std::move(facts)};
  index(table_name, key, nullptr, entry.facts.get());
  into.changed = std::max(into.changed, revision);
  // They often come in order.
  into.entries.insert_or_assign(into.entries.end(), std::move(key), std::move(entry));
}

void Store::load_recent(std::string_view table_name, Event event) {
  remember(table(table_name), std::move(event));
}

void Store::loaded(std::uint64_t revision, const std::optional<Past>& past) {
  revision_ = revision;
  start_ = past ? past->known : revision;
  for (auto& [name, table] : tables_) {
    table->floor = std::max(table->floor, start_);
  }
  for (const auto& [name, floor] : past ? past->floors : Floors()) {
    Table& cut = table(name);
    cut.floor = std::max(cut.floor, floor);
  }
  for (auto& [name, table] : tables_) {
    table->changed = std::max(table->changed, table->floor);
  }
}

Table& Store::table(std::string_view name) {
  auto it = tables_.find(name);
  if (it == tables_.end()) {
    it = tables_.emplace(std::string(name), std::make_unique<Table>()).first;
    it->second->name = name;
    it->second->floor = start_;
  }
  return *it->second;
}

const Table* Store::find_table(std::string_view name) const {
  const auto it = tables_.find(name);
  return it == tables_.end() ? nullptr : it->second.get();
}

const Entry* Store::find(std::string_view table, const Key& key) const {
  const Table* in = find_table(table);
  if (in == nullptr) {
    return nullptr;
  }
  const auto it = in->entries.find(key);
  return it == in->entries.end() ? nullptr : &it->second;
}

void Store::put(std::string_view table_name, const Key& key, Entry entry) {
  GANTREE_CHECK(entry.revision == revision_);
  Table& into = table(table_name);
  const auto it = into.entries.find(key);
  Event event{WatchEvent::Type::kAdded, key, entry, nullptr, nullptr};
  if (it != into.entries.end()) {
    event.type = WatchEvent::Type::kModified;
    event.before = it->second.facts;
    event.last = it->second.bytes;
  }
  index(table_name, key, event.before.get(), entry.facts.get());
  into.entries.insert_or_assign(key, std::move(entry));
  remember(into, event);
  changes_.push_back({&into, std::move(event)});
}

void Store::remove(std::string_view table_name, const Key& key, Entry last) {
  GANTREE_CHECK(last.revision == revision_);
  Table& from = table(table_name);
  const auto it = from.entries.find(key);
  GANTREE_CHECK(it != from.entries.end());
  Event event{WatchEvent::Type::kDeleted, key, std::move(last), it->second.facts, it->second.bytes};
  index(table_name, key, event.before.get(), nullptr);
  from.entries.erase(it);
  remember(from, event);
  changes_.push_back({&from, std::move(event)});
}

void Store::index(std::string_view table, const Key& key, const Facts* before, const Facts* now) {
  const Place place{std::string(table), key};
  if (before != nullptr) {
    for (const Owner& owner : before->owners) {
      if (const auto it = dependents_.find(owner.uid); it != dependents_.end()) {
        it->second.erase(place);
        if (it->second.empty()) {
          dependents_.erase(it);
        }
      }
    }
    if (now == nullptr || now->uid != before->uid) {
      uids_.erase(before->uid);
    }
  }
  if (now != nullptr) {
    for (const Owner& owner : now->owners) {
      dependents_[owner.uid][place] = owner.blocks;
    }
    if (before == nullptr || now->uid != before->uid) {
      uids_.insert_or_assign(now->uid, place);
    }
  }
}

const Store::Place* Store::find_uid(std::string_view uid) const {
  const auto it = uids_.find(std::string(uid));
  return it == uids_.end() ? nullptr : &it->second;
}

std::vector<Store::Place> Store::dependents(std::string_view uid) const {
  std::vector<Place> places;
  if (const auto it = dependents_.find(uid); it != dependents_.end()) {
    for (const auto& [place, blocks] : it->second) {
      places.push_back(place);
    }
  }
  return places;
}

void Store::remember(Table& table, Event event) {
  table.changed = std::max(table.changed, event.now.revision);
  table.recent_bytes += event.now.bytes->size();
  table.recent.push_back(std::move(event));
  while (table.recent.size() > kRecentEvents || table.recent_bytes > kRecentBytes) {
    table.floor = table.recent.front().now.revision;
    table.recent_bytes -= table.recent.front().now.bytes->size();
    table.recent.pop_front();
  }
}

std::vector<Store::Change> Store::take_changes() {
  return std::exchange(changes_, {});
}

}  // namespace gantree::apiserver
