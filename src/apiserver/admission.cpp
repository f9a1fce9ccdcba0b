#include "apiserver/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apiserver/convert.h"
#include "apiserver/patch.h"
#include "apiserver/person.h"
#include "base/base64.h"

namespace gantree::apiserver {

namespace {

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      break;
  }
  return "CONNECT";
}

bool lists(const std::vector<std::string>& list, std::string_view text) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& item) { return item == "*" || item == text; });
}

bool lists_resource(const std::vector<std::string>& list, const std::string& resource, const std::string& subresource) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& item) {
    const std::size_t slash = item.find('/');
    const std::string_view first = std::string_view(item).substr(0, slash);
    const std::string_view second =
        slash == std::string::npos ? std::string_view() : std::string_view(item).substr(slash + 1);
    return (first == "*" || first == resource) && (second == subresource || (second == "*"));
  });
}

bool matches_rule(const Hook::Rule& rule, const Kind& kind, const Request& request, Operation operation) {
  const bool scope = rule.scope == "*" || (rule.scope == "Namespaced") == kind.namespaced;
  return scope && lists(rule.operations, name_of(operation)) && lists(rule.groups, kind.group) &&
         lists(rule.versions, kind.version) && lists_resource(rule.resources, kind.resource, request.subresource);
}

// The version in which the webhook wants to see the object; null where it does not.
KindPtr matched_kind(const Core& core, const Hook& hook, const Request& request, Operation operation) {
  const auto matches = [&](const Kind& kind) {
    return std::any_of(hook.rules.begin(), hook.rules.end(),
                       [&](const Hook::Rule& rule) { return matches_rule(rule, kind, request, operation); });
  };
  if (request.kind->group == "admissionregistration.k8s.io") {
    return nullptr;  // else nobody could mend a webhook that refuses everything
  }
  if (matches(*request.kind)) {
    return request.kind;
  }
  if (hook.equivalent) {
    for (const KindPtr& kind : core.registry.all()) {
      if (kind->table == request.kind->table && matches(*kind)) {
        return kind;
      }
    }
  }
  return nullptr;
}

bool matches_namespace(const Core& core, const Hook& hook, const Request& request, const Admission& admission) {
  if (hook.namespaces.all()) {
    return true;
  }
  if (request.kind->table == "namespaces") {
    const Object* object = admission.object != nullptr ? admission.object : admission.old;
    return object == nullptr || hook.namespaces.matches(pairs_of(object_at(*object, {"metadata", "labels"})));
  }
  const Entry* ns = request.kind->namespaced ? core.store.find("namespaces", {"", request.ns}) : nullptr;
  return ns == nullptr || hook.namespaces.matches(ns->facts->labels);
}

bool matches_object(const Hook& hook, const Admission& admission) {
  const auto fits = [&](const Object* object) {
    return object != nullptr && hook.objects.matches(pairs_of(object_at(*object, {"metadata", "labels"})));
  };
  return hook.objects.all() || fits(admission.object) || fits(admission.old);
}

Object kind_object(const Kind& kind) {
  Object object;
  object["group"] = kind.group;
  object["version"] = kind.version;
  object["kind"] = kind.kind;
  return object;
}

Object resource_object(const Kind& kind) {
  Object object;
  object["group"] = kind.group;
  object["version"] = kind.version;
  object["resource"] = kind.resource;
  return object;
}

Object options_of(Operation operation, const Request& request) {
  Object options;
  options["kind"] = operation == Operation::kCreate   ? "CreateOptions"
                    : operation == Operation::kDelete ? "DeleteOptions"
                                                      : "UpdateOptions";
  options["apiVersion"] = "meta.k8s.io/v1";
  if (const std::string_view manager = request.query.get("fieldManager"); !manager.empty()) {
    options["fieldManager"] = manager;
  }
  if (request.dry_run()) {
    options["dryRun"] = Array{Value("All")};
  }
  return options;
}

struct Question {
  std::string uid;
  KindPtr kind;
  Value object;
  Value old;
};

Object review_of(const Request& request, const Admission& admission, const Question& question) {
  Object review;
  review["kind"] = "AdmissionReview";
  review["apiVersion"] = "admission.k8s.io/v1";
  Object& body = object_in(review, "request");
  body["uid"] = question.uid;
  body["kind"] = kind_object(*question.kind);
  body["resource"] = resource_object(*question.kind);
  body["requestKind"] = kind_object(*request.kind);
  body["requestResource"] = resource_object(*request.kind);
  if (!request.subresource.empty()) {
    body["subResource"] = request.subresource;
    body["requestSubResource"] = request.subresource;
  }
  if (!admission.name.empty()) {
    body["name"] = admission.name;
  }
  if (!request.ns.empty()) {
    body["namespace"] = request.ns;
  } else if (request.kind->table == "namespaces") {
    body["namespace"] = admission.name;
  }
  body["operation"] = name_of(admission.operation);
  body["userInfo"] = user_info(request.call);
  body["object"] = question.object;
  body["oldObject"] = question.old;
  body["dryRun"] = admission.dry_run;
  body["options"] = options_of(admission.operation, request);
  return review;
}

