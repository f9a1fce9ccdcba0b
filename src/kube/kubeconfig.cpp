#include "kube/kubeconfig.h"

#include <utility>

#include "json/decode.h"
#include "json/read.h"

namespace gantree::kube {
namespace {

using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

void merge_list(json::Reader& read, const std::string& file, json::Value root, std::string_view list,
                std::string_view member, Entries& entries) {
  const json::Value items = read.array(root, list);
  if (!items) {
    return;
  }
  for (const json::NodeData& item : items.items()) {
    const json::Value entry = read.as_object(json::Value(&item), list);
    const std::string_view name = read.require_text(entry, "name");
    const json::Value body = read.object(entry, member);
    if (!read.ok()) {
      return;
    }
    entries.try_emplace(std::string(name), KubeconfigEntry{.body = body, .file = file});
  }
}

}  // namespace

Result<void> merge(Kubeconfig& config, const std::string& file, std::string bytes) {
  Result<std::vector<json::Document>> documents = json::read_documents(file, std::move(bytes));
  if (!documents.has_value()) {
    return tl::unexpected<Error>(documents.error());
  }
  config.files.push_back(file);
  if (documents->empty()) {
    return {};
  }
  if (documents->size() > 1) {
    return invalid(file + ": a kubeconfig is one document, here are several");
  }
  const json::Value root = documents->front().root();
  json::Reader read(file, root, "kubeconfig");
  if (root.kind() != json::Kind::kObject) {
    return invalid(file + ": a kubeconfig is an object, not " + std::string(json::to_string(root.kind())));
  }
  merge_list(read, file, root, "clusters", "cluster", config.clusters);
  merge_list(read, file, root, "users", "user", config.users);
  merge_list(read, file, root, "contexts", "context", config.contexts);
  const std::string_view current = read.text(root, "current-context").value_or("");
  if (!read.ok()) {
    return read.error();
  }
  if (config.current_context.empty()) {
    config.current_context = current;
  }
  config.documents.push_back(std::move(documents->front()));
  return {};
}

}  // namespace gantree::kube
