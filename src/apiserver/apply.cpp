#include "apiserver/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "apiserver/apply_merge.h"
#include "apiserver/field_set.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kApply = "Apply";
constexpr std::string_view kUpdate = "Update";
// Updaters an object may have; the oldest are joined under one name, so that the account stays short.
constexpr std::size_t kMaxUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";

// One of managedFields. Most are left alone by a write, so its fields are decoded only where they are looked into.
struct ManagedEntry {
  std::string manager;
  std::string operation;
  std::string api_version;
  std::string subresource;
  std::string time;
  const Value* stored = nullptr;   // fieldsV1 as it was; borrowed from the object it was read from
  std::optional<FieldSet> fields;  // where it was decoded or is new

  [[nodiscard]] bool is(const FieldManager& writer, std::string_view as) const {
    return operation == as && manager == writer.name && subresource == writer.subresource &&
           (as == kApply || api_version == writer.api_version);
  }
  [[nodiscard]] FieldSet& decoded() {
    if (!fields) {
      fields = stored == nullptr ? FieldSet() : read_field_set(*stored);
    }
    return *fields;
  }
  // Without decoding: some of the fields are in it; all are.
  [[nodiscard]] bool has_any(const FieldSet& set) const {
    return fields ? !intersection(*fields, set).empty() : stored != nullptr && touches(*stored, set);
  }
  [[nodiscard]] bool has_all(const FieldSet& set) const { return !fields && stored != nullptr && covers(*stored, set); }
  void take_out(const FieldSet& set) {
    if (has_any(set)) {
      subtract(decoded(), set);
    }
  }
};

using Entries = std::vector<ManagedEntry>;

