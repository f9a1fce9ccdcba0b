#include "install/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "dialects/kai/names.h"
#include "install/embedded.h"
#include "json/copy.h"
#include "json/decode.h"
#include "json/read.h"

namespace gantree {

namespace {

constexpr std::string_view kNamespaceOfManifest = "gantree-system";
constexpr std::string_view kSchedulerNames = "--scheduler-names=";

// Kinds of which others need to know the objects, in that order; all others come between the last two.
constexpr std::array<std::string_view, 8> kFirst = {
    "Namespace",   "CustomResourceDefinition", "ServiceAccount", "Secret",
    "ClusterRole", "ClusterRoleBinding",       "Role",           "RoleBinding"};
// They have the API server ask what is not there yet.
constexpr std::string_view kLast = "WebhookConfiguration";

std::size_t rank(const ManifestObject& object) {
  if (object.kind.ends_with(kLast)) {
    return kFirst.size() + 1;
  }
  return static_cast<std::size_t>(std::find(kFirst.begin(), kFirst.end(), object.kind) - kFirst.begin());
}

// A text that speaks of a service account of the namespace `from`, with the other namespace in its place.
std::optional<std::string> in_another_namespace(std::string_view text, std::string_view from, std::string_view to) {
  const std::string account = fmt::format("system:serviceaccount:{}:", from);
  const std::size_t at = text.find(account);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  return fmt::format("{}system:serviceaccount:{}:{}", text.substr(0, at), to, text.substr(at + account.size()));
}

// What the options say in place of a value of the manifest.
json::Replace changes(std::string_view from, bool deployment, const InstallOptions& options) {
  return [from, deployment, &options](std::string_view key, json::Value value) -> std::optional<json::Out> {
    if (deployment && key == "replicas" && options.replicas) {
      return json::Out(*options.replicas);
    }
    if (value.kind() != json::Kind::kString) {
      return std::nullopt;
    }
    if (value.text() == from) {
      return json::Out(options.ns);
    }
    if (const auto renamed = in_another_namespace(value.text(), from, options.ns)) {
      return json::Out(*renamed);
    }
    if (deployment && key == "image" && !options.image.empty()) {
      return json::Out(options.image);
    }
    if (value.text().starts_with(kSchedulerNames) && !options.schedulers.empty()) {
      return json::Out(fmt::format("{}{}", kSchedulerNames, fmt::join(options.schedulers, ",")));
    }
    return std::nullopt;
  };
}

Result<ManifestObject> read_object(json::Value value, std::string_view from, const InstallOptions& options) {
  const auto renamed = [&](std::string_view text) { return text == from ? options.ns : std::string(text); };
  json::Reader read("manifest", value, "object");
  const json::Value metadata = read.require_object(value, "metadata");
  ManifestObject object;
  object.api_version = read.require_text(value, "apiVersion");
  object.kind = read.require_text(value, "kind");
  object.ns = renamed(read.text(metadata, "namespace").value_or(""));
  object.name = renamed(read.require_text(metadata, "name"));
  if (!read.ok()) {
    return read.error();
  }
  object.body = json::copy(value, changes(from, object.kind == "Deployment", options));
  return object;
}

// Nothing guaranteed and nothing limited, as KAI-Scheduler brings it.
ManifestObject open_queue(std::string_view name, std::string_view parent) {
  json::Out resources = json::Out::object();
  for (const std::string_view resource : {"cpu", "gpu", "memory"}) {
    json::Out share = json::Out::object();
    share.add("quota", 0).add("limit", -1).add("overQuotaWeight", 1);
    resources.add(resource, std::move(share));
  }
  json::Out spec = json::Out::object();
  if (!parent.empty()) {
    spec.add("parentQueue", parent);
  }
  spec.add("resources", std::move(resources));
  ManifestObject object;
  object.api_version = fmt::format("{}/{}", kai::kSchedulingGroup, "v2");
  object.kind = "Queue";
  object.name = name;
  object.lasting = true;
  object.body = json::Out::object();
  object.body.add("apiVersion", object.api_version).add("kind", object.kind);
  object.body.add("metadata", json::Out::object().add("name", name)).add("spec", std::move(spec));
  return object;
}

}  // namespace

std::string ManifestObject::title() const {
  return fmt::format("{} \"{}{}{}\"", kind, ns, ns.empty() ? "" : "/", name);
}

Result<std::vector<ManifestObject>> manifest_of(std::string_view text, std::string_view from,
                                                const InstallOptions& options) {
  const auto documents = json::read_documents("manifest", std::string(text));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  std::vector<ManifestObject> objects;
  for (const json::Document& document : *documents) {
    auto object = read_object(document.root(), from, options);
    if (!object) {
      return tl::unexpected(object.error());
    }
    if (options.definitions || object->kind != "CustomResourceDefinition") {
      objects.push_back(std::move(*object));
    }
  }
  if (options.default_queues) {
    objects.push_back(open_queue(kai::kDefaultParentQueue, ""));
    objects.push_back(open_queue(kai::kDefaultQueue, kai::kDefaultParentQueue));
  }
  std::stable_sort(objects.begin(), objects.end(),
                   [](const ManifestObject& a, const ManifestObject& b) { return rank(a) < rank(b); });
  return objects;
}

namespace {

// What the API server would refuse half-way through.
Result<> check(const InstallOptions& options) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool label = !options.ns.empty() && options.ns.size() <= 63 && letter(options.ns.front()) &&
                     letter(options.ns.back()) &&
                     std::all_of(options.ns.begin(), options.ns.end(), [&](char c) { return letter(c) || c == '-'; });
  if (!label) {
    return invalid(
        fmt::format("\"{}\" is no name of a namespace: small letters, digits and dashes, at most 63", options.ns));
  }
  if (options.image.find_first_of(" \t\n\"'") != std::string::npos) {
    return invalid(fmt::format("\"{}\" is no image: it holds blanks or quotes", options.image));
  }
  const auto unnamed = [](const std::string& scheduler) { return scheduler.empty(); };
  if (std::any_of(options.schedulers.begin(), options.schedulers.end(), unnamed)) {
    return invalid("one of the scheduler names is empty");
  }
  return {};
}

}  // namespace

Result<std::vector<ManifestObject>> manifest(const InstallOptions& options) {
  if (auto sound = check(options); !sound) {
    return tl::unexpected(sound.error());
  }
  return manifest_of(kManifestText, kNamespaceOfManifest, options);
}

std::string to_yaml(const std::vector<ManifestObject>& objects) {
  std::string text;
  for (const ManifestObject& object : objects) {
    text += "---\n" + object.body.to_yaml();
  }
  return text;
}

}  // namespace gantree
