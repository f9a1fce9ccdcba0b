#include "apiserver/convert.h"

#include <fmt/format.h>

#include <utility>

#include "apiserver/core.h"
#include "apiserver/selection.h"

namespace gantree::apiserver {

namespace {

constexpr std::size_t kMostPerCall = 500;
constexpr int kRounds = 1'000;  // others may write meanwhile
constexpr std::chrono::seconds kPatience{30};

void rename(Object& object, std::string_view from, std::string_view to) {
  if (const auto it = object.find(from); it != object.end()) {
    Value value = std::move(it->value());
    object.stable_erase(it);
    object[to] = std::move(value);
  }
}

// The two views of an event: core/v1 and events.k8s.io/v1.
void convert_event(bool to_core, Object& event) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"involvedObject", "regarding"},
      {"message", "note"},
      {"source", "deprecatedSource"},
      {"firstTimestamp", "deprecatedFirstTimestamp"},
      {"lastTimestamp", "deprecatedLastTimestamp"},
      {"count", "deprecatedCount"},
      {"reportingComponent", "reportingController"}};
  for (const auto& [core_name, event_name] : kNames) {
    rename(event, to_core ? event_name : core_name, to_core ? core_name : event_name);
  }
}

Object review_of(Core& core, const Kind& to, Array objects) {
  Object review;
  review["kind"] = "ConversionReview";
  review["apiVersion"] = "apiextensions.k8s.io/v1";
  Object& request = object_in(review, "request");
  request["uid"] = core.random.uid();
  request["desiredAPIVersion"] = to.api_version();
  request["objects"] = std::move(objects);
  return review;
}

Outcome<Array> read_review(const Kind& to, const Result<Value>& answer, std::size_t expected) {
  const auto refused = [&](std::string_view why) {
    return tl::unexpected(
        internal_error(fmt::format("conversion webhook for {}, Kind={} failed: {}", to.api_version(), to.kind, why)));
  };
  if (!answer) {
    return refused(answer.error().message);
  }
  if (text_at(*answer, {"response", "result", "status"}) != "Success") {
    return refused(text_at(*answer, {"response", "result", "message"}));
  }
  const Array* objects = array_at(*answer, {"response", "convertedObjects"});
  if (objects == nullptr || objects->size() != expected) {
    return refused("it did not answer with every object");
  }
  for (const Value& object : *objects) {
    if (text_at(object, {"apiVersion"}) != to.api_version() || text_at(object, {"kind"}) != to.kind) {
      return refused("it answered with another version");
    }
  }
  return *objects;
}

// A webhook may change labels and annotations, but nothing else of metadata.
void keep_metadata(const Value& before, Value& after) {
  const Object* kept = object_at(before, {"metadata"});
  Object metadata = kept == nullptr ? Object() : *kept;
  for (const std::string_view name : {"labels", "annotations"}) {
    if (const Value* given = find(after, {"metadata", name})) {
      metadata[name] = *given;
    } else if (const auto it = metadata.find(name); it != metadata.end()) {
      metadata.stable_erase(it);
    }
  }
  after.get_object()["metadata"] = std::move(metadata);
}

Task<Outcome<Array>> ask(Core& core, KindPtr to, Array objects) {
  Object client = to->definition->client;
  std::string body = to_json(review_of(core, *to, objects));
  const auto answer = co_await core.webhooks.call(std::move(client), std::move(body), kPatience);
  auto converted = read_review(*to, answer, objects.size());
  if (converted) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      keep_metadata(objects[i], (*converted)[i]);
    }
  }
  co_return std::move(converted);
}

// Version 1 knows one target, a share of CPU; version 2 a list. What version 1 cannot say is not shown by it.
void convert_autoscaler(bool to_first, Object& object) {
  Object& spec = object_in(object, "spec");
  constexpr std::string_view kShare = "targetCPUUtilizationPercentage";
  if (to_first) {
    const Array* metrics = array_at(object, {"spec", "metrics"});
    Value share;
    for (std::size_t i = 0; metrics != nullptr && i < metrics->size(); ++i) {
      const Value* wanted = find((*metrics)[i], {"resource", "target", "averageUtilization"});
      if (wanted != nullptr && text_at((*metrics)[i], {"resource", "name"}) == "cpu") {
        share = *wanted;
      }
    }
    spec.erase("metrics");
    spec.erase("behavior");
    if (!share.is_null()) {
      spec[kShare] = std::move(share);
    }
    return;
  }
  if (const Value* share = spec.if_contains(kShare)) {
    Object target{{"type", "Utilization"}, {"averageUtilization", *share}};
    Object resource{{"name", "cpu"}, {"target", std::move(target)}};
    spec["metrics"] = Array{Object{{"type", "Resource"}, {"resource", std::move(resource)}}};
    spec.erase(kShare);
  }
}

// Entries that are not there in this version, but could be.
std::vector<Entry> missing(const Core& core, const Kind& kind) {
  std::vector<Entry> entries;
  if (const Table* table = core.store.find_table(kind.table)) {
    for (const auto& [key, entry] : table->entries) {
      if (entries.size() < kMostPerCall && lacks_variant(kind, entry)) {
        entries.push_back(entry);
      }
    }
  }
  return entries;
}

}  // namespace

void convert_plainly(const Kind& to, Object& object) {
  const std::string version = to.api_version();
  if (text_at(object, {"apiVersion"}) == version) {
    return;
  }
  object["apiVersion"] = version;
  if (to.table == "events") {
    convert_event(to.group.empty(), object);
  } else if (to.table == "horizontalpodautoscalers.autoscaling") {
    convert_autoscaler(to.version == "v1", object);
  }
}

bool by_webhook(const Kind& kind) {
  return kind.custom() && kind.definition->by_webhook && kind.definition->versions.size() > 1;
}

bool lacks_variant(const Kind& kind, const Entry& entry) {
  const std::string version = kind.api_version();
  return by_webhook(kind) && stored_version(entry) != version && !entry.variants->contains(version);
}

Task<Outcome<Object>> convert(Core& core, KindPtr to, Object object) {
  if (text_at(object, {"apiVersion"}) == to->api_version()) {
    co_return Outcome<Object>(std::move(object));
  }
  if (!to->custom() || !to->definition->by_webhook) {
    convert_plainly(*to, object);
    co_return Outcome<Object>(std::move(object));
  }
  Array objects;
  objects.push_back(std::move(object));
  auto converted = co_await ask(core, to, std::move(objects));
  if (!converted) {
    co_return Outcome<Object>(tl::unexpected(std::move(converted.error())));
  }
  co_return Outcome<Object>(std::move((*converted)[0].get_object()));
}

Task<Outcome<>> convert_entries(Core& core, KindPtr kind, std::vector<Entry> entries) {
  Array objects;
  for (const Entry& entry : entries) {
    auto object = parse_json(*entry.bytes);
    objects.push_back(object ? std::move(*object) : Value());
  }
  auto converted = co_await ask(core, kind, std::move(objects));
  if (!converted) {
    co_return Outcome<>(tl::unexpected(std::move(converted.error())));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Object object = std::move((*converted)[i].get_object());
    (*entries[i].variants)[kind->api_version()] =
        std::make_shared<const std::string>(to_json(in_usual_order(std::move(object))));
  }
  co_return Outcome<>();
}

Task<Outcome<>> convert_all(Core& core, KindPtr kind) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Entry> entries = missing(core, *kind);
    if (entries.empty()) {
      break;
    }
    const auto converted = co_await convert_entries(core, kind, std::move(entries));
    if (!converted) {
      co_return converted;
    }
  }
  co_return Outcome<>();
}

}  // namespace gantree::apiserver
