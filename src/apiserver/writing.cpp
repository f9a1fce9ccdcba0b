#include "apiserver/writing.h"

#include <optional>

#include "apiserver/convert.h"
#include "apiserver/intake.h"
#include "apiserver/scale.h"
#include "apiserver/schema.h"
#include "apiserver/selection.h"

namespace gantree::apiserver {

Answer written_answer(const Core& core, const Request& request, int status, const Entry& entry) {
  auto form = read_form(request);
  if (!form) {
    return bytes_answer(status, entry.bytes);
  }
  Answer answer = bytes_answer(status, present(core, *form, entry));
  answer.content_type = form->content_type();
  return answer;
}

namespace {

// In the version of the request, for a dry run that leaves no entry.
Answer rehearsed_answer(int status, Object object) {
  return json_answer(status, in_usual_order(std::move(object)));
}

}  // namespace

FieldManager field_manager(const Core& core, const Request& request) {
  FieldManager manager;
  manager.name = manager_of(request);
  manager.api_version = request.kind->api_version();
  manager.subresource = request.subresource;
  manager.status_apart = request.kind->has("status");
  manager.built_in = !request.kind->custom();
  // What is written through a scale changes hands without a time.
  manager.time = request.subresource == "scale" ? "" : core.now();
  return manager;
}

namespace {

bool is_scaled_to_nothing(const Kind& kind, const Object& object) {
  const Value* replicas = kind.scale ? value_at_path(object, kind.scale->spec_replicas) : nullptr;
  return replicas != nullptr && replicas->is_int64() && replicas->get_int64() == 0;
}

// A Scale of nothing does not say its replicas, and so nobody owns them then.
void disown(const FieldManager& scaler, Object& object) {
  Value* owners = find(object, {"metadata", "managedFields"});
  if (owners == nullptr || !owners->is_array()) {
    return;
  }
  Array kept;
  for (const Value& owner : owners->get_array()) {
    const bool own = text_at(owner, {"manager"}) == scaler.name && text_at(owner, {"subresource"}) == "scale" &&
                     text_at(owner, {"operation"}) == "Update";
    if (!own) {
      kept.push_back(owner);
    }
  }
  *owners = std::move(kept);
}

}  // namespace

void keep_account(const Core& core, const Request& request, Object* old, Object& object) {
  const Kind& kind = *request.kind;
  if (kind.schema == nullptr) {
    return;
  }
  const FieldManager manager = field_manager(core, request);
  Lent changed(object);
  std::optional<Lent> before;
  if (old != nullptr) {
    before.emplace(*old);
  }
  track_update(*kind.schema, before ? &**before : nullptr, *changed, manager);
  if (request.subresource == "scale" && is_scaled_to_nothing(kind, (*changed).get_object())) {
    disown(manager, (*changed).get_object());
  }
}

namespace {

// What is written by one version is stored as the schema of the stored one has it.
void fit(const Kind& stored, Object& object) {
  if (stored.custom() && stored.schema != nullptr) {
    Lent value(object);
    (void)prune(*stored.schema, *value);
    set_defaults(*stored.schema, *value);
  }
}

}  // namespace

Task<Answer> store_new(Core& core, Written written) {
  const KindPtr kind = written.request->kind;
  const KindPtr stored = core.registry.stored_kind(kind->table);
  if (stored == nullptr) {
    co_return refuse(no_such_path());
  }
  Object given = written.request->dry_run() ? written.object : Object();
  if (stored->version != kind->version || stored->group != kind->group) {
    auto converted = co_await convert(core, stored, std::move(written.object));
    if (!converted) {
      co_return refuse(converted.error());
    }
    written.object = std::move(*converted);
    fit(*stored, written.object);
  }
  // Others may have been at work while somebody was asked.
  const Request& request = *written.request;
  const std::string name(text_at(written.object, {"metadata", "name"}));
  if (kind->namespaced) {
    if (const auto there = core.namespaces.check_creation(*kind, request.ns, name); !there) {
      co_return refuse(there.error());
    }
  }
  const Key key{kind->namespaced ? request.ns : "", name};
  if (core.store.find(kind->table, key) != nullptr) {
    co_return refuse(already_exists(kind->what(), name));
  }
  if (const auto within = core.quotas.check(*stored, key, written.object); !within) {
    co_return refuse(within.error());
  }
  if (request.dry_run()) {
    co_return rehearsed_answer(201, std::move(given));
  }
  const auto entry = core.put_written(*stored, std::move(written.object));
  co_return entry ? written_answer(core, request, 201, *entry) : refuse(entry.error());
}

Task<std::optional<Answer>> store_changed(Core& core, Written written) {
  const KindPtr kind = written.request->kind;
  const KindPtr stored = core.registry.stored_kind(kind->table);
  if (stored == nullptr) {
    co_return std::optional<Answer>(refuse(no_such_path()));
  }
  Object given = written.request->dry_run() ? written.object : Object();
  if (stored->version != kind->version || stored->group != kind->group) {
    auto converted = co_await convert(core, stored, std::move(written.object));
    if (!converted) {
      co_return std::optional<Answer>(refuse(converted.error()));
    }
    written.object = std::move(*converted);
    fit(*stored, written.object);
  }
  const Request& request = *written.request;
  const Key key{kind->namespaced ? request.ns : "", request.name};
  const Entry* entry = core.store.find(kind->table, key);
  if (entry == nullptr || entry->revision != written.expected) {
    co_return std::optional<Answer>();
  }
  // Others that change something of a pod take nothing more of a quota.
  const bool takes_more = kind->table != "pods" ? request.subresource.empty() : request.subresource == "resize";
  if (const auto within = takes_more ? core.quotas.check(*stored, key, written.object) : Outcome<>(); !within) {
    co_return std::optional<Answer>(refuse(within.error()));
  }
  if (request.dry_run()) {
    co_return std::optional<Answer>(rehearsed_answer(200, std::move(given)));
  }
  const auto now = may_go(kind->table, written.object) ? Outcome<Entry>(core.remove(*stored, std::move(written.object)))
                                                       : core.put_written(*stored, std::move(written.object));
  co_return std::optional<Answer>(now ? written_answer(core, request, 200, *now) : refuse(now.error()));
}

}  // namespace gantree::apiserver
