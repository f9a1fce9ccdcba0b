#include "dialects/kai/neighbour.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/kueue/neighbour.h"
#include "dialects/workloads/workload.h"

namespace gantree::kai {

namespace {

// Made of the groups of the API, dots as dashes, by the framework that KAI is built with.
constexpr std::string_view kPaths[] = {"/validate-scheduling-run-ai-", "/validate-kai-scheduler-"};

bool judges_our_kinds(json::Value webhook) {
  if (webhook.kind() != json::Kind::kObject) {
    return false;
  }
  const json::Value client = map_at(webhook, "clientConfig");
  const json::Value path = text_at(map_at(client, "service"), "path");
  const json::Value url = text_at(client, "url");
  return std::any_of(std::begin(kPaths), std::end(kPaths), [&](std::string_view known) {
    return (path && path.text().starts_with(known)) || (url && url.text().find(known) != std::string_view::npos);
  });
}

}  // namespace

const ApiKind& neighbour_kind() {
  return kueue::neighbour_kind();
}

bool is_of_kai(json::Value configuration) {
  const auto webhooks = items_of(configuration["webhooks"]);
  return std::any_of(webhooks.begin(), webhooks.end(),
                     [](const json::NodeData& item) { return judges_our_kinds(json::Value(&item)); });
}

void Neighbour::see(std::string_view name, json::Value configuration) {
  if (is_of_kai(configuration)) {
    configurations_.emplace(name);
  } else {
    lose(name);
  }
}

std::optional<std::string> Neighbour::kai_runs() const {
  if (configurations_.empty()) {
    return std::nullopt;
  }
  return fmt::format(
      "KAI-Scheduler is installed in this cluster (ValidatingWebhookConfiguration \"{}\"), so its pods and PodGroups "
      "are "
      "left to it",
      *configurations_.begin());
}

}  // namespace gantree::kai
