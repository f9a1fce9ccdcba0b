// Kinds that are asked and not stored: reviews of access, and Bindings at their own path.
#include "apiserver/eviction.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/person.h"
#include "apiserver/token_check.h"

namespace gantree::apiserver {

namespace {

// What is asked about, of a review of access.
Deed deed_in(const Object& review) {
  if (const Object* page = object_at(review, {"spec", "nonResourceAttributes"})) {
    return {.verb = std::string(text_at(*page, {"verb"})), .path = std::string(text_at(*page, {"path"}))};
  }
  const auto said = [&](std::string_view key) {
    return std::string(text_at(review, {"spec", "resourceAttributes", key}));
  };
  std::string resource = said("resource");
  if (const std::string part = said("subresource"); !part.empty()) {
    resource += "/" + part;
  }
  return {.verb = said("verb"),
          .group = said("group"),
          .resource = std::move(resource),
          .ns = said("namespace"),
          .name = said("name")};
}

Subject subject_in(const Request& request, const Object& review) {
  if (request.kind->kind == "SelfSubjectAccessReview") {
    return subject_of(request.call);
  }
  Subject subject{std::string(text_at(review, {"spec", "user"})), {}};
  // As the token of a service account would say.
  if (subject.user.starts_with("system:serviceaccount:")) {
    subject = subject_of(subject.user);
  }
  if (const Array* groups = array_at(review, {"spec", "groups"})) {
    for (const Value& group : *groups) {
      subject.groups.emplace_back(text_of(group));
    }
  }
  return subject;
}

void list_rules(const std::vector<RightsRule>& rules, Object& status) {
  const auto list = [](const std::vector<std::string>& texts) { return Array(texts.begin(), texts.end()); };
  Array resources;
  Array pages;
  for (const RightsRule& rule : rules) {
    if (!rule.resources.empty()) {
      Object one{{"verbs", list(rule.verbs)}, {"apiGroups", list(rule.groups)}, {"resources", list(rule.resources)}};
      if (!rule.names.empty()) {
        one["resourceNames"] = list(rule.names);
      }
      resources.push_back(std::move(one));
    }
    if (!rule.paths.empty()) {
      pages.push_back(Object{{"verbs", list(rule.verbs)}, {"nonResourceURLs", list(rule.paths)}});
    }
  }
  status["resourceRules"] = std::move(resources);
  status["nonResourceRules"] = std::move(pages);
  status["incomplete"] = false;
}

void answer(Core& core, const Request& request, Object& review) {
  Object& status = object_in(review, "status");
  const std::string& kind = request.kind->kind;
  if (kind == "SelfSubjectRulesReview") {
    list_rules(core.rights.granted(subject_of(request.call), text_at(review, {"spec", "namespace"})), status);
  } else if (kind == "SelfSubjectReview") {
    status["userInfo"] = user_info(request.call);
  } else if (kind == "TokenReview") {
    review_token(core, review);
  } else {
    status["allowed"] = core.rights.allows(subject_in(request, review), deed_in(review));
  }
}

}  // namespace

Task<Answer> answer_review(Core& core, RequestPtr request) {
  auto object = decode_object(*request, *request->kind);
  if (!object) {
    co_return refuse(object.error());
  }
  if (request->kind->kind == "Binding") {
    auto binding = std::make_shared<Request>(*request);
    binding->kind = core.registry.find("", "v1", "pods");
    binding->name = text_at(*object, {"metadata", "name"});
    binding->subresource = "binding";
    Answer bound = co_await bind_pod(core, binding);
    co_return bound;
  }
  (void)object_in(*object, "metadata");
  answer(core, *request, *object);
  co_return json_answer(201, in_usual_order(std::move(*object)));
}

}  // namespace gantree::apiserver