Entries read_entries(const Value* object) {
  Entries entries;
  const Array* list = object == nullptr ? nullptr : array_at(*object, {"metadata", "managedFields"});
  if (list == nullptr) {
    return entries;
  }
  for (const Value& item : *list) {
    ManagedEntry entry;
    entry.manager = text_at(item, {"manager"});
    entry.operation = text_at(item, {"operation"});
    entry.api_version = text_at(item, {"apiVersion"});
    entry.subresource = text_at(item, {"subresource"});
    entry.time = text_at(item, {"time"});
    entry.stored = find(item, {"fieldsV1"});
    if (entry.stored != nullptr && entry.stored->is_object() && !entry.stored->get_object().empty()) {
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

void write_entries(Value& object, Entries entries) {
  const auto order = [](const ManagedEntry& entry) {
    return std::tuple(entry.operation, parse_time(entry.time).value_or(0), entry.manager, entry.api_version,
                      entry.subresource);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const ManagedEntry& a, const ManagedEntry& b) { return order(a) < order(b); });
  Array list;
  for (const ManagedEntry& entry : entries) {
    if (entry.fields ? entry.fields->empty() : entry.stored == nullptr) {
      continue;
    }
    Object item;
    item["manager"] = entry.manager;
    item["operation"] = entry.operation;
    item["apiVersion"] = entry.api_version;
    if (!entry.time.empty()) {
      item["time"] = entry.time;
    }
    item["fieldsType"] = "FieldsV1";
    item["fieldsV1"] = entry.fields ? Value(write_field_set(*entry.fields)) : *entry.stored;
    if (!entry.subresource.empty()) {
      item["subresource"] = entry.subresource;
    }
    list.push_back(std::move(item));
  }
  Object& metadata = object_in(object.get_object(), "metadata");
  if (list.empty()) {
    metadata.stable_erase("managedFields");
  } else {
    metadata["managedFields"] = std::move(list);
  }
}

// What nobody owns: identity, bookkeeping, and what the resource written through does not write.
void strip(FieldSet& set, const FieldManager& writer) {
  erase_below(set, "f:apiVersion");
  erase_below(set, "f:kind");
  if (writer.status_apart && writer.subresource.empty()) {
    erase_below(set, "f:status");
  }
  const auto metadata = set.children.find("f:metadata");
  if (metadata == set.children.end()) {
    return;
  }
  metadata->second.member = false;
  for (const std::string_view step : {"f:name", "f:namespace", "f:creationTimestamp", "f:selfLink", "f:uid",
                                      "f:clusterName", "f:generation", "f:managedFields", "f:resourceVersion"}) {
    erase_below(metadata->second, step);
  }
  if (metadata->second.empty()) {
    set.children.erase(metadata);
  }
}

Value without_account(const Value& object) {
  Value copy = object;
  if (Object* metadata = copy.is_object() && copy.get_object().if_contains("metadata") != nullptr
                             ? copy.get_object()["metadata"].if_object()
                             : nullptr;
      metadata != nullptr) {
    metadata->stable_erase("managedFields");
  }
  return copy;
}

bool is_zero(const Value& value) {
  return value.is_bool() ? !value.get_bool() : value.is_int64() ? value.get_int64() == 0 : text_of(value).empty();
}

// What an object is before it is written first: nothing, or the fields that its Go structure always has.
Value unwritten(const Schema& schema, bool built_in, int depth = 0) {
  Object object;
  for (const Property& property : schema.properties) {
    if (!built_in || depth >= 8) {
      continue;
    }
    if (property.fallback && property.fallback->is_object()) {
      object[property.name] = unwritten(*property.schema, built_in, depth + 1);
    } else if (property.fallback && is_zero(*property.fallback)) {
      object[property.name] = *property.fallback;
    } else if (property.required) {
      object[property.name] = Value();
    }
  }
  for (const auto& [name, zero] : schema.zeros) {
    object[name] = zero;
  }
  return object;
}

std::string describe(const ManagedEntry& entry) {
  std::string text = to_json(Value(entry.manager));
  if (!entry.subresource.empty()) {
    text += fmt::format(" with subresource \"{}\"", entry.subresource);
  }
  if (entry.operation == kUpdate) {
    text += " using " + entry.api_version;
  }
  return text;
}

ApplyFailure conflict_failure(const std::vector<std::pair<const ManagedEntry*, FieldSet>>& conflicts) {
  ApplyFailure failure;
  std::string list;
  for (const auto& [entry, fields] : conflicts) {
    const std::string who = describe(*entry);
    list += fmt::format("{}conflicts with {}:", list.empty() ? "" : "\n", who);
    for (const std::string& path : paths_of(fields)) {
      failure.conflicts.push_back({"conflict with " + who, path});
      list += "\n- " + path;
    }
  }
  if (failure.conflicts.size() == 1) {
    const FieldConflict& only = failure.conflicts.front();
    failure.message = fmt::format("Apply failed with 1 conflict: {}: {}", only.manager, only.field);
  } else {
    failure.message = fmt::format("Apply failed with {} conflicts: {}", failure.conflicts.size(), list);
  }
  return failure;
}

// Takes from everybody but `self` what changed hands or is gone; what they lose by change, not removal, is given back.
std::vector<std::pair<const ManagedEntry*, FieldSet>> take_from_others(Entries& entries, const ManagedEntry* self,
                                                                       const FieldSet& changed,
                                                                       const FieldSet& removed) {
  std::vector<std::pair<const ManagedEntry*, FieldSet>> conflicts;
  for (ManagedEntry& entry : entries) {
    if (&entry == self) {
      continue;
    }
    if (entry.has_any(changed)) {
      FieldSet lost = intersection(entry.decoded(), changed);
      subtract(entry.decoded(), lost);
      conflicts.emplace_back(&entry, std::move(lost));
    }
    entry.take_out(removed);
  }
  std::sort(conflicts.begin(), conflicts.end(),
            [](const auto& a, const auto& b) { return a.first->manager < b.first->manager; });
  return conflicts;
}

void join_old_updaters(Entries& entries) {
  const auto is_updater = [](const ManagedEntry& entry) {
    return entry.operation == kUpdate && entry.subresource.empty();
  };
  const auto updaters = static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), is_updater));
  if (updaters <= kMaxUpdaters) {
    return;
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ManagedEntry& a, const ManagedEntry& b) { return a.time < b.time; });
  ManagedEntry ancient;
  std::size_t joined = 0;
  const auto too_old = [&](ManagedEntry& entry) {
    if (!is_updater(entry) || joined == updaters - kMaxUpdaters + 1) {
      return false;
    }
    ++joined;
    unite(ancient.decoded(), entry.decoded());
    ancient.time = entry.time;
    ancient.api_version = entry.api_version;
    return true;
  };
  std::vector<ManagedEntry> kept;
  for (ManagedEntry& entry : entries) {
    if (!too_old(entry)) {
      kept.push_back(std::move(entry));
    }
  }
  ancient.manager = kAncient;
  ancient.operation = kUpdate;
  kept.push_back(std::move(ancient));
  entries = std::move(kept);
}

ManagedEntry& entry_of(Entries& entries, const FieldManager& writer, std::string_view operation) {
  for (ManagedEntry& entry : entries) {
    if (entry.is(writer, operation)) {
      return entry;
    }
  }
  entries.push_back({writer.name, std::string(operation), writer.api_version, writer.subresource, {}, nullptr, {}});
  return entries.back();
}

// What was there before anybody applied anything.
ManagedEntry unaccounted(const Schema& schema, const Value& live, const FieldManager& writer) {
  Comparison comparison = compare(schema, unwritten(schema, writer.built_in), without_account(live));
  unite(comparison.added, comparison.modified);
  comparison.added.member = false;
  strip(comparison.added, writer);
  return {"before-first-apply",       std::string(kUpdate), writer.api_version, "", writer.time, nullptr,
          std::move(comparison.added)};
}

