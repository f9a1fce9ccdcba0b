// What lies below objects: scale, binding, eviction, log, finalize, token.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/eviction.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/patch.h"
#include "apiserver/rules.h"
#include "apiserver/scale.h"
#include "apiserver/token_check.h"
#include "apiserver/yaml.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

// Whether the body is a Scale of the object that the path names.
Outcome<> check_scale(const Request& request, const Value& scale) {
  const std::string_view kind = text_at(scale, {"kind"});
  const std::string_view name = text_at(scale, {"metadata", "name"});
  if ((!kind.empty() && kind != "Scale") || (!name.empty() && name != request.name)) {
    return tl::unexpected(bad_request("the body is no Scale of the object that the path names"));
  }
  const Value* replicas = find(scale, {"spec", "replicas"});
  if (!scale.is_object() || (replicas != nullptr && !replicas->is_int64())) {
    return tl::unexpected(bad_request("the body is no Scale"));
  }
  if (replicas != nullptr && replicas->get_int64() < 0) {
    const FieldErrors errors{invalid_value("spec.replicas", *replicas, "must be greater than or equal to 0")};
    return tl::unexpected(Failure{422, invalid_status("autoscaling", "Scale", request.name, errors)});
  }
  return {};
}

bool is_apply(const Request& request) {
  const auto types = media_types(request.call.content_type);
  return request.call.method == "PATCH" && !types.empty() && types.front().type == "application/apply-patch+yaml";
}

// To apply a Scale is to apply the replicas of what it is of.
Outcome<Object> applied_scale(const Core& core, const Request& request, const Object& current) {
  const auto scale = read_yaml_or_json(request.call.body);
  if (!scale) {
    return tl::unexpected(bad_request(scale.error().message));
  }
  if (request.query.get("fieldManager").empty()) {
    const FieldErrors errors{required("fieldManager", "is required for apply patch")};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "PatchOptions", "", errors)});
  }
  if (auto sound = check_scale(request, *scale); !sound) {
    return tl::unexpected(std::move(sound.error()));
  }
  Object wish{{"apiVersion", request.kind->api_version()}, {"kind", request.kind->kind}};
  if (find(*scale, {"spec", "replicas"}) != nullptr) {
    set_scale(*request.kind, scale->get_object(), wish);
  }
  object_in(wish, "metadata")["name"] = request.name;
  object_in(wish, "metadata")["namespace"] = request.ns;
  return applied(core, request, Value(std::move(wish)), &current);
}

Outcome<Object> wanted_scale(const Request& request, const Object& current) {
  auto body = read_yaml_or_json(request.call.body);
  if (!body) {
    return tl::unexpected(bad_request(body.error().message));
  }
  Value scale(scale_of(*request.kind, current));
  if (request.call.method == "PUT") {
    scale = std::move(*body);
  } else {
    // Where the patch names no version, any will do.
    object_in(scale.get_object(), "metadata")["resourceVersion"] = "";
    if (body->is_array()) {
      if (const auto done = json_patch(scale, *body); !done) {
        return tl::unexpected(bad_request(done.error().message));
      }
    } else {
      merge_patch(scale, *body);
    }
  }
  if (auto sound = check_scale(request, scale); !sound) {
    return tl::unexpected(std::move(sound.error()));
  }
  Object object = current;
  set_scale(*request.kind, scale.get_object(), object);
  return object;
}

Task<Answer> serve_scale(Core& core, RequestPtr request) {
  if (request->call.method == "GET" || request->call.method == "HEAD") {
    const auto object = core.read(request->kind->table, {request->ns, request->name});
    if (!object) {
      co_return refuse(not_found(request->what(), request->name));
    }
    co_return json_answer(200, scale_of(*request->kind, *object));
  }
  if (request->call.method != "PUT" && request->call.method != "PATCH") {
    co_return refuse(method_not_allowed_here());
  }
  auto change = std::make_shared<Change>();
  change->apply = is_apply(*request) && request->kind->schema != nullptr;
  change->transform = [&core, request, apply = change->apply](const Object* current) {
    return apply ? applied_scale(core, *request, *current) : wanted_scale(*request, *current);
  };
  change->answer = [request](const Object& stored) { return json_answer(200, scale_of(*request->kind, stored)); };
  Answer answer = co_await change_object(core, request, change);
  co_return answer;
}

void set_scheduled(Object& pod, std::string_view now) {
  Value& conditions = object_in(pod, "status")["conditions"];
  if (!conditions.is_array()) {
    conditions.emplace_array();
  }
  Object scheduled;
  scheduled["type"] = "PodScheduled";
  scheduled["status"] = "True";
  scheduled["lastProbeTime"] = nullptr;
  scheduled["lastTransitionTime"] = now;
  for (Value& condition : conditions.get_array()) {
    if (text_at(condition, {"type"}) == "PodScheduled") {
      condition = std::move(scheduled);
      return;
    }
  }
  conditions.get_array().push_back(std::move(scheduled));
}

// Labels and annotations of a binding go to its pod.
void take_along(const Object& binding, std::string_view name, Object& pod) {
  if (const Object* given = object_at(binding, {"metadata", name})) {
    Object& into = object_in(object_in(pod, "metadata"), name);
    for (const auto& member : *given) {
      into[member.key()] = member.value();
    }
  }
}

