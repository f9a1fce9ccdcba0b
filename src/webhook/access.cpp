#include "webhook/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "json/decode.h"
#include "json/read.h"

namespace gantree::webhook {

namespace {

using Clock = std::chrono::steady_clock;

// Between questions who we are, while the API server does not answer, and while it answers that it does not tell.
constexpr std::chrono::seconds kPause{1};
constexpr std::chrono::seconds kLongPause{60};
// The API server itself waits no longer for an answer than the webhook configuration says, five seconds by default.
constexpr std::chrono::seconds kPatience{3};
// Who is in it may do everything, by the API server's own rule.
constexpr std::string_view kMasters = "system:masters";

kube::Resource question(std::string group, std::string plural, std::string kind) {
  return {.group = std::move(group),
          .version = "v1",
          .plural = std::move(plural),
          .kind = std::move(kind),
          .namespaced = false};
}

// The value at a path in the answer; absent where it is not there.
std::optional<std::string> text_in(const std::string& body, std::initializer_list<std::string_view> path) {
  const auto documents = json::read_documents("answer", body);
  if (!documents || documents->size() != 1) {
    return std::nullopt;
  }
  json::Value value = documents->front().root();
  for (const std::string_view name : path) {
    value = value[name];
  }
  const bool plain = value && (value.kind() == json::Kind::kString || value.kind() == json::Kind::kBool);
  return plain ? std::optional(std::string(value.text())) : std::nullopt;
}

// An answer that stays the same however often one asks: there is no such resource, or it is not for us. (Who is not let
// in at all, with 401, may be a moment later.)
bool does_not_tell(const kube::Reply& reply) {
  return reply.ok() || reply.http_status == 403 || reply.http_status == 404 || reply.http_status == 405;
}

bool is_master(json::Value user_info) {
  const auto groups = items_of(user_info["groups"]);
  return std::any_of(groups.begin(), groups.end(), [](const json::NodeData& group) {
    return group.kind == json::Kind::kString && json::Value(&group).text() == kMasters;
  });
}

}  // namespace

struct Access::Known {
  std::mutex mutex;
  std::optional<std::string> self;
  Clock::time_point ask_again = {};
};

Access::Access(kube::Client& client) : client_(client), known_(std::make_shared<Known>()) {
  ask_who_we_are();
}

std::optional<std::string> Access::self() const {
  {
    const std::lock_guard lock(known_->mutex);
    const bool told = known_->self && !known_->self->empty();
    if (told || Clock::now() < known_->ask_again) {
      return known_->self;
    }
  }
  ask_who_we_are();
  const std::lock_guard lock(known_->mutex);
  return known_->self;
}

void Access::ask_who_we_are() const {
  {
    const std::lock_guard lock(known_->mutex);
    known_->ask_again = Clock::now() + kPause;
  }
  const kube::Resource kind = question("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview");
  json::Out body = json::Out::object();
  body.add("apiVersion", kind.api_version()).add("kind", kind.kind);
  client_.create(kind, "", body.to_json(false), [known = known_](const kube::Reply& reply) {
    const auto name = reply.ok() ? text_in(reply.body, {"status", "userInfo", "username"}) : std::nullopt;
    const std::lock_guard lock(known->mutex);
    if (name) {
      known->self = *name;
    } else if (does_not_tell(reply)) {
      known->self = "";
      known->ask_again = Clock::now() + kLongPause;
    }
  });
}

std::string administers_question(json::Value user_info) {
  json::Out attributes = json::Out::object();
  attributes.add("group", kueue::kGroup).add("resource", "clusterqueues").add("verb", "update");
  json::Out spec = json::Out::object();
  spec.add("resourceAttributes", std::move(attributes));
  constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"username", "user"}, {"groups", "groups"}, {"uid", "uid"}, {"extra", "extra"}};
  for (const auto& [from, to] : kSame) {
    if (const json::Value value = user_info[from]) {
      spec.add(to, json::copy(value));
    }
  }
  json::Out body = json::Out::object();
  body.add("apiVersion", "authorization.k8s.io/v1").add("kind", "SubjectAccessReview").add("spec", std::move(spec));
  return body.to_json(false);
}

Result<bool> Access::administers(const Review& review) const {
  if (is_master(review.user_info)) {
    return true;
  }
  const auto told = std::make_shared<std::promise<kube::Reply>>();
  auto waited = told->get_future();
  client_.create(question("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"), "",
                 administers_question(review.user_info),
                 [told](kube::Reply reply) { told->set_value(std::move(reply)); });
  if (waited.wait_for(kPatience) != std::future_status::ready) {
    return fail(Errc::kIo, fmt::format("the API server did not tell within {} s", kPatience.count()));
  }
  const kube::Reply reply = waited.get();
  if (!reply.ok()) {
    return fail(Errc::kIo, reply.message);
  }
  const auto allowed = text_in(reply.body, {"status", "allowed"});
  if (!allowed) {
    return fail(Errc::kIo, "the answer to a SubjectAccessReview says nothing of status.allowed");
  }
  return *allowed == "true";
}

}  // namespace gantree::webhook
