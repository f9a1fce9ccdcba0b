#include "live_objects.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "json/read.h"
#include "kube/watches.h"
#include "live/object.h"
#include "service/dispatcher.h"

namespace gantree {

namespace {

// Without what no dialect looks at.
std::optional<std::string> kept_text(const ApiKind& kind, std::string_view json) {
  const auto object = prune(kind.group, kind.versions.front(), kind.kind, json);
  return object ? std::optional(object->text) : std::nullopt;
}

}  // namespace

class LiveObjects::State {
 public:
  class KindSink final : public kube::Sink {
   public:
    KindSink(State& state, const ApiKind& kind) : state_(state), kind_(kind) {}

    void changed(const kube::ObjectRef& object, std::string_view json) override {
      auto text = kept_text(kind_, json);
      const std::scoped_lock lock(state_.mutex);
      if (text) {
        objects[key(object)] = std::move(*text);
      }
      ++state_.version;
      state_.trouble.clear();
    }
    void removed(const kube::ObjectRef& object, std::string_view) override {
      const std::scoped_lock lock(state_.mutex);
      objects.erase(key(object));
      ++state_.version;
    }
    void synced() override {
      const std::scoped_lock lock(state_.mutex);
      state_.trouble.clear();
    }
    void trouble(const std::string& sentence, int failures) override {
      const std::scoped_lock lock(state_.mutex);
      if (failures > 1) {
        state_.trouble = sentence;
      }
    }

    std::map<std::string, std::string> objects;  // under the mutex

   private:
    static std::string key(const kube::ObjectRef& object) {
      return fmt::format("{}/{}", object.name_space, object.name);
    }

    State& state_;
    ApiKind kind_;
  };

  State(ClusterAccess& cluster, const std::vector<ApiKind>& kinds) {
    std::vector<kube::WatchRequest> requests;
    for (const ApiKind& kind : kinds) {
      sinks.emplace_back(*this, kind);
      kube::WatchRequest request;
      request.wanted = {.group = std::string(kind.group),
                        .plural = resource_of(kind.group, kind.versions.front(), kind.kind, kind.namespaced).plural,
                        .versions = {kind.versions.begin(), kind.versions.end()}};
      request.sink = &sinks.back();
      requests.push_back(std::move(request));
    }
    kube::DiscoveryOptions options;
    options.trouble = [this](const std::string& sentence, int) {
      const std::scoped_lock lock(mutex);
      trouble = sentence;
    };
    watches = std::make_unique<kube::Watches>(*cluster.client, std::move(requests), std::move(options));
  }

  mutable std::mutex mutex;
  std::uint64_t version = 0;
  std::string trouble;
  std::deque<KindSink> sinks;
  std::unique_ptr<kube::Watches> watches;  // last: it calls the sinks
};

LiveObjects::LiveObjects(ClusterAccess& cluster, const std::vector<ApiKind>& kinds)
    : state_(std::make_shared<State>(cluster, kinds)) {}

LiveObjects::~LiveObjects() = default;

bool LiveObjects::synced() const {
  return state_->watches->synced();
}

std::uint64_t LiveObjects::version() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->version;
}

std::string LiveObjects::trouble() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->trouble;
}

Result<std::vector<json::Document>> LiveObjects::documents() const {
  std::vector<std::string> lists;
  {
    const std::scoped_lock lock(state_->mutex);
    for (const State::KindSink& sink : state_->sinks) {
      std::string text;
      for (const auto& [key, object] : sink.objects) {
        text += (text.empty() ? "" : ",") + object;
      }
      if (!text.empty()) {
        lists.push_back(R"({"apiVersion":"v1","kind":"List","items":[)" + text + "]}");
      }
    }
  }
  std::vector<json::Document> all;
  for (std::string& text : lists) {
    auto documents = json::read_documents(std::string(kNoFile), std::move(text));
    if (!documents) {
      return tl::unexpected(documents.error());
    }
    all.push_back(std::move(documents->front()));
  }
  return all;
}

}  // namespace gantree
