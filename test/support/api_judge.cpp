#include "support/api_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "apiserver/json.h"
#include "base/check.h"
#include "base/whole_number.h"

namespace gantree::test {

namespace {

using namespace apiserver;  // NOLINT: what is judged

// Of a watch that somebody asked for by a request: events are whole, and in order.
class CheckingSink final : public WatchSink {
 public:
  bool events(std::span<const WatchEvent> events, bool initial) override {
    for (const WatchEvent& event : events) {
      GANTREE_CHECK(parse_json(*event.object).has_value());
      GANTREE_CHECK(initial || event.type == WatchEvent::Type::kError || event.revision >= last_);
      last_ = std::max(last_, event.revision);
    }
    return true;
  }
  void ended() override {}

 private:
  std::uint64_t last_ = 0;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// By a plain word anywhere, also where the JSON writes its letters as escapes.
bool may_call_out(const ApiRequest& request) {
  const auto body = parse_json(request.body);
  const std::string text = lower(request.path + request.body + (body ? to_json(*body) : std::string()));
  return text.find("webhook") != std::string::npos || text.find("clientconfig") != std::string::npos ||
         (!body && text.find("\\u") != std::string::npos) || (!body && text.find("\\x") != std::string::npos) ||
         text.find("%77") != std::string::npos;
}

std::string key_of(const Value& object) {
  return fmt::format("{}/{}", text_at(object, {"metadata", "namespace"}), text_at(object, {"metadata", "name"}));
}

void set_type(char letter, ApiRequest& request) {
  switch (letter) {
    case 'p':
      request.content_type = "application/json-patch+json";
      break;
    case 'm':
      request.content_type = "application/merge-patch+json";
      break;
    case 's':
      request.content_type = "application/strategic-merge-patch+json";
      break;
    case 'a':
      request.content_type = "application/apply-patch+yaml";
      break;
    case 'b':
      request.content_type = "application/vnd.kubernetes.protobuf";
      break;
    case 'T':
      request.accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
      break;
    case 'M':
      request.accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
      break;
    default:
      break;
  }
}

Call call_for(const ApiRequest& request, std::shared_ptr<WatchSink> sink) {
  Call call;
  call.method = request.method;
  call.path = request.path;
  call.query = request.query;
  call.content_type = request.content_type;
  call.accept = request.accept;
  call.body = request.body;
  call.as = request.as;
  call.agent = "judge";
  call.sink = std::move(sink);
  return call;
}

std::string judge(const ApiRequest& request, const Answer& answer) {
  const std::string text = answer.text();
  const auto wrong = [&](std::string_view what) {
    return fmt::format("{}: {}: {} {}", describe(request), what, answer.status, text.substr(0, 2000));
  };
  // Kubernetes says of a version of the future that it has not come in time.
  const bool of_the_future = answer.status == 504 && text.find("ResourceVersionTooLarge") != std::string::npos;
  // And of what is applied with values of the wrong type that it could not go on, where it is the caller's fault.
  const bool misfit = answer.status == 500 && text.find("does not fit the schema") != std::string::npos;
  if (!answer.ok() && !of_the_future && !misfit && (answer.status < 400 || answer.status >= 500)) {
    return wrong("the answer is neither a yes nor a no of the caller's making");
  }
  // Of a path that is no resource's Kubernetes says so in plain text.
  const bool no_resource = answer.status == 404 && answer.content_type.starts_with("text/plain");
  if (answer.streaming || no_resource || (answer.ok() && !answer.content_type.starts_with("application/json"))) {
    return {};
  }
  const auto body = parse_json(text);
  if (!body || !body->is_object()) {
    return wrong("the answer is no JSON object");
  }
  if (answer.ok()) {
    return {};
  }
  const Value* code = find(*body, {"code"});
  const bool sound = text_at(*body, {"kind"}) == "Status" && text_at(*body, {"status"}) == "Failure" &&
                     !text_at(*body, {"message"}).empty() && code != nullptr && code->is_int64() &&
                     code->get_int64() == answer.status;
  return sound ? std::string() : wrong("the refusal is no Status");
}

}  // namespace

std::string describe(const ApiRequest& request) {
  return fmt::format("{} {}?{} ({}, accepts {}{})\n{}\n", request.method, request.path, request.query,
                     request.content_type, request.accept, request.as == nullptr ? "" : ", as " + request.as->user,
                     request.body);
}

std::vector<ApiRequest> read_requests(std::string_view text) {
  static constexpr std::size_t kMost = 50;
  std::vector<ApiRequest> requests;
  while (!text.empty() && requests.size() < kMost) {
    const std::size_t end = text.find("\n\n");
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
    const std::string_view line = part.substr(0, part.find('\n'));
    const std::size_t first = line.find(' ');
    if (first == std::string_view::npos || first + 2 >= line.size()) {
      continue;
    }
    ApiRequest request;
    request.method = line.substr(0, first);
    set_type(line[first + 1], request);
    const std::string_view target = line.substr(std::min(first + 3, line.size()));
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    request.body = part.substr(std::min(line.size() + 1, part.size()));
    requests.push_back(std::move(request));
  }
  return requests;
}

ApiJudge::ApiJudge(const std::vector<std::string>& collections, const std::string& file) {
  ApiOptions options;
  options.file = file;
  auto started = Api::start(std::move(options));
  GANTREE_CHECK(started.has_value());
  api_ = std::move(*started);
  for (const std::string& path : collections) {
    Followed followed;
    followed.path = path;
    WatchHandlers handlers;
    handlers.event = [log = followed.log](const WatchEvent& event) {
      const auto object = parse_json(*event.object);
      GANTREE_CHECK(object.has_value());
      const std::lock_guard lock(log->mutex);
      log->changes.push_back(
          {event.revision, key_of(*object), event.type == WatchEvent::Type::kDeleted ? nullptr : event.object});
    };
    (void)api_->watch(path, "", std::move(handlers));
    followed_.push_back(std::move(followed));
  }
}

ApiJudge::~ApiJudge() = default;

std::vector<Answer> ApiJudge::call_all(const std::vector<ApiRequest>& requests) {
  std::vector<std::shared_ptr<CheckingSink>> sinks;
  std::vector<std::future<Answer>> coming;
  for (const ApiRequest& request : requests) {
    sinks.push_back(std::make_shared<CheckingSink>());
    auto promise = std::make_shared<std::promise<Answer>>();
    coming.push_back(promise->get_future());
    api_->call(call_for(request, sinks.back()), [promise](Answer given) { promise->set_value(std::move(given)); });
  }
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers.push_back(coming[i].get());
    if (answers.back().streaming) {
      api_->forget(sinks[i]);
    }
  }
  return answers;
}

Answer ApiJudge::call(const ApiRequest& request) {
  return std::move(call_all({request}).front());
}

std::string ApiJudge::send(const ApiRequest& request, Answer* answer) {
  if (may_call_out(request)) {
    ++passed_over_;
    return {};
  }
  Answer given = call(request);
  std::string trouble = judge(request, given);
  if (answer != nullptr) {
    *answer = std::move(given);
  }
  return trouble;
}

std::string ApiJudge::send_all(const std::vector<ApiRequest>& requests) {
  std::vector<ApiRequest> sent;
  std::copy_if(requests.begin(), requests.end(), std::back_inserter(sent),
               [](const ApiRequest& request) { return !may_call_out(request); });
  passed_over_ += requests.size() - sent.size();
  const std::vector<Answer> answers = call_all(sent);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (std::string trouble = judge(sent[i], answers[i]); !trouble.empty()) {
      return trouble;
    }
  }
  return {};
}

