// delete and deletecollection.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/admission.h"
#include "apiserver/handlers.h"
#include "apiserver/intake.h"
#include "apiserver/selection.h"
#include "apiserver/writing.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kDefaultGrace = 30;
// The end that is named may be later than that, the date that is shown is not.
constexpr std::int64_t kLongestGrace = std::int64_t{100} * 366 * 24 * 3600;

Outcome<> check_preconditions(const Kind& kind, const DeleteOptions& options, const Object& object) {
  const std::string_view name = text_at(object, {"metadata", "name"});
  const std::string_view uid = text_at(object, {"metadata", "uid"});
  const std::string_view version = text_at(object, {"metadata", "resourceVersion"});
  const GroupResource what{kind.group, kind.kind};
  if (!options.uid.empty() && options.uid != uid) {
    return tl::unexpected(conflict(
        what, name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", options.uid, uid)));
  }
  if (!options.version.empty() && options.version != version) {
    return tl::unexpected(conflict(what, name,
                                   fmt::format("Precondition failed: ResourceVersion in precondition: {}, "
                                               "ResourceVersion in object meta: {}",
                                               options.version, version)));
  }
  return {};
}

// How long a pod has to end; 0 where nobody would end it.
std::int64_t grace_of(const Object& pod, const DeleteOptions& options) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  if (text_at(pod, {"spec", "nodeName"}).empty() || phase == "Succeeded" || phase == "Failed") {
    return 0;
  }
  const Value* own = find(pod, {"spec", "terminationGracePeriodSeconds"});
  const std::int64_t usual = own != nullptr && own->is_int64() ? own->get_int64() : kDefaultGrace;
  // Below 0 stands for the shortest that is not none.
  const std::int64_t wanted = options.grace.value_or(usual);
  return wanted < 0 ? 1 : wanted;
}

void set_finalizers(const Kind& kind, const DeleteOptions& options, Object& object) {
  const std::string policy = !options.policy.empty() ? options.policy : kind.orphans_by_default ? "Orphan" : "";
  if (policy == "Orphan") {
    remove_finalizer(object, "foregroundDeletion");
    add_finalizer(object, "orphan");
  } else if (policy == "Foreground") {
    remove_finalizer(object, "orphan");
    add_finalizer(object, "foregroundDeletion");
  } else if (policy == "Background") {
    remove_finalizer(object, "orphan");
    remove_finalizer(object, "foregroundDeletion");
  }
}

// Marks it as being deleted; a later mark may only bring the end nearer.
void mark(const Core& core, const Kind& kind, std::int64_t grace, Object& object) {
  Object& metadata = object_in(object, "metadata");
  const Value* before = find(metadata, {"deletionGracePeriodSeconds"});
  if (is_deleting(object) &&
      (kind.table == "namespaces" || (before != nullptr && before->is_int64() && before->get_int64() <= grace))) {
    return;
  }
  if (const Value* generation = find(metadata, {"generation"});
      generation != nullptr && generation->is_int64() && !is_deleting(object)) {
    metadata["generation"] = generation->get_int64() + 1;
  }
  metadata["deletionTimestamp"] = rfc3339(std::chrono::time_point_cast<std::chrono::milliseconds>(
      core.time() + std::chrono::seconds(std::min(grace, kLongestGrace))));
  if (kind.table == "namespaces") {
    object_in(object, "status")["phase"] = "Terminating";
  } else {
    metadata["deletionGracePeriodSeconds"] = grace;
  }
}

// What stays of the object; it may go where may_go() says so.
void prepare_deletion(const Core& core, const Kind& kind, const DeleteOptions& options, Object& object) {
  set_finalizers(kind, options, object);
  mark(core, kind, kind.table == "pods" ? grace_of(object, options) : 0, object);
}

// Who deletes a pod that is gone must not be told that it still ends.
Object last_state(const Object& before, Object after, const Kind& kind) {
  return kind.table == "pods" ? std::move(after) : before;
}

Answer gone_answer(const Core& core, const Request& request, const Entry& entry, const Object& object) {
  if (request.kind->returns_deleted) {
    return written_answer(core, request, 200, entry);
  }
  return json_answer(200, success(request.what(), request.name, text_at(object, {"metadata", "uid"})));
}

}  // namespace

