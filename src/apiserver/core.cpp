#include "apiserver/core.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <utility>

#include "apiserver/allowed.h"
#include "apiserver/handlers.h"
#include "apiserver/person.h"
#include "apiserver/protobuf.h"
#include "apiserver/token_check.h"
#include "apiserver/warnings.h"
#include "apiserver/yaml.h"
#include "base/check.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kJson = "application/json";

// Whether what is accepted first, of what there is, is YAML.
bool wants_yaml(const Call& call) {
  if (!call.path.starts_with("/api") || call.accept.find("yaml") == std::string::npos) {
    return false;
  }
  for (const MediaType& type : media_types(call.accept)) {
    if (type.type == kYaml || type.type == kJson || type.type == "*/*" || type.type == "application/*") {
      return type.type == kYaml;
    }
  }
  return false;
}

void put_in_yaml(Answer& answer) {
  if (answer.streaming || !answer.content_type.starts_with(kJson)) {
    return;
  }
  const auto body = parse_json(answer.text());
  GANTREE_CHECK(body);  // made by this server
  answer.body = {std::make_shared<const std::string>(to_yaml(*body))};
  answer.content_type.replace(0, kJson.size(), kYaml);
}

// Whatever form the body has, it is JSON from here on. Patches have types of their own.
Outcome<> take_in(Call& call) {
  if (call.body.empty()) {
    return {};
  }
  const auto types = media_types(call.content_type);
  Result<Value> object = Value();
  if (call.content_type.starts_with(kProtobufType)) {
    object = read_protobuf(call.body);
  } else if (call.method != "PATCH" && !types.empty() && types.front().type == kYaml) {
    object = read_yaml_or_json(call.body);
  } else {
    return {};
  }
  if (!object) {
    return tl::unexpected(bad_request(object.error().message));
  }
  call.body = to_json(*object);
  call.content_type = kJson;
  return {};
}

Task<Answer> answer_in_json(Core& core, Call call) {
  if (const auto known = check_token(core, call); !known) {
    co_return refuse(known.error());
  }
  if (const auto taken = take_on(core, call); !taken) {
    co_return refuse(taken.error());
  }
  if (const auto taken = take_in(call); !taken) {
    co_return refuse(taken.error());
  }
  auto request = read_request(core.registry, std::move(call));
  if (!request) {
    co_return refuse(request.error());
  }
  if (const auto allowed = check_allowed(core, request->call, deed_of(*request)); !allowed) {
    co_return refuse(allowed.error());
  }
  auto shared = std::make_shared<Request>(std::move(*request));
  Answer answer = co_await handle(core, shared);
  core.requests.count(*shared, answer.status);
  add_warnings(shared->warnings, answer.headers);
  co_return answer;
}

// The done callback travels with the answer, so that both are there when the batch is committed.
Task<Answer> answer_call(Core& core, Call call) {
  const bool yaml = wants_yaml(call);
  Answer answer = co_await answer_in_json(core, std::move(call));
  if (yaml) {
    put_in_yaml(answer);
  }
  co_return answer;
}

}  // namespace

Core::Core(ApiOptions options_given, std::unique_ptr<BuiltinSchemas> schemas_given,
           std::function<void(Step)> post_given, std::function<void(std::chrono::milliseconds, Step)> after_given)
    : options(std::move(options_given)),
      schemas(std::move(schemas_given)),
      post(std::move(post_given)),
      after(std::move(after_given)),
      registry(*schemas),
      watches(*this),
      removals(*this),
      definitions(*this),
      garbage(*this),
      namespaces(*this),
      event_lives(*this),
      webhooks(*this),
      policies(*this),
      rights(*this),
      roles(*this),
      quotas(*this) {}

void Core::serve(Call call, Api::Done done) {
  begin(answer_call(*this, std::move(call)), std::move(done));
}

void Core::run(Task<Answer> task) {
  begin(std::move(task), [](const Answer&) {});
}

void Core::begin(Task<Answer> task, Api::Done done) {
  // It may begin others.
  running_.push_back({std::move(task), std::move(done)});
  const auto begun = std::prev(running_.end());
  begun->task->start();
  if (begun->task->done()) {
    finished_.push_back({std::move(begun->done), begun->task->take()});
    running_.erase(begun);
  }
}

void Core::ask(Call call, Api::Done done) {
  soon([this, call = std::move(call), done = std::move(done)]() mutable { serve(std::move(call), std::move(done)); });
}

// Requests that had to wait end while something else is being done.
void Core::sweep() {
  for (auto it = running_.begin(); it != running_.end();) {
    if (it->task->done()) {
      finished_.push_back({std::move(it->done), it->task->take()});
      it = running_.erase(it);
    } else {
      ++it;
    }
  }
}

