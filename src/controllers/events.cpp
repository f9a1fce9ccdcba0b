#include "controllers/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::controllers {

namespace {

constexpr std::size_t kMostRemembered = 10'000;
// Well before an event that was not written again goes from the API server.
constexpr std::chrono::minutes kCountedFor{50};
// Who tells less often than that is not told to be brief.
constexpr std::chrono::minutes kSimilarFor{10};

Object event_of(const Item& about, std::string_view component, const Told& told, std::string name, Time now) {
  const std::string time = rfc3339(now);
  const std::string_view host = component == "kubelet" && about.pod != nullptr ? about.pod->node : std::string_view();
  Object event{{"apiVersion", "v1"}, {"kind", "Event"}};
  event["metadata"] = Object{{"name", std::move(name)}, {"namespace", about.ns.empty() ? "default" : about.ns}};
  event["involvedObject"] = Object{{"apiVersion", api_version(about.kind)},
                                   {"kind", facts(about.kind).name},
                                   {"namespace", about.ns},
                                   {"name", about.name},
                                   {"uid", about.uid},
                                   {"resourceVersion", std::to_string(about.version)}};
  event["type"] = told.type;
  event["reason"] = told.reason;
  event["message"] = told.message;
  event["firstTimestamp"] = time;
  event["lastTimestamp"] = time;
  event["count"] = told.count;
  Object source{{"component", component}};
  if (!host.empty()) {
    source["host"] = host;
  }
  event["source"] = std::move(source);
  event["reportingComponent"] = component;
  event["reportingInstance"] = host;
  return event;
}

}  // namespace

template <class T>
T& Events::Memory<T>::at(const std::string& key) {
  if (const auto found = newer_.find(key); found != newer_.end()) {
    return found->second;
  }
  T kept{};
  if (auto node = older_.extract(key)) {
    kept = std::move(node.mapped());
  }
  if (newer_.size() >= kMostRemembered) {
    older_ = std::exchange(newer_, {});
  }
  return newer_[key] = std::move(kept);
}

template <class T>
void Events::Memory<T>::forget(const std::string& key) {
  newer_.erase(key);
  older_.erase(key);
}

std::string Events::name_for(const Item& about, Time now) {
  const auto moment = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  last_ = std::max(last_ + 1, static_cast<std::uint64_t>(moment));
  return fmt::format("{}.{:016x}", about.name, last_);
}

void Events::forget(const std::string& like) {
  known_.forget(like);
}

Write Events::tell(const Item& about, std::string_view component, const Told& told, Time now) {
  const std::string group = fmt::format("{} {} {} {} {}", component, about.uid, about.key(), told.type, told.reason);
  std::string message(told.message);
  bool combined = message.starts_with(kCombined);
  std::string like = combined ? group : fmt::format("{} {}", group, message);
  if (Known& known = known_.at(like); !combined && (known.count == 0 || now - known.last > kCountedFor)) {
    Similar& similar = similar_.at(group);
    similar.count = now - similar.last > kSimilarFor ? 0 : similar.count;
    similar.last = now;
    if (++similar.count > kToldOneByOne) {
      combined = true;
      message = std::string(kCombined) + message;
      known_.forget(like);
      like = group;
    }
  }
  Known& known = known_.at(like);
  Write write{.kind = Kind::kEvent, .ns = about.ns.empty() ? "default" : about.ns};
  if (known.count == 0 || now - known.last > kCountedFor) {
    known = {name_for(about, now), told.count, now};
    const Told whole{told.type, told.reason, message, told.count};
    write.body = apiserver::to_json(event_of(about, component, whole, known.name, now));
    return write;
  }
  known.count += told.count;
  known.last = now;
  Object patch{{"count", known.count}, {"lastTimestamp", rfc3339(now)}};
  if (combined) {
    patch["message"] = message;
  }
  write.verb = Verb::kPatch;
  write.name = known.name;
  write.body = apiserver::to_json(patch);
  write.like = std::move(like);
  return write;
}

}  // namespace gantree::controllers
