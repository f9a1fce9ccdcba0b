// patch: what the body is by its content type, and what it makes of the object.
#include <fmt/format.h>

#include <map>

#include "apiserver/allowed.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/json_twice.h"
#include "apiserver/patch.h"
#include "apiserver/writing.h"
#include "apiserver/yaml.h"

namespace gantree::apiserver {

namespace {

enum class PatchKind : std::uint8_t { kJson, kMerge, kStrategic, kApply };

constexpr std::string_view kAccepted =
    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
    "application/apply-patch+yaml";

std::optional<PatchKind> patch_kind(const Request& request) {
  const auto types = media_types(request.call.content_type);
  const std::string_view type = types.empty() ? std::string_view() : std::string_view(types.front().type);
  if (type == "application/json-patch+json") {
    return PatchKind::kJson;
  }
  if (type == "application/merge-patch+json") {
    return PatchKind::kMerge;
  }
  if (type == "application/strategic-merge-patch+json" && !request.kind->custom()) {
    return PatchKind::kStrategic;
  }
  return type == "application/apply-patch+yaml" ? std::optional(PatchKind::kApply) : std::nullopt;
}

Failure patch_failure(const Error& error) {
  switch (error.code) {
    case Errc::kNotFound:
      return failure(422, "Invalid", error.message);
    case Errc::kLimit:
      return failure(413, "RequestEntityTooLarge", error.message);
    case Errc::kInvalid:
    case Errc::kIo:
      break;
  }
  return bad_request(error.message);
}

Outcome<Object> patched(const Request& request, PatchKind kind, const Value& patch, const Object& current) {
  Value document(current);
  Result<> done;
  switch (kind) {
    case PatchKind::kJson:
      done = json_patch(document, patch);
      break;
    case PatchKind::kMerge:
      merge_patch(document, patch);
      break;
    case PatchKind::kStrategic:
      if (request.kind->schema == nullptr) {
        return tl::unexpected(unsupported_media_type(kAccepted));
      }
      done = strategic_merge_patch(document, patch, *request.kind->schema);
      break;
    case PatchKind::kApply:
      break;
  }
  if (!done) {
    return tl::unexpected(patch_failure(done.error()));
  }
  if (!document.is_object()) {
    return tl::unexpected(bad_request("the patch leaves no object"));
  }
  return std::move(document.get_object());
}

// As encoding/json of Go writes it: in the order of the keys.
void append_sorted(std::string& out, const Value& value) {
  if (const Array* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      out += i > 0 ? "," : "";
      append_sorted(out, (*array)[i]);
    }
    out += ']';
    return;
  }
  const Object* object = value.if_object();
  if (object == nullptr) {
    append_json(out, value);
    return;
  }
  std::map<std::string_view, const Value*> members;
  for (const auto& member : *object) {
    members.emplace(member.key(), &member.value());
  }
  out += '{';
  for (const auto& [key, inner] : members) {
    out += out.back() == '{' ? "" : ",";
    append_json_text(out, key);
    out += ':';
    append_sorted(out, *inner);
  }
  out += '}';
}

// kubectl's own account of what it applied, from before it had the server keep one: renewed, so that who applies
// without the server next finds what is there now.
void renew_last_applied(const FieldManager& manager, const Value& wish, Object& object) {
  static constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
  if (manager.name != "kubectl" || text_at(object, {"metadata", "annotations", kLastApplied}).empty()) {
    return;
  }
  Value told = wish;
  if (Value* annotations = find(told, {"metadata", "annotations"});
      annotations != nullptr && annotations->is_object()) {
    annotations->get_object().stable_erase(kLastApplied);
  }
  std::string text;
  append_sorted(text, told);
  object_in(object_in(object, "metadata"), "annotations")[kLastApplied] = text + "\n";
}

}  // namespace

Outcome<Object> applied(const Core& core, const Request& request, const Value& wish, const Object* current) {
  const FieldManager manager = field_manager(core, request);
  const Value live = current == nullptr ? Value() : Value(*current);
  auto result =
      apply(*request.kind->schema, current == nullptr ? nullptr : &live, wish, manager, request.query.flag("force"));
  if (!result) {
    Object status = to_status(result.error());
    const Value* code = status.if_contains("code");
    const int number = code != nullptr && code->is_int64() ? static_cast<int>(code->get_int64()) : 409;
    return tl::unexpected(Failure{number, std::move(status)});
  }
  if (!result->is_object()) {
    return tl::unexpected(bad_request("what is applied is no object"));
  }
  renew_last_applied(manager, wish, result->get_object());
  return std::move(result->get_object());
}

