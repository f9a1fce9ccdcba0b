// update and patch: whatever turns one state of an object into the next.
#include <fmt/format.h>

#include "apiserver/admission.h"
#include "apiserver/allowed.h"
#include "apiserver/apply.h"
#include "apiserver/convert.h"
#include "apiserver/defaults.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/patch.h"
#include "apiserver/writing.h"

namespace gantree::apiserver {

namespace {

// How often a change is repeated that others get in the way of.
constexpr int kTries = 5;

using Part = Change::Part;

void move_member(const Object& from, Object& to, std::string_view name) {
  if (const Value* value = from.if_contains(name)) {
    to[name] = *value;
  } else if (const auto it = to.find(name); it != to.end()) {
    to.stable_erase(it);
  }
}

// Of the containers of a pod nothing but what they ask for, each by its place and name.
void resize(const Object& current, Object& desired) {
  Object confined = current;
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Array* wanted = array_at(desired, {"spec", key});
    Value* list = find(confined, {"spec", key});
    for (std::size_t i = 0; wanted != nullptr && list != nullptr && list->is_array() && i < wanted->size(); ++i) {
      if (i >= list->get_array().size() || !(*wanted)[i].is_object()) {
        break;
      }
      Value& container = list->get_array()[i];
      if (container.is_object() && text_at(container, {"name"}) == text_at((*wanted)[i], {"name"})) {
        move_member((*wanted)[i].get_object(), container.get_object(), "resources");
        move_member((*wanted)[i].get_object(), container.get_object(), "resizePolicy");
      }
    }
  }
  desired = std::move(confined);
}

// A part of a pod that is written by a path of its own: the rest stays as it is.
void confine_pod(std::string_view subresource, const Object& current, Object& desired) {
  static const Object kEmpty;
  const Object* metadata = object_at(desired, {"metadata"});
  const Object given = metadata == nullptr ? kEmpty : *metadata;
  if (subresource == "resize") {
    resize(current, desired);
  } else {
    const Object* spec = object_at(desired, {"spec"});
    Object confined = current;
    move_member(spec == nullptr ? kEmpty : *spec, object_in(confined, "spec"), "ephemeralContainers");
    desired = std::move(confined);
  }
  move_member(given, object_in(desired, "metadata"), "managedFields");
  move_member(given, object_in(desired, "metadata"), "resourceVersion");
}

// Keeps to the part that the request may write.
void confine(const Kind& kind, Part part, std::string_view subresource, const Object& current, Object& desired) {
  if (kind.table == "pods" && (subresource == "resize" || subresource == "ephemeralcontainers")) {
    confine_pod(subresource, current, desired);
  } else if (part == Part::kWanted && kind.has("status")) {
    move_member(current, desired, "status");
  } else if (part == Part::kStatus) {
    Object confined = current;
    move_member(desired, confined, "status");
    if (!kind.custom()) {
      // Built-in kinds take labels and annotations along; custom ones only the account of fields.
      const Value owners = find(current, {"metadata", "ownerReferences"}) == nullptr
                               ? Value()
                               : *find(current, {"metadata", "ownerReferences"});
      move_member(desired, confined, "metadata");
      if (!owners.is_null()) {
        object_in(confined, "metadata")["ownerReferences"] = owners;
      }
      if (kind.table == "deployments.apps") {
        const Object* before = object_at(current, {"metadata"});
        move_member(before == nullptr ? Object() : *before, object_in(confined, "metadata"), "labels");
      }
    } else if (const Object* metadata = object_at(desired, {"metadata"})) {
      move_member(*metadata, object_in(confined, "metadata"), "managedFields");
      move_member(*metadata, object_in(confined, "metadata"), "resourceVersion");
    }
    desired = std::move(confined);
  }
}

// Counts a change of what is wanted.
void count_generation(const Kind& kind, const Object& current, Object& desired) {
  // As ever, a Deployment's annotations count as wanted.
  const bool annotated =
      kind.table == "deployments.apps" && pairs_of(object_at(current, {"metadata", "annotations"})) !=
                                              pairs_of(object_at(desired, {"metadata", "annotations"}));
  if (!kind.generation || !(annotated || wants_differ(current, desired, kind.has("status")))) {
    return;
  }
  const Value* generation = find(current, {"metadata", "generation"});
  object_in(desired, "metadata")["generation"] =
      generation != nullptr && generation->is_int64() ? generation->get_int64() + 1 : 1;
}

// Kinds that are not updated without saying which version of them was read.
bool needs_version(const Kind& kind) {
  return kind.custom() || kind.group == "coordination.k8s.io" || kind.group == "policy" ||
         kind.group == "admissionregistration.k8s.io" || kind.group == "apiextensions.k8s.io";
}

struct Draft {
  Object current;
  Object desired;
  bool names_version = false;  // a loser of a race is told so
  bool nothing = false;        // to do
};

// A write is to the object that the path names; patches cannot make another one of it either.
Outcome<> check_identity(const Request& request, const Change& change, const Draft& draft) {
  if (change.part == Part::kAll) {
    return {};
  }
  const std::string_view name = text_at(draft.desired, {"metadata", "name"});
  const std::string_view ns = text_at(draft.desired, {"metadata", "namespace"});
  if (!name.empty() && name != request.name) {
    return tl::unexpected(
        bad_request(fmt::format("the object is called {}, and the path says {}", name, request.name)));
  }
  if (request.kind->namespaced && !ns.empty() && ns != request.ns) {
    return tl::unexpected(bad_request("the object and the path name different namespaces"));
  }
  FieldErrors errors;
  for (const std::string_view key : {"uid", "deletionTimestamp"}) {
    const std::string_view given = text_at(draft.desired, {"metadata", key});
    if (change.patch && !given.empty() && given != text_at(draft.current, {"metadata", key})) {
      errors.push_back(invalid_value(child_path("metadata", key), Value(given), "field is immutable"));
    }
  }
  if (!errors.empty()) {
    return tl::unexpected(Failure{422, invalid_status(request.kind->group, request.kind->kind, request.name, errors)});
  }
  return {};
}

Outcome<> prepare(const Core& core, Request& request, const Change& change, Draft& draft) {
  const Kind& kind = *request.kind;
  auto desired = change.transform(&draft.current);
  if (!desired) {
    return tl::unexpected(std::move(desired.error()));
  }
  draft.desired = std::move(*desired);
  if (auto typed = check_type(kind, draft.desired); !typed) {
    return change.patch ? tl::unexpected(unfit_patch(typed.error())) : typed;
  }
  if (change.part != Part::kAll) {
    if (auto tidied = tidy(request, kind, draft.desired); !tidied) {
      return change.patch && !kind.custom() ? tl::unexpected(unfit_patch(tidied.error())) : tidied;
    }
  }
  if (auto same_one = check_identity(request, change, draft); !same_one) {
    return same_one;
  }
  draft.names_version = !text_at(draft.desired, {"metadata", "resourceVersion"}).empty() && change.must_have_version;
  if (auto fits = check_versions(kind, draft.current, draft.desired, change.must_have_version && needs_version(kind));
      !fits) {
    return fits;
  }
  carry_metadata(draft.current, draft.desired);
  confine(kind, change.part, request.subresource, draft.current, draft.desired);
  complete(kind, draft.desired);
  if (change.part == Part::kWanted) {
    count_generation(kind, draft.current, draft.desired);
  }
  // What the server adds after this belongs to nobody.
  if (!change.apply && change.part != Part::kAll) {
    keep_account(core, request, &draft.current, draft.desired);
  }
  if (!kind.custom() && request.subresource.empty() && change.part != Part::kAll) {
    prepare_update(kind.group, kind.kind, draft.desired);
  }
  return {};
}

// After all that may still change it.
Outcome<> finish(const Request& request, const Change& change, Draft& draft) {
  const Kind& kind = *request.kind;
  if (change.part != Part::kAll) {
    if (auto sound = check_object(kind, &draft.current, draft.desired, request.subresource); !sound) {
      return sound;
    }
  }
  object_in(draft.desired, "metadata")["resourceVersion"] = text_at(draft.current, {"metadata", "resourceVersion"});
  draft.nothing = same(draft.current, draft.desired);
  return {};
}

std::shared_ptr<Admission> admission_of(const Request& request, Draft& draft) {
  auto admission = std::make_shared<Admission>();
  admission->operation = Operation::kUpdate;
  admission->name = request.name;
  admission->old = &draft.current;
  admission->object = &draft.desired;
  admission->dry_run = request.dry_run();
  return admission;
}

// One try. Nothing where somebody else was faster.
Task<std::optional<Answer>> try_change(Core& core, RequestPtr request, std::shared_ptr<const Change> change) {
  const KindPtr kind = request->kind;
  const Key key{kind->namespaced ? request->ns : "", request->name};
  const Entry* entry = core.store.find(kind->table, key);
  auto stored = entry == nullptr ? std::nullopt : core.read(kind->table, key);
  if (!stored) {
    co_return std::optional<Answer>(refuse(not_found(kind->what(), request->name)));
  }
  const std::uint64_t revision = entry->revision;
  auto current = co_await convert(core, kind, std::move(*stored));
  if (!current) {
    co_return std::optional<Answer>(refuse(current.error()));
  }
  Draft draft;
  draft.current = std::move(*current);
  if (const auto prepared = prepare(core, *request, *change, draft); !prepared) {
    co_return std::optional<Answer>(refuse(prepared.error()));
  }
  const bool asks = concerns_webhooks(core, *request, Operation::kUpdate);
  const auto admission = admission_of(*request, draft);
  if (asks) {
    const auto mutated = co_await admit_mutating(core, request, admission);
    if (!mutated) {
      co_return std::optional<Answer>(refuse(mutated.error()));
    }
    complete(*kind, draft.desired);
  }
  if (const auto finished = finish(*request, *change, draft); !finished) {
    co_return std::optional<Answer>(refuse(finished.error()));
  }
  if (const auto may_give = check_gift(core, *request, &draft.current, draft.desired); !may_give) {
    co_return std::optional<Answer>(refuse(may_give.error()));
  }
  if (asks) {
    const auto validated = co_await admit_validating(core, request, admission);
    if (!validated) {
      co_return std::optional<Answer>(refuse(validated.error()));
    }
  }
  if (draft.nothing) {
    const Entry* now = core.store.find(kind->table, key);
    if (now != nullptr && now->revision == revision) {
      co_return std::optional<Answer>(change->answer ? change->answer(draft.current)
                                                     : written_answer(core, *request, 200, *now));
    }
  }
  Written written;
  written.request = request;
  written.object = std::move(draft.desired);
  written.expected = revision;
  const Object kept = change->answer ? written.object : Object();
  auto answer = co_await store_changed(core, std::move(written));
  if (!answer && draft.names_version) {
    co_return std::optional<Answer>(refuse(modified(kind->what(), request->name)));
  }
  if (answer && answer->ok() && change->answer) {
    co_return std::optional<Answer>(change->answer(kept));
  }
  co_return answer;
}

Part part_of(const Request& request) {
  return request.subresource == "status" ? Part::kStatus : Part::kWanted;
}

}  // namespace

