#include "apiserver/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "apiserver/admission_review.h"
#include "apiserver/convert.h"
#include "apiserver/hook.h"
#include "apiserver/patch.h"
#include "apiserver/policy_check.h"
#include "base/base64.h"

namespace gantree::apiserver {

namespace {

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
Outcome<Value> read_answer(const Hook& hook, const Result<Value>& answer, const Value& question) {
  std::string why;
  if (!answer) {
    why = answer.error().message;
  } else if (text_at(*answer, {"response", "uid"}) != text_at(question, {"uid"})) {
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

// Whether the object was changed.
Task<Outcome<bool>> ask(Core& core, RequestPtr request, std::shared_ptr<Admission> admission,
                        std::shared_ptr<const Hook> hook, bool mutating) {
  const KindPtr kind = matched_kind(core, *hook, *request, admission->operation);
  if (kind == nullptr || !selects(core, *hook, *request, *admission)) {
    co_return Outcome<bool>(false);
  }
  if (admission->dry_run && hook->has_side_effects) {
    co_return Outcome<bool>(
        tl::unexpected(bad_request(fmt::format("admission webhook \"{}\" does not support dry run", hook->name))));
  }
  auto review = co_await review_for(core, request, admission, kind);
  if (!review) {
    co_return Outcome<bool>(tl::unexpected(std::move(review.error())));
  }
  const Value& question = *find(*review, {"request"});
  const std::array<CelName, 3> names = {
      {{"request", &question}, {"object", find(question, {"object"})}, {"oldObject", find(question, {"oldObject"})}}};
  const auto meets = meets_conditions(*hook, names);
  if (!meets || !*meets) {
    co_return meets ? Outcome<bool>(false) : Outcome<bool>(tl::unexpected(meets.error()));
  }
  std::string body = to_json(*review);
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
  auto changed = patched(*hook, *response, *find(question, {"object"}));
  if (!changed) {
    co_return Outcome<bool>(tl::unexpected(std::move(changed.error())));
  }
  if (same(*changed, *find(question, {"object"}))) {
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
  return concerns(core.webhooks.mutating()) || concerns(core.webhooks.validating()) ||
         concern_policies(core, request, operation);
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
  const auto obeyed = co_await obey_policies(core, request, admission);
  if (!obeyed) {
    co_return obeyed;
  }
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
