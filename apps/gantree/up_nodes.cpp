#include "up_nodes.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "apiserver/json.h"
#include "controllers/adopt.h"
#include "controllers/definitions.h"
#include "controllers/shapes.h"
#include "input.h"
#include "json/copy.h"
#include "json/write.h"

namespace gantree {

namespace {

// Where so many wait to be answered, creation pauses until only so few do: to go to and fro for each would cost more
// than the work itself.
constexpr std::size_t kMostUnderWay = 2'000;
constexpr std::size_t kFewUnderWay = 1'000;
// How long the scheduler's webhooks may take to be there.
constexpr std::chrono::milliseconds kPatience{30'000};
constexpr std::chrono::milliseconds kPause{200};
constexpr std::string_view kSystem = "/api/v1/namespaces/kube-system";

// Creates objects one after another without waiting for each. What is there already is left alone.
class Creator {
 public:
  explicit Creator(apiserver::Api& api) : api_(api) {}

  void create(std::string path, std::string body) {
    {
      std::unique_lock lock(mutex_);
      if (under_way_ >= kMostUnderWay) {
        changed_.wait(lock, [&] { return under_way_ <= kFewUnderWay; });
      }
      ++under_way_;
    }
    apiserver::Call call;
    call.method = "POST";
    call.path = std::move(path);
    call.body = std::move(body);
    call.agent = "gantree-up";
    api_.call(std::move(call), [this](const apiserver::Answer& answer) {
      const std::lock_guard lock(mutex_);
      if (!answer.ok() && answer.status != 409 && trouble_.empty()) {
        trouble_ = answer.text();
      }
      --under_way_;
      if (under_way_ == kFewUnderWay || under_way_ == 0) {
        changed_.notify_all();
      }
    });
  }

  // When all are done. Must be called before this goes.
  [[nodiscard]] Result<> finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_ == 0; });
    if (trouble_.empty()) {
      return {};
    }
    const auto status = apiserver::parse_json(trouble_);
    return invalid(status ? std::string(apiserver::text_at(*status, {"message"})) : trouble_);
  }

 private:
  apiserver::Api& api_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t under_way_ = 0;
  std::string trouble_;
};

std::string collection_of(const apiserver::Object& object) {
  const std::string version(apiserver::text_at(object, {"apiVersion"}));
  std::string plural(apiserver::text_at(object, {"kind"}));
  for (char& c : plural) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  plural = plural.ends_with('y') ? plural.substr(0, plural.size() - 1) + "ies" : plural + "s";
  return version.find('/') == std::string::npos ? fmt::format("/api/{}/{}", version, plural)
                                                : fmt::format("/apis/{}/{}", version, plural);
}

void create_nodes_in(json::Value value, Creator& creator, std::size_t& count) {
  const json::Value items = value["items"];
  if (items && items.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : items.items()) {
      create_nodes_in(json::Value(&item), creator, count);
    }
    return;
  }
  const json::Value kind = value["kind"];
  if (!kind || kind.text() != "Node") {
    return;
  }
  auto node = apiserver::parse_json(json::copy(value).to_json(false));
  if (node && node->is_object()) {
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    creator.create("/api/v1/nodes", apiserver::to_json(controllers::adopted_node(node->get_object(), now)));
    ++count;
  }
}

}  // namespace

std::string read_mark(apiserver::Api& api, std::string_view mark) {
  apiserver::Call call;
  call.method = "GET";
  call.path = kSystem;
  const auto system = apiserver::parse_json(api.call_and_wait(std::move(call)).text());
  return system ? std::string(apiserver::text_at(*system, {"metadata", "annotations", mark})) : std::string();
}

bool has_nodes(apiserver::Api& api) {
  apiserver::Call call;
  call.path = "/api/v1/nodes";
  call.query = "limit=1";
  const auto list = apiserver::parse_json(api.call_and_wait(std::move(call)).text());
  const auto* items = list && list->is_object() ? list->get_object().if_contains("items") : nullptr;
  return items != nullptr && items->is_array() && !items->get_array().empty();
}

Result<> set_mark(apiserver::Api& api, std::string_view mark, const std::string& value) {
  apiserver::Object annotations;
  annotations[mark] = value;
  apiserver::Object patch;
  apiserver::object_in(patch, "metadata")["annotations"] = std::move(annotations);
  apiserver::Call call;
  call.method = "PATCH";
  call.path = kSystem;
  call.content_type = "application/merge-patch+json";
  call.body = apiserver::to_json(patch);
  call.agent = "gantree-up";
  const apiserver::Answer answer = api.call_and_wait(std::move(call));
  return answer.ok() ? Result<>() : fail(Errc::kIo, fmt::format("namespace kube-system: {}", answer.text()));
}

Result<> add_workload_kinds(apiserver::Api& api) {
  Creator creator(api);
  for (const apiserver::Object& definition : controllers::workload_definitions()) {
    creator.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", apiserver::to_json(definition));
  }
  creator.create("/apis/storage.k8s.io/v1/storageclasses", apiserver::to_json(controllers::standard_storage_class()));
  return creator.finish();
}

Result<> add_generated_nodes(apiserver::Api& api, const std::string& text) {
  const auto shape = controllers::parse_shape(text);
  if (!shape) {
    return tl::unexpected(shape.error());
  }
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  Creator creator(api);
  for (std::int64_t i = 0; i < shape->host_count(); ++i) {
    creator.create("/api/v1/nodes", apiserver::to_json(controllers::make_host(*shape, i, now)));
  }
  return creator.finish();
}

Result<> add_topologies(apiserver::Api& api, const std::string& text, const std::stop_token& stop) {
  const auto shape = controllers::parse_shape(text);
  if (!shape) {
    return tl::unexpected(shape.error());
  }
  const std::vector<apiserver::Object> topologies = controllers::make_topologies(*shape);
  Result<> done;
  for (auto left = kPatience; left.count() > 0 && !stop.stop_requested(); left -= kPause) {
    Creator creator(api);
    for (const apiserver::Object& topology : topologies) {
      creator.create(collection_of(topology), apiserver::to_json(topology));
    }
    done = creator.finish();
    if (done) {
      break;
    }
    std::this_thread::sleep_for(kPause);
  }
  return done;
}

Result<> add_nodes_of_file(apiserver::Api& api, const std::string& file) {
  const auto documents = read_inputs({file});
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  Creator creator(api);
  std::size_t count = 0;
  for (const json::Document& document : *documents) {
    create_nodes_in(document.root(), creator, count);
  }
  if (auto done = creator.finish(); !done) {
    return done;
  }
  if (count == 0) {
    return invalid(fmt::format("{}: there are no Nodes in it", file));
  }
  return {};
}

}  // namespace gantree
