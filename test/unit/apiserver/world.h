// A cluster's API in memory, for tests that read as requests and answers.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/json.h"

namespace gantree::apiserver {

class World {
 public:
  explicit World(ApiOptions options = {}) {
    auto started = Api::start(std::move(options));
    if (!started) {
      ADD_FAILURE() << started.error().message;
      std::abort();
    }
    api_ = std::move(*started);
    // What every cluster has is made by the server itself, soon after the start.
    eventually([&] { return get("/api/v1/namespaces/default/serviceaccounts/default").status == 200; });
  }

  Api& api() { return *api_; }

  Answer send(std::string method, std::string path, std::string body = "", std::string type = "application/json") {
    Call call;
    call.method = std::move(method);
    const std::size_t query = path.find('?');
    call.path = path.substr(0, query);
    call.query = query == std::string::npos ? "" : path.substr(query + 1);
    call.body = std::move(body);
    call.content_type = std::move(type);
    return api_->call_and_wait(std::move(call));
  }
  Answer get(std::string path) { return send("GET", std::move(path)); }
  Answer post(std::string path, std::string body) { return send("POST", std::move(path), std::move(body)); }
  Answer put(std::string path, std::string body) { return send("PUT", std::move(path), std::move(body)); }
  Answer remove(std::string path, std::string body = "") { return send("DELETE", std::move(path), std::move(body)); }
  Answer merge(std::string path, std::string body) {
    return send("PATCH", std::move(path), std::move(body), "application/merge-patch+json");
  }

  template <class Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 400; ++i) {
      if (condition()) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  std::unique_ptr<Api> api_;
};

inline Value body_of(const Answer& answer) {
  auto value = parse_json(answer.text());
  return value ? std::move(*value) : Value();
}
inline std::string text_in(const Answer& answer, std::initializer_list<std::string_view> keys) {
  const Value body = body_of(answer);
  const Value* value = find(body, keys);
  return value == nullptr ? "" : value->is_string() ? std::string(text_of(*value)) : to_json(*value);
}
inline std::string version_in(const Answer& answer) {
  return text_in(answer, {"metadata", "resourceVersion"});
}
inline std::vector<std::string> names_in(const Answer& answer) {
  std::vector<std::string> names;
  const Value body = body_of(answer);
  if (const Array* items = array_at(body, {"items"})) {
    for (const Value& item : *items) {
      names.emplace_back(text_at(item, {"metadata", "name"}));
    }
  }
  return names;
}

// Gathers what a watch brings.
class Recorder final : public WatchSink {
 public:
  bool events(std::span<const WatchEvent> events, bool) override {
    const std::lock_guard lock(mutex_);
    for (const WatchEvent& event : events) {
      static constexpr std::string_view kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
      const auto object = parse_json(*event.object);
      const std::string_view name = object ? text_at(*object, {"metadata", "name"}) : std::string_view();
      lines_.push_back(std::string(kNames[static_cast<std::size_t>(event.type)]) + " " + std::string(name));
      objects_.push_back(object ? *object : Value());
    }
    return true;
  }
  void ended() override { over_ = true; }

  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::vector<Value> objects() {
    const std::lock_guard lock(mutex_);
    return objects_;
  }
  [[nodiscard]] bool over() const { return over_; }
  // Waits for so many events.
  std::vector<std::string> wait(std::size_t count) {
    World::eventually([&] { return lines().size() >= count; });
    return lines();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<Value> objects_;
  std::atomic<bool> over_ = false;
};

inline std::shared_ptr<Recorder> watch(World& world, std::string path, std::string query) {
  auto recorder = std::make_shared<Recorder>();
  Call call;
  call.path = std::move(path);
  call.query = "watch=true&" + query;
  call.sink = recorder;
  const Answer answer = world.api().call_and_wait(std::move(call));
  EXPECT_TRUE(answer.streaming) << answer.text();
  return recorder;
}

inline std::string config_map(std::string_view name, std::string_view extra = "") {
  return std::string(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")") + std::string(name) + "\"" +
         std::string(extra) + R"(},"data":{"a":"b"}})";
}
inline std::string pod(std::string_view name, std::string_view metadata = "", std::string_view spec = "") {
  return std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")") + std::string(name) + "\"" +
         std::string(metadata) + R"(},"spec":{"containers":[{"name":"c","image":"i"}])" + std::string(spec) + "}}";
}

inline constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";

}  // namespace gantree::apiserver
