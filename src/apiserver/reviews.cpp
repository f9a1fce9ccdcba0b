// Kinds that are asked and not stored: reviews of access, and Bindings at their own path.
#include "apiserver/eviction.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"

namespace gantree::apiserver {

namespace {

Array all() {
  return Array{Value("*")};
}

// Whoever has the token may do everything.
void answer(const Request& request, Object& review) {
  Object& status = object_in(review, "status");
  const std::string& kind = request.kind->kind;
  if (kind == "SelfSubjectRulesReview") {
    Object rule;
    rule["verbs"] = all();
    rule["apiGroups"] = all();
    rule["resources"] = all();
    Object pages;
    pages["verbs"] = all();
    pages["nonResourceURLs"] = all();
    status["resourceRules"] = Array{Value(std::move(rule))};
    status["nonResourceRules"] = Array{Value(std::move(pages))};
    status["incomplete"] = false;
  } else if (kind == "SelfSubjectReview") {
    Object& user = object_in(status, "userInfo");
    user["username"] = request.call.user;
    user["groups"] = Array{Value("system:masters"), Value("system:authenticated")};
  } else if (kind == "TokenReview") {
    status["authenticated"] = false;
    status["error"] = "this cluster has one token, which is not told";
  } else {
    status["allowed"] = true;
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
  answer(*request, *object);
  co_return json_answer(201, in_usual_order(std::move(*object)));
}

}  // namespace gantree::apiserver
