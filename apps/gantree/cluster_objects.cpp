#include "cluster_objects.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "dialects/dialects.h"
#include "json/read.h"
#include "kube/blocking.h"
#include "kube/discovery.h"
#include "live/object.h"
#include "output.h"
#include "service/dispatcher.h"

namespace gantree {

namespace {

constexpr std::chrono::seconds kPatience{30};

// Which of the kinds the server has, and in which version.
Result<std::vector<kube::Resource>> served(kube::Client& client, const std::vector<ApiKind>& kinds) {
  using Answer = Result<std::vector<kube::Resource>>;
  std::vector<kube::Wanted> wanted;
  for (const ApiKind& kind : kinds) {
    wanted.push_back({.group = std::string(kind.group),
                      .plural = resource_of(kind.group, kind.versions.front(), kind.kind, kind.namespaced).plural,
                      .versions = {kind.versions.begin(), kind.versions.end()}});
  }
  const auto promise = std::make_shared<std::promise<Answer>>();
  const auto answered = std::make_shared<bool>(false);
  std::future<Answer> answer = promise->get_future();
  const auto settle = [promise, answered](Answer value) {
    if (!std::exchange(*answered, true)) {
      promise->set_value(std::move(value));
    }
  };
  kube::DiscoveryOptions options;
  options.trouble = [settle](const std::string& sentence, int) {
    settle(fail(Errc::kIo, fmt::format("gantree: {}", sentence)));
  };
  const kube::Discovery discovery(
      client, std::move(wanted),
      [settle](const std::vector<std::optional<kube::Resource>>& found) {
        std::vector<kube::Resource> resources;
        for (const std::optional<kube::Resource>& one : found) {
          if (one) {
            resources.push_back(*one);
          }
        }
        settle(std::move(resources));
      },
      std::move(options));
  if (answer.wait_for(kPatience) != std::future_status::ready) {
    return fail(Errc::kIo, "gantree: the API server does not say what it serves");
  }
  return answer.get();
}

// All pages of one kind.
Result<> list(kube::Client& client, const kube::Resource& resource, const std::string& label_selector,
              std::vector<json::Document>& all) {
  kube::ListOptions page;
  page.label_selector = label_selector;
  do {
    const kube::Reply reply =
        kube::wait_for([&](kube::Client::Done done) { client.list_page(resource, "", page, std::move(done)); });
    if (!reply.ok()) {
      return fail(Errc::kIo, fmt::format("{} cannot be listed: {}", resource.plural, reply.message));
    }
    auto documents = json::read_documents(std::string(kNoFile), reply.body);
    if (!documents || documents->size() != 1) {
      return fail(Errc::kIo, fmt::format("the API server's list of {} cannot be read", resource.plural));
    }
    const json::Value metadata = documents->front().root()["metadata"];
    const json::Value next = metadata ? metadata["continue"] : json::Value();
    page.continue_token = next && next.kind() == json::Kind::kString ? std::string(next.text()) : std::string();
    all.push_back(std::move(documents->front()));
  } while (!page.continue_token.empty());
  return {};
}

}  // namespace

Result<std::vector<json::Document>> list_objects(ClusterAccess& cluster, const std::vector<ApiKind>& kinds,
                                                 const std::string& label_selector) {
  const auto resources = served(*cluster.client, kinds);
  if (!resources) {
    return tl::unexpected(resources.error());
  }
  std::vector<json::Document> all;
  std::string refused;
  for (const kube::Resource& resource : *resources) {
    if (auto listed = list(*cluster.client, resource, label_selector, all); !listed) {
      tell(listed.error().message);
      refused = listed.error().message;
    }
  }
  if (all.empty() && !refused.empty()) {
    return fail(Errc::kIo, fmt::format("gantree: nothing could be read from {}", cluster.config.server));
  }
  return all;
}

std::vector<ApiKind> all_kinds() {
  std::vector<ApiKind> kinds;
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (const auto& dialect : all_dialects()) {
    for (const ApiKind& kind : dialect->kinds()) {
      if (known.emplace(kind.group, kind.kind).second) {
        kinds.push_back(kind);
      }
    }
  }
  return kinds;
}

}  // namespace gantree