// Why the object is none of the schema's: a field that it does not know, a value of another type, items without keys.
std::optional<std::string> misfit(const Schema& schema, const Value& object, bool built_in) {
  if (auto problem = built_in ? decode_error(schema, object) : std::nullopt) {
    return problem;
  }
  Value copy = object;
  if (const std::vector<std::string> unknown = prune(schema, copy); !unknown.empty()) {
    return fmt::format("{} is no field of it", unknown.front());
  }
  return unusable_items(schema, object);
}

Entries starting_entries(const Value* live, const Value& changed) {
  const Array* given = array_at(changed, {"metadata", "managedFields"});
  const bool reset =
      given != nullptr && given->size() == 1 && (*given)[0].is_object() && (*given)[0].get_object().empty();
  if (reset) {
    return {};
  }
  Entries entries = read_entries(&changed);
  return entries.empty() ? read_entries(live) : entries;
}

}  // namespace

void track_update(const Schema& schema, const Value* live, Value& changed, const FieldManager& manager) {
  if (!changed.is_object()) {
    return;
  }
  const Value nothing = live == nullptr ? unwritten(schema, manager.built_in) : Value();
  Comparison comparison = compare(schema, live == nullptr ? nothing : *live, changed);
  FieldSet written = std::move(comparison.added);
  unite(written, comparison.modified);
  written.member = false;
  strip(written, manager);
  Entries entries = starting_entries(live, changed);
  // Of an object that nobody owned a field of, no account is begun but by applying.
  if (live != nullptr && entries.empty()) {
    write_entries(changed, {});
    return;
  }
  const bool first = entries.empty();
  ManagedEntry& self = entry_of(entries, manager, kUpdate);
  if (first) {
    self.fields = std::move(written);
    self.time = manager.time;
    write_entries(changed, std::move(entries));
    return;
  }
  if (!self.has_all(written) || self.has_any(comparison.removed)) {
    subtract(self.decoded(), comparison.removed);
    unite(self.decoded(), written);
    self.time = manager.time;
  }
  (void)take_from_others(entries, &self, written, comparison.removed);
  join_old_updaters(entries);
  write_entries(changed, std::move(entries));
}

tl::expected<Value, ApplyFailure> apply(const Schema& schema, const Value* live, const Value& wish,
                                        const FieldManager& manager, bool force) {
  if (const Array* given = array_at(wish, {"metadata", "managedFields"}); given != nullptr && !given->empty()) {
    return tl::unexpected(ApplyFailure{"metadata.managedFields must be nil", {}});
  }
  Value config = without_account(wish);
  if (manager.status_apart && manager.subresource.empty() && config.is_object()) {
    config.get_object().stable_erase("status");
  }
  if (auto problem = misfit(schema, config, manager.built_in)) {
    return tl::unexpected(ApplyFailure{"what is applied does not fit the schema: " + *problem, {}});
  }
  Entries entries = read_entries(live);
  if (live != nullptr && entries.empty()) {
    entries.push_back(unaccounted(schema, *live, manager));
  }
  const Value before = live == nullptr ? unwritten(schema, manager.built_in) : without_account(*live);
  Value merged = merge_applied(schema, live == nullptr ? Value(Object()) : before, config);

  ManagedEntry& self = entry_of(entries, manager, kApply);
  const FieldSet last = self.decoded();
  FieldSet claimed = claimed_fields(schema, config);
  strip(claimed, manager);
  self.fields = std::move(claimed);
  FieldSet owned;
  for (ManagedEntry& entry : entries) {
    unite(owned, entry.decoded());
  }
  remove_unowned(&schema, merged, last, owned);
  if (!(self.decoded() == last)) {
    self.api_version = manager.api_version;
  }
  Comparison comparison = compare(schema, before, merged);
  if (live == nullptr || !comparison.modified.empty() || !comparison.added.empty() || !comparison.removed.empty()) {
    self.time = manager.time;
  }
  unite(comparison.modified, comparison.added);
  const auto conflicts = take_from_others(entries, &self, comparison.modified, comparison.removed);
  if (!conflicts.empty() && !force) {
    return tl::unexpected(conflict_failure(conflicts));
  }
  write_entries(merged, std::move(entries));
  return merged;
}

Object to_status(const ApplyFailure& failure) {
  const bool conflict = !failure.conflicts.empty();
  Object status;
  status["kind"] = "Status";
  status["apiVersion"] = "v1";
  status["metadata"] = Object();
  status["status"] = "Failure";
  status["message"] = failure.message;
  if (conflict) {
    status["reason"] = "Conflict";
    Array causes;
    for (const FieldConflict& one : failure.conflicts) {
      Object cause;
      cause["reason"] = "FieldManagerConflict";
      cause["message"] = one.manager;
      cause["field"] = one.field;
      causes.push_back(std::move(cause));
    }
    object_in(status, "details")["causes"] = std::move(causes);
  }
  status["code"] = conflict ? 409 : 500;
  return status;
}

}  // namespace gantree::apiserver