// Whether the conditions of the webhook let it be asked. One that is false decides; else one that fails does, as a call
// that fails.
Outcome<bool> meets_conditions(const Hook& hook, const Object& review) {
  const Value& request = *find(review, {"request"});
  const std::array<std::pair<std::string_view, const Value*>, 3> names = {
      {{"request", &request}, {"object", find(request, {"object"})}, {"oldObject", find(request, {"oldObject"})}}};
  std::optional<Failure> failed;
  for (const auto& [name, program] : hook.conditions) {
    const auto value = program->evaluate(names);
    if (!value || !value->is_bool()) {
      const std::string why = value ? "it is neither true nor false" : value.error().message;
      failed = bad_request(
          fmt::format("webhook \"{}\": the matchCondition \"{}\" cannot be decided: {}", hook.name, name, why));
    } else if (!value->get_bool()) {
      return false;
    }
  }
  if (!failed) {
    return true;
  }
  return hook.must_succeed ? Outcome<bool>(tl::unexpected(std::move(*failed))) : Outcome<bool>(false);
}

Failure denial(const Hook& hook, const Value& response) {
  const std::string_view message = text_at(response, {"status", "message"});
  const std::string_view reason = text_at(response, {"status", "reason"});
  const Value* code = find(response, {"status", "code"});
  const std::int64_t number = code != nullptr && code->is_int64() ? code->get_int64() : 0;
  const std::string why(!message.empty() ? message : reason);
  const std::string text =
      why.empty() ? fmt::format("admission webhook \"{}\" denied the request without explanation", hook.name)
                  : fmt::format("admission webhook \"{}\" denied the request: {}", hook.name, why);
  return failure(static_cast<int>(std::clamp<std::int64_t>(number, 400, 599)), reason, text);
}

void take_warnings(Request& request, const Value& response) {
  if (const Array* warnings = array_at(response, {"warnings"})) {
    for (const Value& warning : *warnings) {
      request.warnings.emplace_back(text_of(warning));
    }
  }
}

Failure call_failure(const Hook& hook, std::string_view why) {
  return internal_error(fmt::format("failed calling webhook \"{}\": {}", hook.name, why));
}

// What the webhook answered; a Failure where the request must not go on.
Outcome<Value> read_answer(const Hook& hook, const Result<Value>& answer, const Question& question) {
  std::string why;
  if (!answer) {
    why = answer.error().message;
  } else if (text_at(*answer, {"response", "uid"}) != question.uid) {
    why = "the answer is to another question";
  } else {
    return *find(*answer, {"response"});
  }
  if (hook.must_succeed) {
    return tl::unexpected(call_failure(hook, why));
  }
  return Value();
}

Outcome<Value> patched(const Hook& hook, const Value& response, const Value& object) {
  const std::string_view encoded = text_at(response, {"patch"});
  if (encoded.empty()) {
    return object;
  }
  const auto text = from_base64(encoded);
  const auto patch = text ? parse_json(*text) : Result<Value>(invalid("the patch is no Base64"));
  if (!patch) {
    return tl::unexpected(call_failure(hook, patch.error().message));
  }
  Value result = object;
  if (const auto done = json_patch(result, *patch); !done) {
    return tl::unexpected(call_failure(hook, done.error().message));
  }
  if (!result.is_object()) {
    return tl::unexpected(call_failure(hook, "the patch leaves no object"));
  }
  return result;
}

Task<Outcome<Value>> in_version(Core& core, KindPtr kind, const Object* object) {
  if (object == nullptr) {
    co_return Outcome<Value>(Value());
  }
  Object copy = *object;
  auto converted = co_await convert(core, kind, std::move(copy));
  if (!converted) {
    co_return Outcome<Value>(tl::unexpected(std::move(converted.error())));
  }
  co_return Outcome<Value>(Value(std::move(*converted)));
}