namespace {

Outcome<Value> read_wish(const Request& request) {
  auto value = read_yaml_or_json(request.call.body);
  if (!value) {
    return tl::unexpected(bad_request(value.error().message));
  }
  if (!value->is_object()) {
    return tl::unexpected(bad_request("what is applied is no object"));
  }
  if (auto fits = check_size(request, *value); !fits) {
    return tl::unexpected(std::move(fits.error()));
  }
  if (request.query.get("fieldManager").empty()) {
    const FieldErrors errors{required("fieldManager", "is required for apply patch")};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "PatchOptions", "", errors)});
  }
  Object& wish = value->get_object();
  if (text_at(wish, {"apiVersion"}).empty() || text_at(wish, {"kind"}).empty()) {
    return tl::unexpected(bad_request("what is applied must say of which apiVersion and kind it is"));
  }
  if (auto typed = check_type(*request.kind, wish); !typed) {
    return tl::unexpected(std::move(typed.error()));
  }
  Object& metadata = object_in(wish, "metadata");
  if (find(metadata, {"managedFields"}) != nullptr) {
    return tl::unexpected(bad_request("metadata.managedFields must be nil"));
  }
  if (text_at(metadata, {"name"}).empty()) {
    metadata["name"] = request.name;
  } else if (text_at(metadata, {"name"}) != request.name) {
    return tl::unexpected(bad_request("what is applied and the path name different objects"));
  }
  if (request.kind->namespaced) {
    metadata["namespace"] = request.ns;
  }
  return std::move(*value);
}

// What the body says is to be changed.
Outcome<> take_patch(const RequestPtr& request, PatchKind kind, Change& change) {
  std::vector<std::string> twice;
  auto patch = parse_json(request->call.body, twice);
  if (!patch) {
    return tl::unexpected(bad_request(patch.error().message));
  }
  if (const auto sound = report_twice(*request, twice); !sound) {
    return tl::unexpected(unfit_patch(sound.error()));
  }
  // A list of single steps may be longer than what it leaves.
  if (auto fits = kind == PatchKind::kJson ? Outcome<>() : check_size(*request, *patch); !fits) {
    return fits;
  }
  change.patch = true;
  auto shared = std::make_shared<const Value>(std::move(*patch));
  change.transform = [request, shared, kind](const Object* current) {
    return patched(*request, kind, *shared, *current);
  };
  return {};
}

}  // namespace

Task<Answer> patch_object(Core& core, RequestPtr request) {
  if (const auto sound = check_options(*request); !sound) {
    co_return refuse(sound.error());
  }
  const auto kind = patch_kind(*request);
  if (!kind || (*kind == PatchKind::kApply && request->kind->schema == nullptr)) {
    co_return refuse(unsupported_media_type(kAccepted));
  }
  if (*kind != PatchKind::kApply && request->query.has("force")) {
    const FieldErrors errors{forbidden("force", "only what is applied can be forced")};
    co_return refuse(Failure{422, invalid_status("meta.k8s.io", "PatchOptions", "", errors)});
  }
  auto change = std::make_shared<Change>();
  change->part = request->subresource == "status" ? Change::Part::kStatus : Change::Part::kWanted;
  if (*kind == PatchKind::kApply) {
    auto wish = read_wish(*request);
    if (!wish) {
      co_return refuse(wish.error());
    }
    change->apply = true;
    auto shared = std::make_shared<const Value>(std::move(*wish));
    change->transform = [&core, request, shared](const Object* current) {
      return applied(core, *request, *shared, current);
    };
    const Key key{request->kind->namespaced ? request->ns : "", request->name};
    if (core.store.find(request->kind->table, key) == nullptr && request->subresource.empty()) {
      // Who may change what is there may not make something new by that.
      Deed creation = deed_of(*request);
      creation.verb = "create";
      if (const auto allowed = check_allowed(core, request->call, creation); !allowed) {
        co_return refuse(allowed.error());
      }
      auto object = change->transform(nullptr);
      if (!object) {
        co_return refuse(object.error());
      }
      if (!text_at(*object, {"metadata", "uid"}).empty()) {
        co_return refuse(conflict(request->what(), request->name, "there is no object of this uid"));
      }
      Answer created = co_await create_from(core, request, std::move(*object), Account::kKept);
      // Where webhooks are asked somebody else may make it meanwhile: then it is changed.
      if (created.status != 409 || core.store.find(request->kind->table, key) == nullptr) {
        co_return created;
      }
    }
  } else if (const auto sound = take_patch(request, *kind, *change); !sound) {
    co_return refuse(sound.error());
  }
  Answer answer = co_await change_object(core, request, change);
  co_return answer;
}

}  // namespace gantree::apiserver
