#include "install/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/base64.h"
#include "json/decode.h"
#include "json/read.h"

namespace gantree {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kAnswer = "answer";

// Hands the one object of an answer to a reader of its fields.
Result<> with_object(std::string_view json, const std::function<void(json::Reader&, json::Value)>& take) {
  const auto documents = json::read_documents(std::string(kAnswer), std::string(json));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return invalid("the API server answered with something else than an object");
  }
  const json::Value root = documents->front().root();
  json::Reader read(kAnswer, root, "the API server's answer");
  take(read, root);
  return read.ok() ? Result<>{} : Result<>(read.error());
}

void for_each(json::Reader& read, json::Value parent, std::string_view key,
              const std::function<void(json::Value)>& take) {
  const json::Value list = read.array(parent, key);
  for (const json::NodeData& item : list ? list.items() : std::span<const json::NodeData>()) {
    const json::Value value = read.as_object(json::Value(&item), key);
    if (!read.ok()) {
      return;
    }
    take(value);
  }
}

std::string text(json::Reader& read, json::Value parent, std::string_view key) {
  return std::string(read.text(parent, key).value_or(""));
}

std::int64_t number(json::Reader& read, json::Value parent, std::string_view key, std::int64_t otherwise) {
  return read.integer(parent, key, 0, kMost).value_or(otherwise);
}

}  // namespace

Result<std::string> read_version(std::string_view json) {
  std::string version;
  auto done =
      with_object(json, [&](json::Reader& read, json::Value root) { version = read.require_text(root, "gitVersion"); });
  return done ? Result<std::string>(version) : tl::unexpected(done.error());
}

Result<> read_nodes(std::string_view json, std::vector<NodeFact>& nodes) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      const json::Value metadata = read.object(item, "metadata");
      NodeFact& fact = nodes.emplace_back();
      fact.node.name = text(read, metadata, "name");
      fact.node.labels = read_labels(read, metadata, "labels");
      fact.ready = condition(read, read.object(item, "status"), "Ready").value_or(false);
      fact.schedulable = !read.boolean(read.object(item, "spec"), "unschedulable").value_or(false);
    });
  });
}

Result<> read_waiting_pods(std::string_view json, std::vector<WaitingPod>& pods) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      const json::Value metadata = read.object(item, "metadata");
      WaitingPod& pod = pods.emplace_back();
      pod.ns = text(read, metadata, "namespace");
      pod.name = text(read, metadata, "name");
      pod.scheduler = text(read, read.object(item, "spec"), "schedulerName");
      pod.created_seconds = read_created(read, metadata);
      for_each(read, read.object(item, "status"), "conditions", [&](json::Value one) {
        if (read.text(one, "type") == "PodScheduled") {
          pod.message = text(read, one, "message");
        }
      });
    });
  });
}

Result<> read_deployments(std::string_view json, std::vector<DeploymentFact>& deployments) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      const json::Value metadata = read.object(item, "metadata");
      const json::Value spec = read.object(item, "spec");
      DeploymentFact& fact = deployments.emplace_back();
      fact.ns = text(read, metadata, "namespace");
      fact.name = text(read, metadata, "name");
      fact.wanted = number(read, spec, "replicas", 1);
      fact.available = number(read, read.object(item, "status"), "availableReplicas", 0);
      const json::Value pod = read.object(read.object(spec, "template"), "spec");
      for_each(read, pod, "containers", [&](json::Value container) {
        for (const std::string_view key : {"command", "args"}) {
          const json::Value words = read.array(container, key);
          for (const json::NodeData& word : words ? words.items() : std::span<const json::NodeData>()) {
            fact.arguments.emplace_back(read.as_text(json::Value(&word), key));
          }
        }
      });
    });
  });
}

Result<LeaseFact> read_lease_fact(std::string_view json) {
  LeaseFact fact;
  auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    const json::Value spec = read.object(root, "spec");
    fact.holder = text(read, spec, "holderIdentity");
    fact.renewed_seconds = parse_time(read.text(spec, "renewTime").value_or("")).value_or(0);
    fact.duration_seconds = number(read, spec, "leaseDurationSeconds", 0);
  });
  return done ? Result<LeaseFact>(fact) : tl::unexpected(done.error());
}

Result<std::vector<WebhookFact>> read_webhooks(std::string_view json) {
  std::vector<WebhookFact> webhooks;
  auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "webhooks", [&](json::Value item) {
      const std::string bundle = text(read, read.object(item, "clientConfig"), "caBundle");
      webhooks.push_back({.name = text(read, item, "name"), .bundle = from_base64(bundle).value_or("")});
    });
  });
  return done ? Result<std::vector<WebhookFact>>(std::move(webhooks)) : tl::unexpected(done.error());
}

