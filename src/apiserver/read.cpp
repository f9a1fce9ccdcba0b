// get, list and watch.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "apiserver/convert.h"
#include "apiserver/handlers.h"
#include "apiserver/selection.h"
#include "apiserver/tables.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

using Clock = std::chrono::steady_clock;

// How long a watch lives that names no time.
constexpr std::chrono::minutes kWatchLife{50};
constexpr std::chrono::seconds kLongestWatch{1'000'000'000};  // of this process: for ever

Failure too_large_version(std::uint64_t wanted, std::uint64_t current) {
  Failure result = failure(504, "Timeout", fmt::format("Too large resource version: {}, current: {}", wanted, current));
  add_cause(result, "ResourceVersionTooLarge", "Too large resource version", "");
  object_in(result.status, "details")["retryAfterSeconds"] = 1;
  return result;
}

Failure too_old_version(std::uint64_t wanted, std::uint64_t current) {
  return expired(fmt::format("too old resource version: {} ({})", wanted, current));
}

// "" and "0" stand for whatever there is.
Outcome<std::uint64_t> read_version(const Request& request) {
  const std::string_view text = request.query.get("resourceVersion");
  if (text.empty()) {
    return 0;
  }
  const auto version = whole_number<std::uint64_t>(text);
  if (!version) {
    return tl::unexpected(bad_request(fmt::format("invalid resource version \"{}\"", text)));
  }
  return *version;
}

std::vector<Entry> select(const Core& core, const Kind& kind, const Selection& selection) {
  std::vector<Entry> entries;
  const Table* table = core.store.find_table(kind.table);
  if (table == nullptr) {
    return entries;
  }
  const std::string* name = selection.fields.exact("metadata.name");
  if (name != nullptr && !selection.ns.empty()) {
    const auto it = table->entries.find({selection.ns, *name});
    if (it != table->entries.end() && selection.matches(it->first, *it->second.facts)) {
      entries.push_back(it->second);
    }
    return entries;
  }
  auto it = selection.ns.empty() ? table->entries.begin() : table->entries.lower_bound({selection.ns, ""});
  for (; it != table->entries.end() && (selection.ns.empty() || it->first.ns == selection.ns); ++it) {
    if (selection.matches(it->first, *it->second.facts)) {
      entries.push_back(it->second);
    }
  }
  return entries;
}

// The same as it was at an earlier version, from which on all changes are known: they are taken back.
// Nothing where an earlier state is not: of changes before a restart only the new one is kept.
std::optional<std::vector<Entry>> select_at(const Table& table, const Selection& selection, std::uint64_t version) {
  std::map<Key, const Event*> first;  // the first change of each object since
  for (auto it = table.recent.rbegin(); it != table.recent.rend() && it->now.revision > version; ++it) {
    first[it->key] = &*it;
  }
  std::map<Key, Entry> found;
  for (const auto& [key, entry] : table.entries) {
    if (!first.contains(key) && selection.matches(key, *entry.facts)) {
      found.emplace(key, entry);
    }
  }
  for (const auto& [key, event] : first) {
    if (event->before != nullptr && event->last == nullptr) {
      return std::nullopt;
    }
    if (event->before != nullptr && selection.matches(key, *event->before)) {
      found.emplace(key, Entry{event->last, version, event->before});
    }
  }
  std::vector<Entry> entries;
  for (auto& [key, entry] : found) {
    entries.push_back(std::move(entry));
  }
  return entries;
}

Outcome<> check_match(const Request& request, std::uint64_t version) {
  const std::string_view match = request.query.get("resourceVersionMatch");
  FieldErrors errors;
  if (request.query.has("sendInitialEvents")) {
    errors.push_back(forbidden("sendInitialEvents", "goes with a watch alone"));
  } else if (!match.empty() && request.query.get("resourceVersion").empty()) {
    errors.push_back(forbidden("resourceVersionMatch", "needs a resourceVersion to match"));
  } else if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    errors.push_back(not_supported("resourceVersionMatch", Value(match), {"Exact", "NotOlderThan"}));
  } else if (match == "Exact" && version == 0) {
    errors.push_back(forbidden("resourceVersionMatch", "no version is exactly 0"));
  }
  if (errors.empty()) {
    return {};
  }
  return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "ListOptions", "", errors)});
}

// Whether the list can be given as it was at the version that is asked for.
Outcome<> check_list_version(const Core& core, const Request& request, std::uint64_t version) {
  if (auto sound = check_match(request, version); !sound) {
    return sound;
  }
  const std::string_view match = request.query.get("resourceVersionMatch");
  if (version > core.store.revision()) {
    return tl::unexpected(too_large_version(version, core.store.revision()));
  }
  const Table* table = core.store.find_table(request.kind->table);
  if (match == "Exact" && table != nullptr && table->floor > version) {
    return tl::unexpected(too_old_version(version, table->floor));
  }
  return {};
}

// What a list is of: rights are given by all of these.
std::string scope_of(const Request& request) {
  return fmt::format("{}\n{}\n{}\n{}", request.kind->table, request.ns, request.query.get("labelSelector"),
                     request.query.get("fieldSelector"));
}