// Whether the object was changed.
Task<Outcome<bool>> ask(Core& core, RequestPtr request, std::shared_ptr<Admission> admission,
                        std::shared_ptr<const Hook> hook, bool mutating) {
  const KindPtr kind = matched_kind(core, *hook, *request, admission->operation);
  if (kind == nullptr || !matches_namespace(core, *hook, *request, *admission) || !matches_object(*hook, *admission)) {
    co_return Outcome<bool>(false);
  }
  if (admission->dry_run && hook->has_side_effects) {
    co_return Outcome<bool>(
        tl::unexpected(bad_request(fmt::format("admission webhook \"{}\" does not support dry run", hook->name))));
  }
  Question question;
  question.uid = core.random.uid();
  question.kind = kind;
  auto object = co_await in_version(core, kind, admission->object);
  auto old = co_await in_version(core, kind, admission->old);
  if (!object || !old) {
    co_return Outcome<bool>(tl::unexpected(std::move(!object ? object.error() : old.error())));
  }
  question.object = std::move(*object);
  question.old = std::move(*old);
  const Object review = review_of(*request, *admission, question);
  const auto meets = meets_conditions(*hook, review);
  if (!meets || !*meets) {
    co_return meets ? Outcome<bool>(false) : Outcome<bool>(tl::unexpected(meets.error()));
  }
  std::string body = to_json(review);
  Object client = hook->client;
  const auto answer = co_await core.webhooks.call(std::move(client), std::move(body), hook->timeout);
  const auto response = read_answer(*hook, answer, question);
  if (!response) {
    co_return Outcome<bool>(tl::unexpected(response.error()));
  }
  if (response->is_null()) {
    co_return Outcome<bool>(false);
  }
  take_warnings(*request, *response);
  const Value* allowed = find(*response, {"allowed"});
  if (allowed == nullptr || !allowed->is_bool() || !allowed->get_bool()) {
    co_return Outcome<bool>(tl::unexpected(denial(*hook, *response)));
  }
  if (!mutating || admission->object == nullptr) {
    co_return Outcome<bool>(false);
  }
  auto changed = patched(*hook, *response, question.object);
  if (!changed) {
    co_return Outcome<bool>(tl::unexpected(std::move(changed.error())));
  }
  if (same(*changed, question.object)) {
    co_return Outcome<bool>(false);
  }
  auto back = co_await convert(core, request->kind, std::move(changed->get_object()));
  if (!back) {
    co_return Outcome<bool>(tl::unexpected(std::move(back.error())));
  }
  *admission->object = std::move(*back);
  co_return Outcome<bool>(true);
}

// What those say who are asked at the same time.
struct Verdict {
  std::size_t open = 0;
  std::vector<std::optional<Failure>> refusals;  // in the order of the webhooks
  std::function<void(bool)> done;
};

Task<Answer> hear(Core& core, RequestPtr request, std::shared_ptr<Admission> admission,
                  std::shared_ptr<const Hook> hook, std::shared_ptr<Verdict> verdict, std::size_t at) {
  const auto allowed = co_await ask(core, request, admission, hook, false);
  if (!allowed) {
    verdict->refusals[at] = allowed.error();
  }
  if (--verdict->open == 0 && verdict->done) {
    core.soon([verdict] { verdict->done(true); });
  }
  co_return Answer();
}

}  // namespace

bool concerns_webhooks(Core& core, const Request& request, Operation operation) {
  const auto concerns = [&](const Hooks& hooks) {
    return std::any_of(hooks.begin(), hooks.end(),
                       [&](const auto& hook) { return matched_kind(core, *hook, request, operation) != nullptr; });
  };
  return concerns(core.webhooks.mutating()) || concerns(core.webhooks.validating());
}

Task<Outcome<>> admit_mutating(Core& core, RequestPtr request, std::shared_ptr<Admission> admission) {
  const Hooks hooks = core.webhooks.mutating();
  std::vector<std::shared_ptr<const Hook>> again;  // asked before somebody else changed the object
  std::vector<std::shared_ptr<const Hook>> asked;
  for (const auto& hook : hooks) {
    const auto changed = co_await ask(core, request, admission, hook, true);
    if (!changed) {
      co_return Outcome<>(tl::unexpected(changed.error()));
    }
    if (*changed) {
      again = asked;
    }
    if (hook->again) {
      asked.push_back(hook);
    }
  }
  for (const auto& hook : again) {
    const auto changed = co_await ask(core, request, admission, hook, true);
    if (!changed) {
      co_return Outcome<>(tl::unexpected(changed.error()));
    }
  }
  co_return Outcome<>();
}

Task<Outcome<>> admit_validating(Core& core, RequestPtr request, std::shared_ptr<Admission> admission) {
  const Hooks hooks = core.webhooks.validating();
  auto verdict = std::make_shared<Verdict>();
  verdict->open = hooks.size();
  verdict->refusals.resize(hooks.size());
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    core.run(hear(core, request, admission, hooks[i], verdict, i));
  }
  // Where nobody had to be asked, this request must not fall behind those that came after it.
  if (verdict->open > 0) {
    Later<bool> all_are_heard([verdict](const std::function<void(bool)>& done) { verdict->done = done; });
    co_await all_are_heard;
  }
  for (std::optional<Failure>& refusal : verdict->refusals) {
    if (refusal) {
      co_return Outcome<>(tl::unexpected(std::move(*refusal)));
    }
  }
  co_return Outcome<>();
}

}  // namespace gantree::apiserver