std::vector<Core::Finished> Core::take_answers() {
  sweep();
  return std::exchange(finished_, {});
}

std::chrono::system_clock::time_point Core::time() const {
  return options.clock ? options.clock() : std::chrono::system_clock::now();
}

std::string Core::now() const {
  return rfc3339(std::chrono::time_point_cast<std::chrono::milliseconds>(time()));
}

void Core::tick() {
  event_lives.sweep();
  const auto now = std::chrono::steady_clock::now();
  snapshots.clear(now);
  webhooks.drop_idle(now);
}

void Core::trouble(const std::string& what) const {
  if (options.trouble) {
    options.trouble(what);
  }
}

Entry Core::put(const Kind& kind, Object object) {
  auto written = put_up_to(kind, std::move(object), std::numeric_limits<std::size_t>::max());
  GANTREE_CHECK(written);  // nothing is larger
  return std::move(*written);
}

Outcome<Entry> Core::put_written(const Kind& kind, Object object) {
  return put_up_to(kind, std::move(object), kMostStored);
}

Outcome<Entry> Core::put_up_to(const Kind& kind, Object object, std::size_t most) {
  const std::uint64_t revision = store.revision() + 1;
  object_in(object, "metadata")["resourceVersion"] = std::to_string(revision);
  const Value value = in_usual_order(std::move(object));
  auto bytes = std::make_shared<const std::string>(to_json(value));
  if (bytes->size() > most) {
    return tl::unexpected(too_large());
  }
  GANTREE_CHECK(store.next_revision() == revision);
  const Key key{std::string(text_at(value, {"metadata", "namespace"})),
                std::string(text_at(value, {"metadata", "name"}))};
  const Entry* old = store.find(kind.table, key);
  const auto before = old == nullptr ? nullptr : old->facts;
  Entry entry{std::move(bytes), revision, facts_of(kind.table, value, store.table(kind.table).selectable)};
  store.put(kind.table, key, entry);
  if (kind.table == "events") {
    event_lives.written(key, revision);
  }
  changed(kind.table, key, before.get(), entry.facts.get());
  return entry;
}

Entry Core::remove(const Kind& kind, Object last) {
  const std::uint64_t revision = store.next_revision();
  object_in(last, "metadata")["resourceVersion"] = std::to_string(revision);
  const Value value = in_usual_order(std::move(last));
  const Key key{std::string(text_at(value, {"metadata", "namespace"})),
                std::string(text_at(value, {"metadata", "name"}))};
  Entry entry{std::make_shared<const std::string>(to_json(value)), revision,
              facts_of(kind.table, value, store.table(kind.table).selectable)};
  store.remove(kind.table, key, entry);
  changed(kind.table, key, entry.facts.get(), nullptr);
  return entry;
}

std::optional<Object> Core::read(std::string_view table, const Key& key) const {
  const Entry* entry = store.find(table, key);
  if (entry == nullptr) {
    return std::nullopt;
  }
  auto value = parse_json(*entry->bytes);
  return value && value->is_object() ? std::optional(std::move(value->get_object())) : std::nullopt;
}

bool Core::edit(std::string_view table, const Key& key, const std::function<bool(Object&)>& edit) {
  const KindPtr kind = registry.stored_kind(table);
  auto object = read(table, key);
  if (kind == nullptr || !object || !edit(*object)) {
    return false;
  }
  if (may_go(table, *object)) {
    remove(*kind, std::move(*object));
  } else {
    put(*kind, std::move(*object));
  }
  return true;
}

void Core::changed(std::string_view table, const Key& key, const Facts* before, const Facts* now) {
  if (now == nullptr) {
    removals.gone(table, key);
  }
  garbage.changed(table, key, before, now);
  namespaces.changed(table, key, now);
  definitions.changed(table, key, now != nullptr);
  webhooks.changed(table);
  policies.changed(table);
  rights.changed(table, key.ns);
  roles.changed(table);
  quotas.changed(table, key);
}

bool may_go(std::string_view table, const Object& object) {
  if (!is_deleting(object) || has_finalizers(object)) {
    return false;
  }
  if (table == "namespaces") {
    const Array* finalizers = array_at(object, {"spec", "finalizers"});
    return finalizers == nullptr || finalizers->empty();
  }
  const Value* grace = find(object, {"metadata", "deletionGracePeriodSeconds"});
  return grace == nullptr || !grace->is_int64() || grace->get_int64() == 0;
}

}  // namespace gantree::apiserver