// All before the items.
std::string list_head(const Form& form, const Object& metadata) {
  if (form.shape == Form::Shape::kTable) {
    return table_head(*form.format, metadata);
  }
  const bool partial = form.shape == Form::Shape::kMetadata;
  std::string head = "{\"kind\":";
  append_json_text(head, partial ? "PartialObjectMetadataList" : form.kind->list_kind);
  head += ",\"apiVersion\":";
  append_json_text(head, partial ? "meta.k8s.io/v1" : form.kind->api_version());
  head += ",\"metadata\":";
  append_json(head, metadata);
  return head + ",\"items\":[";
}

Answer list_answer(const Core& core, const Form& form, const Snapshots::Page& page, bool counted) {
  Object metadata;
  metadata["resourceVersion"] = std::to_string(page.revision);
  if (!page.next.empty()) {
    metadata["continue"] = page.next;
    if (counted) {
      metadata["remainingItemCount"] = page.left;
    }
  }
  std::string head = list_head(form, metadata);
  static const Bytes kComma = std::make_shared<const std::string>(",");
  static const Bytes kEnd = std::make_shared<const std::string>("]}\n");
  Answer answer;
  answer.content_type = form.content_type();
  answer.body.reserve(page.entries.size() * 2 + 2);
  answer.body.push_back(std::make_shared<const std::string>(std::move(head)));
  for (std::size_t i = 0; i < page.entries.size(); ++i) {
    if (i > 0) {
      answer.body.push_back(kComma);
    }
    answer.body.push_back(present_item(core, form, page.entries[i]));
  }
  answer.body.push_back(kEnd);
  return answer;
}

// What a watch that names no version begins with.
void add_initial(Core& core, Watcher& watcher) {
  for (const Entry& entry : select(core, *watcher.form.kind, watcher.selection)) {
    watcher.initial.push_back({WatchEvent::Type::kAdded, present(core, watcher.form, entry), entry.revision});
  }
  watcher.from = core.store.revision();
}

// What happened since the version that it names; false where that is no longer known.
bool add_past(Core& core, Watcher& watcher, std::uint64_t version) {
  watcher.from = version;
  const Table& table = core.store.table(watcher.table);
  if (version < table.floor) {
    return false;
  }
  const auto first = std::upper_bound(table.recent.begin(), table.recent.end(), version,
                                      [](std::uint64_t v, const Event& event) { return v < event.now.revision; });
  for (auto it = first; it != table.recent.end(); ++it) {
    core.watches.note(watcher, *it);
  }
  watcher.initial = std::exchange(watcher.waiting, {});
  watcher.from = std::max(version, core.store.revision());
  return true;
}

Outcome<> check_initial_events(const Request& request) {
  const bool asked = request.query.has("sendInitialEvents");
  const std::string_view match = request.query.get("resourceVersionMatch");
  if (asked ? match == "NotOlderThan" : match.empty()) {
    return {};
  }
  const FieldErrors errors{asked ? forbidden("resourceVersionMatch",
                                             "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
                                 : forbidden("resourceVersionMatch",
                                             "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                                             "provided")};
  return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "ListOptions", "", errors)});
}

}  // namespace

namespace {

// A kubelet renews its lease every ten seconds. A hundred thousand that are simulated would write nothing else: the
// lease of a node is made up when somebody asks for it by name. Nothing where it is none of a node.
std::optional<Object> lease_of_node(const Core& core, const Request& request) {
  if (request.kind->table != "leases.coordination.k8s.io" || request.ns != "kube-node-lease") {
    return std::nullopt;
  }
  const auto node = core.read("nodes", {"", request.name});
  if (!node) {
    return std::nullopt;
  }
  // The last sign of a node that is silent was what made it so.
  std::string renewed = core.now();
  const Array* conditions = array_at(*node, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    const bool silent =
        text_at((*conditions)[i], {"type"}) == "Ready" && text_at((*conditions)[i], {"status"}) == "Unknown";
    if (silent) {
      renewed = text_at((*conditions)[i], {"lastTransitionTime"});
    }
  }
  if (renewed.ends_with('Z')) {
    renewed.insert(renewed.size() - 1, ".000000");
  }
  Object lease{{"kind", "Lease"}, {"apiVersion", "coordination.k8s.io/v1"}};
  lease["metadata"] = Object{{"name", request.name},
                             {"namespace", request.ns},
                             {"uid", text_at(*node, {"metadata", "uid"})},
                             {"resourceVersion", text_at(*node, {"metadata", "resourceVersion"})},
                             {"creationTimestamp", text_at(*node, {"metadata", "creationTimestamp"})}};
  lease["spec"] =
      Object{{"holderIdentity", request.name}, {"leaseDurationSeconds", 40}, {"renewTime", std::move(renewed)}};
  return lease;
}

}  // namespace

