#include "controllers/turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::controllers {

namespace {

// How soon one whose namespace is full looks again; on the wall's clock, as it is about load and not about the cluster.
constexpr std::chrono::seconds kNoRoom{5};

// Is everything that the patch says so already? null says "absent".
bool says_nothing_new(const Object& patch, const Object* known) {
  for (const auto& [key, value] : patch) {
    const Value* old = known == nullptr ? nullptr : known->if_contains(key);
    if (value.is_object()) {
      if (!says_nothing_new(value.get_object(), old == nullptr ? nullptr : old->if_object())) {
        return false;
      }
    } else if (!means_the_same(value, old == nullptr ? Value() : *old)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::chrono::milliseconds Turn::scaled(std::chrono::milliseconds real) const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(real.count()) / options_.speed));
}

Time Turn::after(std::int64_t unix_seconds, std::chrono::milliseconds real) const {
  return Time(std::chrono::seconds(unix_seconds)) + scaled(real);
}

bool Turn::create(const Item& about, Kind kind, const Object& object, const std::shared_ptr<Notice>& notice) {
  const std::string ns = facts(kind).namespaced ? about.ns : std::string();
  std::string body = apiserver::to_json(object);
  if (!room_.take(kind, ns, body.size())) {
    again(now_ + kNoRoom * (1 << std::min(lacked_before_, 4)));
    if (!std::exchange(lacked_room_, true) && lacked_before_ == 0) {
      tell(about, "Warning", "FailedCreate",
           fmt::format("namespace {} has as many {} as the cluster makes at a time: others follow as these {}", ns,
                       kind == Kind::kPod ? "pods without a node" : facts(kind).plural,
                       kind == Kind::kPod ? "are bound or go" : "go"));
    }
    return false;
  }
  if (notice != nullptr) {
    notice->expect();
  }
  writes_.push_back({.verb = Verb::kCreate,
                     .kind = kind,
                     .ns = ns,
                     .name = {},
                     .uid = {},
                     .body = std::move(body),
                     .node = {},
                     .notice = notice});
  return true;
}

void Turn::write(Verb verb, const Item& item, const Object& body, const std::string& node) {
  writes_.push_back({.verb = verb,
                     .kind = item.kind,
                     .ns = item.ns,
                     .name = item.name,
                     .uid = item.uid,
                     .body = apiserver::to_json(body),
                     .node = node});
}

void Turn::patch(const Item& item, Object patch) {
  object_in(patch, "metadata")["uid"] = item.uid;
  write(Verb::kPatch, item, patch);
}

void Turn::annotate(const Item& item, Object annotations) {
  write(Verb::kPatchStatus, item,
        Object{{"metadata", Object{{"uid", item.uid}, {"annotations", std::move(annotations)}}}});
}

void Turn::patch_status(const Item& item, Object status) {
  const Object known = item.value();
  if (says_nothing_new(status, object_at(known, {"status"}))) {
    return;
  }
  Object patch;
  patch["metadata"] = Object{{"uid", item.uid}, {"resourceVersion", std::to_string(item.version)}};
  patch["status"] = std::move(status);
  write(Verb::kPatchStatus, item, patch);
}

void Turn::remove(const Item& item, std::optional<std::int64_t> grace, std::string_view propagation) {
  Object body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  body["preconditions"] = Object{{"uid", item.uid}};
  if (grace) {
    body["gracePeriodSeconds"] = *grace;
  }
  if (!propagation.empty()) {
    body["propagationPolicy"] = propagation;
  }
  write(Verb::kDelete, item, body);
}

void Turn::bind(const Item& pod, const std::string& node) {
  Object body{{"apiVersion", "v1"}, {"kind", "Binding"}};
  body["metadata"] = Object{{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}};
  body["target"] = Object{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}};
  write(Verb::kBind, pod, body, node);
}

std::shared_ptr<Notice> Turn::will_tell(const Item& about, std::string message) const {
  return std::make_shared<Notice>(about, voice_.component, std::move(message));
}

void Turn::tell_when_done(const Item& about, Notice::Words words) {
  writes_.back().notice = std::make_shared<Notice>(about, voice_.component, std::move(words));
  writes_.back().notice->expect();
}

void Turn::tell(const Item& about, std::string_view type, std::string_view reason, std::string_view message) {
  writes_.push_back(voice_.events->tell(about, voice_.component, {type, reason, message}, now_));
}

void Turn::tell_deleted(const Item& about, const std::vector<const Item*>& items, std::string_view message) {
  const std::size_t one_by_one = std::min(items.size(), static_cast<std::size_t>(kToldOneByOne));
  for (std::size_t i = 0; i < one_by_one; ++i) {
    tell(about, "Normal", "SuccessfulDelete", fmt::format("{}{}", message, items[i]->name));
  }
  if (items.size() > one_by_one) {
    const std::string combined = fmt::format("{}{}{}", kCombined, message, items.back()->name);
    const auto count = static_cast<std::int64_t>(items.size() - one_by_one);
    writes_.push_back(
        voice_.events->tell(about, voice_.component, {"Normal", "SuccessfulDelete", combined, count}, now_));
  }
}

void Turn::again(Time at) {
  due_ = due_ ? std::min(*due_, at) : at;
}

std::string Turn::suffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += kLetters[random_() % kLetters.size()];
  }
  return text;
}

}  // namespace gantree::controllers
