#include "apiserver/writing.h"

#include <optional>

#include "apiserver/apply.h"
#include "apiserver/convert.h"
#include "apiserver/intake.h"
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

void keep_account(const Core& core, const Request& request, Object* old, Object& object) {
  const Kind& kind = *request.kind;
  if (kind.schema == nullptr) {
    return;
  }
  FieldManager manager;
  manager.name = manager_of(request);
  manager.api_version = kind.api_version();
  manager.subresource = request.subresource;
  manager.status_apart = kind.has("status");
  manager.built_in = !kind.custom();
  manager.time = core.now();
  Lent changed(object);
  std::optional<Lent> before;
  if (old != nullptr) {
    before.emplace(*old);
  }
  track_update(*kind.schema, before ? &**before : nullptr, *changed, manager);
}

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
  if (request.dry_run()) {
    co_return rehearsed_answer(201, std::move(given));
  }
  const Entry entry = core.put(*stored, std::move(written.object));
  co_return written_answer(core, request, 201, entry);
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
  }
  const Request& request = *written.request;
  const Key key{kind->namespaced ? request.ns : "", request.name};
  const Entry* entry = core.store.find(kind->table, key);
  if (entry == nullptr || entry->revision != written.expected) {
    co_return std::optional<Answer>();
  }
  if (request.dry_run()) {
    co_return std::optional<Answer>(rehearsed_answer(200, std::move(given)));
  }
  const Entry now = may_go(kind->table, written.object) ? core.remove(*stored, std::move(written.object))
                                                        : core.put(*stored, std::move(written.object));
  co_return std::optional<Answer>(written_answer(core, request, 200, now));
}

}  // namespace gantree::apiserver