namespace {

template <typename Neighbour>
Result<> see_all(std::string_view json, Neighbour& neighbour) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items",
             [&](json::Value item) { neighbour.see(text(read, read.object(item, "metadata"), "name"), item); });
  });
}

}  // namespace

Result<> read_neighbour(std::string_view json, kueue::Neighbour& neighbour) {
  return see_all(json, neighbour);
}

Result<> read_neighbour(std::string_view json, kai::Neighbour& neighbour) {
  return see_all(json, neighbour);
}

Result<ConversionFact> read_conversion(std::string_view json) {
  ConversionFact fact;
  auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    const json::Value conversion = read.object(read.object(root, "spec"), "conversion");
    const json::Value client = read.object(read.object(conversion, "webhook"), "clientConfig");
    const json::Value service = read.object(client, "service");
    fact.webhook = text(read, conversion, "strategy") == "Webhook";
    fact.service = service ? text(read, service, "namespace") + "/" + text(read, service, "name") : std::string();
    fact.bundle = from_base64(text(read, client, "caBundle")).value_or("");
  });
  return done ? Result<ConversionFact>(std::move(fact)) : tl::unexpected(done.error());
}

Result<> read_levels(std::string_view json, std::vector<LevelsFact>& topologies) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      LevelsFact& fact = topologies.emplace_back();
      fact.name = text(read, read.object(item, "metadata"), "name");
      for_each(read, read.object(item, "spec"), "levels",
               [&](json::Value level) { fact.labels.push_back(text(read, level, "nodeLabel")); });
    });
  });
}

Result<> read_flavors(std::string_view json, std::vector<FlavorFact>& flavors) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      const json::Value spec = read.object(item, "spec");
      flavors.push_back({.name = text(read, read.object(item, "metadata"), "name"),
                         .topology = text(read, spec, "topologyName"),
                         .labels = read_labels(read, spec, "nodeLabels")});
    });
  });
}

Result<> read_queues(std::string_view json, std::vector<QueueFact>& queues) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      QueueFact& fact = queues.emplace_back();
      fact.name = text(read, read.object(item, "metadata"), "name");
      for_each(read, read.object(item, "status"), "conditions", [&](json::Value one) {
        if (read.text(one, "type") == "Active") {
          fact.active = read.text(one, "status") == "True";
          fact.reason = text(read, one, "reason");
          fact.message = text(read, one, "message");
        }
      });
    });
  });
}

Result<> read_names(std::string_view json, std::vector<std::string>& names) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value item) {
      const json::Value metadata = read.object(item, "metadata");
      names.push_back(fmt::format("{}/{}", text(read, metadata, "namespace"), text(read, metadata, "name")));
    });
  });
}

Result<> read_ready_endpoints(std::string_view json, std::size_t& ready) {
  return with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "items", [&](json::Value slice) {
      for_each(read, slice, "endpoints", [&](json::Value endpoint) {
        // By the rules of the API, nothing said means ready.
        ready += read.boolean(read.object(endpoint, "conditions"), "ready").value_or(true) ? 1 : 0;
      });
    });
  });
}

Result<std::vector<ServedKind>> read_served(std::string_view json) {
  std::vector<ServedKind> served;
  std::vector<std::string> statuses;
  auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    for_each(read, root, "resources", [&](json::Value item) {
      const std::string name = text(read, item, "name");
      const std::size_t slash = name.find('/');
      if (slash == std::string::npos) {
        served.push_back({.plural = name});
      } else if (name.substr(slash) == "/status") {
        statuses.push_back(name.substr(0, slash));
      }
    });
  });
  for (ServedKind& kind : served) {
    kind.status = std::find(statuses.begin(), statuses.end(), kind.plural) != statuses.end();
  }
  return done ? Result<std::vector<ServedKind>>(std::move(served)) : tl::unexpected(done.error());
}

Result<bool> read_allowed(std::string_view json) {
  bool allowed = false;
  auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    allowed = read.boolean(read.object(root, "status"), "allowed").value_or(false);
  });
  return done ? Result<bool>(allowed) : tl::unexpected(done.error());
}

std::string continue_token(std::string_view json) {
  std::string token;
  const auto done = with_object(json, [&](json::Reader& read, json::Value root) {
    token = text(read, read.object(root, "metadata"), "continue");
  });
  return done ? token : std::string();
}

}  // namespace gantree