std::string ApiJudge::compare_one(Followed& followed, const Answer& list) {
  const auto body = parse_json(list.text());
  const Array* items = body ? array_at(*body, {"items"}) : nullptr;
  if (items == nullptr) {
    return list.status == 404 ? std::string() : fmt::format("{} cannot be listed: {}", followed.path, list.text());
  }
  const auto at = whole_number<std::uint64_t>(text_at(*body, {"metadata", "resourceVersion"}));
  std::uint64_t last = 0;
  const std::lock_guard lock(followed.log->mutex);
  const std::vector<Change>& changes = followed.log->changes;
  for (; followed.applied < changes.size() && changes[followed.applied].revision <= at.value_or(0);
       ++followed.applied) {
    const Change& change = changes[followed.applied];
    if (change.now == nullptr) {
      followed.state.erase(change.key);
    } else {
      followed.state[change.key] = *change.now;
    }
    last = change.revision;
  }
  std::map<std::string, std::string> listed;
  for (const Value& item : *items) {
    listed[key_of(item)] = to_json(item);
  }
  for (const auto& [key, text] : listed) {
    const auto known = followed.state.find(key);
    if (known == followed.state.end() || known->second != text) {
      return fmt::format("{}: {} is listed as {} and was watched as {}", followed.path, key, text,
                         known == followed.state.end() ? "nothing" : known->second);
    }
  }
  return listed.size() == followed.state.size()
             ? std::string()
             : fmt::format("{}: a watch has {} objects at {}, the list {}", followed.path, followed.state.size(), last,
                           listed.size());
}

std::string ApiJudge::compare() {
  std::vector<ApiRequest> requests;
  for (const Followed& followed : followed_) {
    requests.push_back({.path = followed.path});
  }
  const std::vector<Answer> lists = call_all(requests);
  // What was done before the lists is sent out by the time that another request is answered.
  (void)call({.path = "/version"});
  for (std::size_t i = 0; i < followed_.size(); ++i) {
    if (std::string trouble = compare_one(followed_[i], lists[i]); !trouble.empty()) {
      return trouble;
    }
  }
  return {};
}

ApiJudge::Objects ApiJudge::objects() {
  Objects objects;
  for (const Followed& followed : followed_) {
    const auto body = parse_json(call({.path = followed.path}).text());
    if (const Array* items = body ? array_at(*body, {"items"}) : nullptr) {
      for (const Value& item : *items) {
        objects[{followed.path, key_of(item)}] = to_json(item);
      }
    }
  }
  return objects;
}

std::string ApiJudge::put_all_back() {
  for (const auto& [place, text] : objects()) {
    const auto object = parse_json(text);
    if (!object || !text_at(*object, {"metadata", "deletionTimestamp"}).empty()) {
      continue;
    }
    // "/api/v1" "/pods", and the namespace between the two.
    const std::size_t last = place.first.rfind('/');
    const std::string_view ns = text_at(*object, {"metadata", "namespace"});
    ApiRequest put{.method = "PUT",
                   .path = fmt::format("{}{}{}/{}", place.first.substr(0, last),
                                       ns.empty() ? std::string() : fmt::format("/namespaces/{}", ns),
                                       place.first.substr(last), text_at(*object, {"metadata", "name"})),
                   .body = text};
    // The first time it may be brought into the usual form.
    Answer answer;
    for (int i = 0; i < 2; ++i) {
      if (std::string trouble = send(put, &answer); !trouble.empty()) {
        return trouble;
      }
      if (answer.status == 200 && i == 0) {
        put.body = answer.text();
      }
    }
    if (answer.text() != put.body && answer.status != 404 && answer.status != 409) {
      return fmt::format("{}put back as it is, it becomes {} {}", describe(put), answer.status, answer.text());
    }
  }
  return {};
}

}  // namespace gantree::test