Task<Answer> change_object(Core& core, RequestPtr request, std::shared_ptr<const Change> change) {
  for (int i = 0; i < kTries; ++i) {
    auto answer = co_await try_change(core, request, change);
    if (answer) {
      co_return std::move(*answer);
    }
  }
  co_return refuse(modified(request->what(), request->name));
}

Task<Answer> update_object(Core& core, RequestPtr request) {
  if (const auto sound = check_options(*request); !sound) {
    co_return refuse(sound.error());
  }
  auto object = decode_object(*request, *request->kind);
  if (!object) {
    co_return refuse(object.error());
  }
  const std::string_view name = text_at(*object, {"metadata", "name"});
  if (!name.empty() && name != request->name) {
    co_return refuse(bad_request(fmt::format("the object is called {}, and the path says {}", name, request->name)));
  }
  const std::string_view ns = text_at(*object, {"metadata", "namespace"});
  if (request->kind->namespaced && !ns.empty() && ns != request->ns) {
    co_return refuse(bad_request("the object and the path name different namespaces"));
  }
  auto change = std::make_shared<Change>();
  auto wanted = std::make_shared<const Object>(std::move(*object));
  change->transform = [wanted](const Object*) -> Outcome<Object> { return *wanted; };
  change->part = part_of(*request);
  change->must_have_version = true;
  Answer answer = co_await change_object(core, request, change);
  co_return answer;
}

}  // namespace gantree::apiserver