Outcome<DeleteOptions> read_delete_options(const Request& request) {
  DeleteOptions options;
  options.grace = request.query.number("gracePeriodSeconds");
  options.policy = request.query.get("propagationPolicy");
  options.dry_run = request.dry_run();
  if (request.call.body.empty()) {
    return options;
  }
  const auto body = parse_json(request.call.body);
  if (!body || !body->is_object()) {
    return tl::unexpected(bad_request("the body of a deletion must be DeleteOptions"));
  }
  if (const Value* grace = find(*body, {"gracePeriodSeconds"}); grace != nullptr && grace->is_int64()) {
    options.grace = grace->get_int64();
  }
  if (const std::string_view policy = text_at(*body, {"propagationPolicy"}); !policy.empty()) {
    options.policy = policy;
  }
  if (const std::string_view kind = text_at(*body, {"kind"}); !kind.empty() && kind != "DeleteOptions") {
    return tl::unexpected(bad_request(fmt::format("the body of a deletion must be DeleteOptions, and is a {}", kind)));
  }
  if (const Value* orphan = find(*body, {"orphanDependents"}); orphan != nullptr && orphan->is_bool()) {
    if (!options.policy.empty()) {
      const FieldErrors errors{invalid_value("propagationPolicy", Value(options.policy),
                                             "orphanDependents says it already, and only one of them may")};
      return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "DeleteOptions", "", errors)});
    }
    options.policy = orphan->get_bool() ? "Orphan" : "Background";
  }
  options.uid = text_at(*body, {"preconditions", "uid"});
  options.version = text_at(*body, {"preconditions", "resourceVersion"});
  const Array* dry = array_at(*body, {"dryRun"});
  options.dry_run = options.dry_run || (dry != nullptr && !dry->empty());
  if (!options.policy.empty() && options.policy != "Orphan" && options.policy != "Foreground" &&
      options.policy != "Background") {
    const FieldErrors errors{
        not_supported("propagationPolicy", Value(options.policy), {"Background", "Foreground", "Orphan"})};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", "DeleteOptions", "", errors)});
  }
  return options;
}

Task<Answer> delete_object(Core& core, RequestPtr request) {
  auto options = read_delete_options(*request);
  if (!options) {
    co_return refuse(options.error());
  }
  Answer answer = co_await delete_with(core, request, std::move(*options));
  co_return answer;
}

Task<Answer> delete_with(Core& core, RequestPtr request, DeleteOptions options) {
  const KindPtr kind = request->kind;
  const KindPtr stored = core.registry.stored_kind(kind->table);
  const Key key{kind->namespaced ? request->ns : "", request->name};
  auto object = core.read(kind->table, key);
  if (!object || stored == nullptr) {
    co_return refuse(not_found(kind->what(), request->name));
  }
  if (const auto fits = check_preconditions(*kind, options, *object); !fits) {
    co_return refuse(fits.error());
  }
  const bool reserved = kind->table == "namespaces" && (request->name == "default" || request->name == "kube-system" ||
                                                        request->name == "kube-public");
  if (reserved) {
    co_return refuse(forbidden_request(kind->what(), request->name, "this namespace may not be deleted"));
  }
  if (concerns_webhooks(core, *request, Operation::kDelete)) {
    auto admission = std::make_shared<Admission>();
    admission->operation = Operation::kDelete;
    admission->name = request->name;
    const Object shown = *object;
    admission->old = &shown;
    admission->dry_run = options.dry_run;
    const auto mutated = co_await admit_mutating(core, request, admission);
    if (!mutated) {
      co_return refuse(mutated.error());
    }
    const auto validated = co_await admit_validating(core, request, admission);
    if (!validated) {
      co_return refuse(validated.error());
    }
    object = core.read(kind->table, key);
    if (!object) {
      co_return refuse(not_found(kind->what(), request->name));
    }
    if (const auto fits = check_preconditions(*kind, options, *object); !fits) {
      co_return refuse(fits.error());
    }
  }
  Object next = *object;
  prepare_deletion(core, *kind, options, next);
  const bool goes = may_go(kind->table, next);
  const Entry before = *core.store.find(kind->table, key);
  if (options.dry_run) {
    co_return gone_answer(core, *request, before, *object);
  }
  if (goes) {
    const Entry last = core.remove(*stored, last_state(*object, std::move(next), *kind));
    co_return gone_answer(core, *request, last, *object);
  }
  if (same(*object, next)) {
    co_return written_answer(core, *request, 200, before);
  }
  const Entry now = core.put(*stored, std::move(next));
  co_return written_answer(core, *request, 200, now);
}

Task<Answer> delete_collection(Core& core, RequestPtr request) {
  auto options = read_delete_options(*request);
  auto selection = read_selection(*request);
  if (!options || !selection) {
    co_return refuse(!options ? options.error() : selection.error());
  }
  std::vector<Key> keys;
  if (const Table* table = core.store.find_table(request->kind->table)) {
    for (const auto& [key, entry] : table->entries) {
      if (selection->matches(key, *entry.facts)) {
        keys.push_back(key);
      }
    }
  }
  auto listed = std::make_shared<Request>(*request);
  Answer answer = co_await list_objects(core, listed);
  for (const Key& key : keys) {
    auto one = std::make_shared<Request>(*request);
    one->ns = key.ns;
    one->name = key.name;
    const Answer deleted = co_await delete_with(core, one, *options);
    if (!deleted.ok() && deleted.status != 404) {
      co_return deleted;
    }
  }
  co_return answer;
}

}  // namespace gantree::apiserver