Task<Answer> get_object(Core& core, RequestPtr request) {
  auto form = read_form(*request);
  if (!form) {
    co_return refuse(form.error());
  }
  const auto version = read_version(*request);
  if (!version || *version > core.store.revision()) {
    co_return refuse(version ? too_large_version(*version, core.store.revision()) : version.error());
  }
  const Key key{request->ns, request->name};
  const Entry* entry = core.store.find(request->kind->table, key);
  if (entry == nullptr) {
    if (const auto lease = lease_of_node(core, *request)) {
      co_return json_answer(200, *lease);
    }
    co_return refuse(not_found(request->what(), request->name));
  }
  const Entry found = *entry;
  if (lacks_variant(*request->kind, found)) {
    std::vector<Entry> one{found};
    const auto converted = co_await convert_entries(core, request->kind, std::move(one));
    if (!converted) {
      co_return refuse(converted.error());
    }
  }
  Answer answer = bytes_answer(200, present(core, *form, found));
  answer.content_type = form->content_type();
  co_return answer;
}

Task<Answer> list_objects(Core& core, RequestPtr request) {
  auto form = read_form(*request);
  auto selection = read_selection(*request);
  auto version = read_version(*request);
  if (!form || !selection || !version) {
    co_return refuse(!form ? form.error() : !selection ? selection.error() : version.error());
  }
  if (by_webhook(*request->kind)) {
    const auto converted = co_await convert_all(core, request->kind);
    if (!converted) {
      co_return refuse(converted.error());
    }
  }
  const auto limit = request->query.number("limit").value_or(0);
  const std::size_t most = limit > 0 ? static_cast<std::size_t>(limit) : SIZE_MAX / 2;
  if (const std::string_view token = request->query.get("continue"); !token.empty()) {
    const auto page = core.snapshots.go_on(scope_of(*request), token, most, Clock::now());
    if (!page) {
      co_return refuse(expired(
          "The provided continue parameter is too old to display a consistent list result. You can start a new list "
          "without the continue parameter."));
    }
    co_return list_answer(core, *form, *page, selection->all());
  }
  if (const auto fits = check_list_version(core, *request, *version); !fits) {
    co_return refuse(fits.error());
  }
  const Table* table = core.store.find_table(request->kind->table);
  const bool exact = request->query.get("resourceVersionMatch") == "Exact" && table != nullptr;
  const std::uint64_t revision = exact ? *version : core.store.revision();
  auto entries = exact && table->changed > *version ? select_at(*table, *selection, *version)
                                                    : std::optional(select(core, *request->kind, *selection));
  if (!entries) {
    co_return refuse(expired(fmt::format("too old resource version: {}", *version)));
  }
  // Earlier states have not been converted above.
  if (exact && by_webhook(*request->kind)) {
    std::vector<Entry> missing;
    std::copy_if(entries->begin(), entries->end(), std::back_inserter(missing),
                 [&](const Entry& entry) { return lacks_variant(*request->kind, entry); });
    const auto converted =
        missing.empty() ? Outcome<>() : co_await convert_entries(core, request->kind, std::move(missing));
    if (!converted) {
      co_return refuse(converted.error());
    }
  }
  const Snapshots::Page page =
      core.snapshots.begin(scope_of(*request), std::move(*entries), revision, most, Clock::now());
  co_return list_answer(core, *form, page, selection->all());
}

Task<Answer> watch_objects(Core& core, RequestPtr request) {
  auto form = read_form(*request);
  auto selection = read_selection(*request);
  auto version = read_version(*request);
  if (!form || !selection || !version) {
    co_return refuse(!form ? form.error() : !selection ? selection.error() : version.error());
  }
  if (const auto sound = check_initial_events(*request); !sound) {
    co_return refuse(sound.error());
  }
  if (request->call.sink == nullptr) {
    co_return refuse(bad_request("a watch needs a way to send what it sees"));
  }
  if (by_webhook(*request->kind)) {
    const auto converted = co_await convert_all(core, request->kind);
    if (!converted) {
      co_return refuse(converted.error());
    }
  }
  auto watcher = std::make_unique<Watcher>();
  watcher->table = request->kind->table;
  watcher->form = *form;
  watcher->selection = std::move(*selection);
  watcher->bookmarks = request->query.flag("allowWatchBookmarks");
  watcher->sink = request->call.sink;
  const auto seconds = request->query.number("timeoutSeconds").value_or(0);
  watcher->until = Clock::now() + (seconds > 0 ? std::min(std::chrono::seconds(seconds), kLongestWatch) : kWatchLife);
  const bool asks_initial = request->query.flag("sendInitialEvents");
  if (asks_initial || (*version == 0 && !request->query.has("sendInitialEvents"))) {
    add_initial(core, *watcher);
    if (asks_initial && watcher->bookmarks) {
      watcher->initial.push_back(bookmark(*form, core.store.revision(), true));
    }
  } else if (*version == 0) {
    watcher->from = core.store.revision();
  } else if (!add_past(core, *watcher, *version)) {
    watcher->initial.push_back(error_event(too_old_version(*version, core.store.table(watcher->table).floor)));
    watcher->ends = true;
  }
  core.watches.add(std::move(watcher));
  Answer answer;
  answer.content_type = form->content_type();
  answer.streaming = true;
  co_return answer;
}

}  // namespace gantree::apiserver
