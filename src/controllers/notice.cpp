#include "controllers/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::controllers {

Object make_event(const Item& about, const Voice& voice, const Told& told, Time now) {
  const std::string ns = about.ns.empty() ? "default" : about.ns;
  const auto moment = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  *voice.last = std::max(*voice.last + 1, static_cast<std::uint64_t>(moment));
  const std::string time = rfc3339(now);
  Object event{{"apiVersion", "v1"}, {"kind", "Event"}};
  event["metadata"] = Object{{"name", fmt::format("{}.{:016x}", about.name, *voice.last)}, {"namespace", ns}};
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
  Object source{{"component", voice.component}};
  if (voice.component == "kubelet" && about.pod != nullptr) {
    source["host"] = about.pod->node;
  }
  event["source"] = std::move(source);
  event["reportingComponent"] = voice.component;
  event["reportingInstance"] = about.pod != nullptr && voice.component == "kubelet" ? about.pod->node : std::string();
  return event;
}

Notice::Notice(const Item& about, std::string_view component, std::string message)
    : component_(component), message_(std::move(message)) {
  about_.kind = about.kind;
  about_.ns = about.ns;
  about_.name = about.name;
  about_.uid = about.uid;
  about_.version = about.version;
}

bool Notice::wants_name() const {
  return told_ < kToldOneByOne || open_ <= 1;
}

std::optional<Object> Notice::made(std::string_view name, std::uint64_t& last, Time now) {
  --open_;
  if (told_ < kToldOneByOne) {
    ++told_;
    const std::string message = message_ + std::string(name);
    return make_event(about_, {component_, &last}, {.reason = "SuccessfulCreate", .message = message}, now);
  }
  ++untold_;
  last_made_ = name;
  return others(last, now);
}

std::optional<Object> Notice::refused(std::string_view why, std::uint64_t& last, Time now) {
  --open_;
  if (!std::exchange(told_refusal_, true)) {
    const std::string message = fmt::format("Error creating: {}", why);
    return make_event(about_, {component_, &last}, {"Warning", "FailedCreate", message}, now);
  }
  return others(last, now);
}

std::optional<Object> Notice::others(std::uint64_t& last, Time now) {
  if (open_ > 0 || untold_ == 0) {
    return std::nullopt;
  }
  const std::string message = fmt::format("(combined from similar events): {}{}", message_, last_made_);
  return make_event(about_, {component_, &last}, {"Normal", "SuccessfulCreate", message, std::exchange(untold_, 0)},
                    now);
}

}  // namespace gantree::controllers
