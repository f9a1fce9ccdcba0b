#include "apiserver/core.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "apiserver/allowed.h"
#include "apiserver/handlers.h"
#include "apiserver/person.h"
#include "apiserver/protobuf.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

// Headers have their limits: clients give up on answers with too many or too long ones.
void add_warnings(const std::vector<std::string>& warnings, Answer& answer) {
  static constexpr std::size_t kLongest = 256;
  static constexpr std::size_t kMost = 4096;
  std::size_t written = 0;
  for (const std::string& warning : warnings) {
    std::string quoted;
    append_json_text(quoted, std::string_view(warning).substr(0, kLongest));
    written += quoted.size();
    if (written > kMost) {
      return;
    }
    answer.headers.emplace_back("Warning", "299 - " + quoted);
  }
}

// The done callback travels with the answer, so that both are there when the batch is committed.
Task<Answer> answer_call(Core& core, Call call) {
  if (const auto taken = take_on(core, call); !taken) {
    co_return refuse(taken.error());
  }
  if (call.content_type.starts_with(kProtobufType) && !call.body.empty()) {
    const auto object = read_protobuf(call.body, *core.schemas);
    if (!object) {
      co_return refuse(bad_request(object.error().message));
    }
    call.body = to_json(*object);
    call.content_type = "application/json";
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
  add_warnings(shared->warnings, answer);
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
      rights(*this) {}

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
  const std::uint64_t revision = store.next_revision();
  object_in(object, "metadata")["resourceVersion"] = std::to_string(revision);
  const Value value = in_usual_order(std::move(object));
  const Key key{std::string(text_at(value, {"metadata", "namespace"})),
                std::string(text_at(value, {"metadata", "name"}))};
  const Entry* old = store.find(kind.table, key);
  const auto before = old == nullptr ? nullptr : old->facts;
  Entry entry{std::make_shared<const std::string>(to_json(value)), revision,
              facts_of(kind.table, value, store.table(kind.table).selectable)};
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
  rights.changed(table);
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
