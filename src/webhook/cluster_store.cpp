#include "webhook/cluster_store.h"

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "json/read.h"
#include "json/write.h"
#include "kube/blocking.h"

namespace gantree::webhook {

namespace {

const kube::Resource kSecrets{.group = "", .version = "v1", .plural = "secrets", .kind = "Secret", .namespaced = true};

kube::Resource resource_of(const ConfigurationName& name) {
  if (name.kind == ConfigurationKind::kConversion) {
    return {.group = "apiextensions.k8s.io",
            .version = "v1",
            .plural = "customresourcedefinitions",
            .kind = "CustomResourceDefinition",
            .namespaced = false};
  }
  const bool validating = name.kind == ConfigurationKind::kValidating;
  return {.group = "admissionregistration.k8s.io",
          .version = "v1",
          .plural = validating ? "validatingwebhookconfigurations" : "mutatingwebhookconfigurations",
          .kind = validating ? "ValidatingWebhookConfiguration" : "MutatingWebhookConfiguration",
          .namespaced = false};
}

std::string title_of(const kube::ObjectKey& secret) {
  return fmt::format("Secret \"{}/{}\"", secret.name_space, secret.name);
}

tl::unexpected<Error> refused(std::string_view verb, const std::string& object, const kube::Reply& reply) {
  return fail(Errc::kIo, fmt::format("{} could not be {}: {}", object, verb, reply.message));
}

Result<Written> outcome(const std::string& object, const kube::Reply& reply) {
  if (reply.ok()) {
    return Written::kDone;
  }
  // Gone since it was read, or another was faster, perhaps an attempt of our own: reading it again tells.
  if (reply.result == kube::CallResult::kConflict || reply.result == kube::CallResult::kNotFound) {
    return Written::kOvertaken;
  }
  return refused("written", object, reply);
}

// The one object of a reply; its values live as long as the document.
Result<json::Document> parse(const std::string& object, const kube::Reply& reply) {
  auto documents = json::read_documents(object, reply.body);
  if (!documents || documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return fail(Errc::kIo, fmt::format("{} came back as something else than an object", object));
  }
  return std::move(documents->front());
}

std::string text_at(json::Value object, std::string_view key) {
  const json::Value value = object ? object[key] : json::Value();
  return value && value.kind() == json::Kind::kString ? std::string(value.text()) : std::string();
}

// The webhook by which a definition has its objects converted; absent where it has none, or one of somebody else.
json::Value conversion_of(json::Value definition, const kube::ObjectKey& service) {
  const json::Value conversion = definition["spec"]["conversion"];
  const json::Value client = conversion["webhook"]["clientConfig"];
  if (!client || text_at(conversion, "strategy") != "Webhook") {
    return {};
  }
  const json::Value named = client["service"];
  const bool ours =
      !named || (text_at(named, "name") == service.name && text_at(named, "namespace") == service.name_space);
  return ours ? client : json::Value();
}

// What is no Base64 is as good as nothing: it is then made anew.
std::string bytes_at(json::Value object, std::string_view key) {
  return from_base64(text_at(object, key)).value_or("");
}

}  // namespace

Result<StoredCertificate> ClusterStore::read() {
  const kube::Reply reply =
      kube::wait_for([&](kube::Client::Done done) { client_.get(kSecrets, secret_, std::move(done)); }, stop_);
  if (reply.result == kube::CallResult::kNotFound) {
    return StoredCertificate{};
  }
  if (!reply.ok()) {
    return refused("read", title_of(secret_), reply);
  }
  const auto document = parse(title_of(secret_), reply);
  if (!document) {
    return tl::unexpected(document.error());
  }
  const json::Value data = document->root()["data"];
  return StoredCertificate{.resource_version = text_at(document->root()["metadata"], "resourceVersion"),
                           .authorities = bytes_at(data, "ca.crt"),
                           .authority_key = bytes_at(data, "ca.key"),
                           .serving = {.certificate = bytes_at(data, "tls.crt"), .key = bytes_at(data, "tls.key")}};
}

Result<Written> ClusterStore::write(const StoredCertificate& certificate) {
  json::Out data = json::Out::object();
  data.add("ca.crt", to_base64(certificate.authorities)).add("ca.key", to_base64(certificate.authority_key));
  data.add("tls.crt", to_base64(certificate.serving.certificate)).add("tls.key", to_base64(certificate.serving.key));
  json::Out metadata = json::Out::object();
  json::Out secret = json::Out::object();
  if (certificate.resource_version.empty()) {
    metadata.add("name", secret_.name);
    secret.add("apiVersion", "v1").add("kind", "Secret").add("metadata", std::move(metadata));
    secret.add("type", "Opaque").add("data", std::move(data));
    return outcome(title_of(secret_), kube::wait_for(
                                          [&](kube::Client::Done done) {
                                            client_.create(kSecrets, secret_.name_space, secret.to_json(false),
                                                           std::move(done));
                                          },
                                          stop_));
  }
  metadata.add("resourceVersion", certificate.resource_version);
  secret.add("metadata", std::move(metadata)).add("data", std::move(data));
  return outcome(title_of(secret_), kube::wait_for(
                                        [&](kube::Client::Done done) {
                                          client_.patch(kSecrets, secret_, kube::PatchType::kMerge,
                                                        secret.to_json(false), std::move(done));
                                        },
                                        stop_));
}

Result<std::optional<Configuration>> ClusterStore::read(const ConfigurationName& name) {
  const kube::Reply reply = kube::wait_for(
      [&](kube::Client::Done done) {
        client_.get(resource_of(name), {.name_space = {}, .name = name.name}, std::move(done));
      },
      stop_);
  if (reply.result == kube::CallResult::kNotFound) {
    return std::nullopt;
  }
  if (!reply.ok()) {
    return refused("read", name.title(), reply);
  }
  const auto document = parse(name.title(), reply);
  if (!document) {
    return tl::unexpected(document.error());
  }
  Configuration configuration;
  configuration.resource_version = text_at(document->root()["metadata"], "resourceVersion");
  if (name.kind == ConfigurationKind::kConversion) {
    if (const json::Value client = conversion_of(document->root(), secret_)) {
      configuration.webhooks.push_back({.name = name.name, .bundle = bytes_at(client, "caBundle")});
    }
    return configuration;
  }
  const json::Value webhooks = document->root()["webhooks"];
  if (webhooks && webhooks.kind() == json::Kind::kArray) {
    for (const json::NodeData& item : webhooks.items()) {
      const json::Value webhook(&item);
      configuration.webhooks.push_back(
          {.name = text_at(webhook, "name"), .bundle = bytes_at(webhook["clientConfig"], "caBundle")});
    }
  }
  return configuration;
}

namespace {

json::Out object_with(std::string_view key, json::Out value) {
  json::Out object = json::Out::object();
  object.add(key, std::move(value));
  return object;
}

// Lists of webhooks are merged by name.
json::Out webhooks_with(const Configuration& read, std::string_view bundle) {
  json::Out webhooks = json::Out::array();
  for (const Configuration::Webhook& webhook : read.webhooks) {
    json::Out entry = json::Out::object();
    entry.add("name", webhook.name).add("clientConfig", object_with("caBundle", to_base64(bundle)));
    webhooks.push(std::move(entry));
  }
  return webhooks;
}

json::Out conversion_with(std::string_view bundle) {
  return object_with("conversion",
                     object_with("webhook", object_with("clientConfig", object_with("caBundle", to_base64(bundle)))));
}

}  // namespace

Result<Written> ClusterStore::write(const ConfigurationName& name, const Configuration& read, std::string_view bundle) {
  const bool conversion = name.kind == ConfigurationKind::kConversion;
  json::Out patch = object_with("metadata", object_with("resourceVersion", read.resource_version));
  if (conversion) {
    patch.add("spec", conversion_with(bundle));
  } else {
    patch.add("webhooks", webhooks_with(read, bundle));
  }
  const kube::PatchType type = conversion ? kube::PatchType::kMerge : kube::PatchType::kStrategicMerge;
  return outcome(name.title(), kube::wait_for(
                                   [&](kube::Client::Done done) {
                                     client_.patch(resource_of(name), {.name_space = {}, .name = name.name}, type,
                                                   patch.to_json(false), std::move(done));
                                   },
                                   stop_));
}

}  // namespace gantree::webhook