Outcome<Object> bound(const Request& request, const Object& binding, const Object& pod, std::string_view now) {
  const GroupResource what{"", "pods/binding"};
  const std::string_view uid = text_at(binding, {"metadata", "uid"});
  const std::string_view own_uid = text_at(pod, {"metadata", "uid"});
  if (!uid.empty() && uid != own_uid) {
    return tl::unexpected(
        conflict({"", "pods"}, request.name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, own_uid)));
  }
  if (const auto problem = binding_problem(pod)) {
    return tl::unexpected(conflict(what, request.name, *problem));
  }
  Object next = pod;
  object_in(next, "spec")["nodeName"] = text_at(binding, {"target", "name"});
  take_along(binding, "labels", next);
  take_along(binding, "annotations", next);
  set_scheduled(next, now);
  object_in(next, "metadata")["resourceVersion"] = "";
  return next;
}

}  // namespace

Task<Answer> bind_pod(Core& core, RequestPtr request) {
  if (request->call.method != "POST") {
    co_return refuse(method_not_allowed_here());
  }
  const auto body = parse_json(request->call.body);
  if (!body || !body->is_object()) {
    co_return refuse(bad_request("the body of the request is no Binding"));
  }
  auto binding = std::make_shared<const Object>(body->get_object());
  if (const std::string_view name = text_at(*binding, {"metadata", "name"}); !name.empty() && name != request->name) {
    co_return refuse(bad_request("the Binding and the path name different pods"));
  }
  const std::string_view target = text_at(*binding, {"target", "name"});
  const std::string_view kind = text_at(*binding, {"target", "kind"});
  if (target.empty() || (!kind.empty() && kind != "Node")) {
    const FieldErrors errors{target.empty() ? required("target.name")
                                            : not_supported("target.kind", Value(kind), {"Node", "<empty>"})};
    co_return refuse(Failure{422, invalid_status("", "Binding", request->name, errors)});
  }
  auto change = std::make_shared<Change>();
  change->transform = [&core, request, binding](const Object* pod) {
    return bound(*request, *binding, *pod, core.now());
  };
  change->part = Change::Part::kAll;
  change->answer = [](const Object&) { return json_answer(201, created()); };
  Answer answer = co_await change_object(core, request, change);
  co_return answer;
}

namespace {

// The server itself empties the list when the namespace is empty; others may put it there.
Task<Answer> finalize(Core& core, RequestPtr request) {
  auto object = decode_object(*request, *request->kind);
  if (!object) {
    co_return refuse(object.error());
  }
  auto wanted = std::make_shared<const Object>(std::move(*object));
  auto change = std::make_shared<Change>();
  change->part = Change::Part::kAll;
  change->transform = [wanted](const Object* current) -> Outcome<Object> {
    Object next = *current;
    const Value* finalizers = find(*wanted, {"spec", "finalizers"});
    object_in(next, "spec")["finalizers"] = finalizers == nullptr ? Value(Array()) : *finalizers;
    object_in(next, "metadata")["resourceVersion"] = text_at(*wanted, {"metadata", "resourceVersion"});
    return next;
  };
  Answer answer = co_await change_object(core, request, change);
  co_return answer;
}

Answer log_of(const Core& core, const Request& request) {
  const auto pod = core.read("pods", {request.ns, request.name});
  if (!pod) {
    return refuse(not_found(request.what(), request.name));
  }
  return text_answer(
      200, fmt::format("pod {}/{} is simulated on node \"{}\": it is {}, and has no output of its own\n", request.ns,
                       request.name, text_at(*pod, {"spec", "nodeName"}), text_at(*pod, {"status", "phase"})));
}

// exec, attach, port-forward, proxy: there is nothing behind a simulated pod. 400, as that is what kubectl tells in the
// server's own words.
Answer no_way_in(const Core& core, const Request& request) {
  if (core.store.find(request.kind->table, {request.ns, request.name}) == nullptr) {
    return refuse(not_found(request.what(), request.name));
  }
  return refuse(bad_request(fmt::format("{} \"{}\" is simulated: nothing runs in it that {} could reach",
                                        request.kind->singular, request.name, request.subresource)));
}

}  // namespace

Task<Answer> serve_subresource(Core& core, RequestPtr request) {
  const std::string& name = request->subresource;
  if (name == "scale" && request->kind->scale) {
    Answer answer = co_await serve_scale(core, request);
    co_return answer;
  }
  if (name == "binding") {
    Answer answer = co_await bind_pod(core, request);
    co_return answer;
  }
  if (name == "eviction") {
    Answer answer = co_await evict_pod(core, request);
    co_return answer;
  }
  if (name == "token") {
    co_return issue_token(core, *request);
  }
  if (name == "finalize" && request->call.method == "PUT") {
    Answer answer = co_await finalize(core, request);
    co_return answer;
  }
  if (name == "log" && request->call.method == "GET") {
    co_return log_of(core, *request);
  }
  if (name == "exec" || name == "attach" || name == "portforward" || name == "proxy") {
    co_return no_way_in(core, *request);
  }
  const bool whole = name == "resize" || name == "ephemeralcontainers" || name == "approval";
  if (whole && request->call.method == "GET") {
    Answer answer = co_await get_object(core, request);
    co_return answer;
  }
  if (whole && request->call.method == "PUT") {
    Answer answer = co_await update_object(core, request);
    co_return answer;
  }
  if (whole && request->call.method == "PATCH") {
    Answer answer = co_await patch_object(core, request);
    co_return answer;
  }
  co_return refuse(method_not_allowed_here());
}

}  // namespace gantree::apiserver
