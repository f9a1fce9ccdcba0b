#include "dialects/kueue/neighbour.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::kueue {

namespace {

// Made of the group of the API, dots as dashes, by the framework that Kueue is built with.
constexpr std::string_view kPath = "/validate-kueue-x-k8s-io-";

std::string_view text_at(json::Value parent, std::string_view key) {
  const json::Value value = parent[key];
  return value && value.kind() == json::Kind::kString ? value.text() : std::string_view{};
}

bool judges_our_kinds(json::Value webhook) {
  const json::Value client = webhook["clientConfig"];
  return text_at(client["service"], "path").starts_with(kPath) ||
         text_at(client, "url").find(kPath) != std::string_view::npos;
}

}  // namespace

const ApiKind& neighbour_kind() {
  static const ApiKind kKind{.group = "admissionregistration.k8s.io",
                             .kind = "ValidatingWebhookConfiguration",
                             .versions = {"v1"},
                             .namespaced = false};
  return kKind;
}

bool is_of_kueue(json::Value configuration) {
  const json::Value webhooks = configuration["webhooks"];
  if (!webhooks || webhooks.kind() != json::Kind::kArray) {
    return false;
  }
  const auto items = webhooks.items();
  return std::any_of(items.begin(), items.end(),
                     [](const json::NodeData& item) { return judges_our_kinds(json::Value(&item)); });
}

void Neighbour::see(std::string_view name, json::Value configuration) {
  if (is_of_kueue(configuration)) {
    configurations_.emplace(name);
  } else {
    lose(name);
  }
}

std::optional<std::string> Neighbour::kueue_runs() const {
  if (configurations_.empty()) {
    return std::nullopt;
  }
  return fmt::format(
      "Kueue is installed in this cluster (ValidatingWebhookConfiguration \"{}\"), so its kinds are left to it",
      *configurations_.begin());
}

}  // namespace gantree::kueue
