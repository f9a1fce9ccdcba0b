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

Result<Written> ClusterStore::write(const ConfigurationName& name, const Configuration& read, std::string_view bundle) {
  // Lists of webhooks are merged by name.
  json::Out webhooks = json::Out::array();
  for (const Configuration::Webhook& webhook : read.webhooks) {
    json::Out client = json::Out::object();
    client.add("caBundle", to_base64(bundle));
    json::Out entry = json::Out::object();
    entry.add("name", webhook.name).add("clientConfig", std::move(client));
    webhooks.push(std::move(entry));
  }
  json::Out metadata = json::Out::object();
  metadata.add("resourceVersion", read.resource_version);
  json::Out patch = json::Out::object();
  patch.add("metadata", std::move(metadata)).add("webhooks", std::move(webhooks));
  return outcome(name.title(), kube::wait_for(
                                   [&](kube::Client::Done done) {
                                     client_.patch(resource_of(name), {.name_space = {}, .name = name.name},
                                                   kube::PatchType::kStrategicMerge, patch.to_json(false),
                                                   std::move(done));
                                   },
                                   stop_));
}

}  // namespace gantree::webhook
