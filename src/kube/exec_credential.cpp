#include "kube/exec_credential.h"

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "json/decode.h"
#include "json/read.h"
#include "json/write.h"

namespace gantree::kube {

std::string exec_info(const Config& config) {
  json::Out spec = json::Out::object();
  if (config.exec->provide_cluster_info) {
    json::Out cluster = json::Out::object();
    cluster.add("server", config.server);
    if (!config.server_name.empty()) {
      cluster.add("tls-server-name", config.server_name);
    }
    if (config.insecure) {
      cluster.add("insecure-skip-tls-verify", true);
    }
    if (!config.ca_pem.empty()) {
      cluster.add("certificate-authority-data", to_base64(config.ca_pem));
    }
    if (!config.proxy.empty()) {
      cluster.add("proxy-url", config.proxy);
    }
    spec.add("cluster", std::move(cluster));
  }
  spec.add("interactive", false);
  json::Out out = json::Out::object();
  out.add("apiVersion", config.exec->api_version).add("kind", "ExecCredential").add("spec", std::move(spec));
  return out.to_json(false);
}

Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string output) {
  const Result<std::vector<json::Document>> documents = json::read_documents(plugin.command, std::move(output));
  if (!documents.has_value()) {
    return tl::unexpected<Error>(documents.error());
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return invalid(plugin.command + ": printed no ExecCredential");
  }
  const json::Value root = documents->front().root();
  json::Reader read(plugin.command, root, "ExecCredential");
  const std::string_view kind = read.text(root, "kind").value_or("");
  const std::string_view version = read.text(root, "apiVersion").value_or("");
  const json::Value status = read.require_object(root, "status");
  const std::string_view token = read.text(status, "token").value_or("");
  const std::string_view certificate = read.text(status, "clientCertificateData").value_or("");
  const std::string_view key = read.text(status, "clientKeyData").value_or("");
  const std::string_view expires = read.text(status, "expirationTimestamp").value_or("");
  if (!read.ok()) {
    return read.error();
  }
  if (kind != "ExecCredential" || version != plugin.api_version) {
    return invalid(fmt::format("{}: printed kind \"{}\" of \"{}\", not ExecCredential of {}", plugin.command, kind,
                               version, plugin.api_version));
  }
  if (token.empty() && certificate.empty()) {
    return invalid(plugin.command + ": printed neither a token nor a client certificate");
  }
  if (certificate.empty() != key.empty()) {
    return invalid(plugin.command + ": printed a client certificate without its key, or the other way round");
  }
  ExecCredential result;
  result.credential.authorization = token.empty() ? "" : "Bearer " + std::string(token);
  result.credential.certificate_pem = certificate;
  result.credential.key_pem = key;
  if (!expires.empty()) {
    const std::optional<std::int64_t> seconds = parse_time(expires);
    if (!seconds.has_value()) {
      return invalid(fmt::format("{}: expirationTimestamp \"{}\" is no time", plugin.command, expires));
    }
    result.expires = WallTime(std::chrono::seconds(*seconds));
  }
  return result;
}

}  // namespace gantree::kube
