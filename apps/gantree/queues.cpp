#include "queues.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "live/object.h"
#include "output.h"

namespace gantree {

namespace {

// As the API server would tell it: what names no namespace is in that called default.
std::string text_of(const Object& object) {
  const json::Value metadata = object.metadata();
  const bool namespaced = object.kind == "LocalQueue" || object.kind == "Workload";
  if (!namespaced || !metadata || metadata.kind() != json::Kind::kObject || metadata["namespace"]) {
    return json::copy(object.value).to_json(false);
  }
  json::Out root = json::Out::object();
  for (const json::MemberData& member : object.value.members()) {
    json::Out value = json::copy(json::Value(&member.value));
    if (member.key == "metadata") {
      value.add("namespace", "default");
    }
    root.add(member.key, std::move(value));
  }
  return root.to_json(false);
}

}  // namespace

std::vector<ApiKind> queue_kinds() {
  std::vector<ApiKind> kinds;
  for (const ApiKind& kind : kueue::Controller::kinds()) {
    if (kind.group == kueue::kGroup) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

Result<> take_queues(const std::vector<json::Document>& documents, Queues& queues) {
  return for_each_object(documents, [&](const Object& object) -> Result<> {
    const bool node = object.group.empty() && object.kind == "Node";
    const bool ours = object.group == kueue::kGroup;
    if (!node && !ours) {
      return {};
    }
    auto live = prune(object.group, object.version, object.kind, text_of(object));
    if (!live) {
      return fail(live.error().code, fmt::format("{}: {}", json::to_string(object.place()), live.error().message));
    }
    const Result<> taken = node ? queues.scheduler.changed(std::move(*live), {}) : queues.controller.changed(*live, {});
    if (!taken) {
      tell(without_places(taken.error().message));
    }
    return {};
  });
}

}  // namespace gantree
