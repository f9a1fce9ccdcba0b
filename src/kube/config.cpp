#include "kube/config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/base64.h"
#include "http/proxy.h"
#include "json/decode.h"
#include "kube/kubeconfig.h"
#include "kube/text_file.h"

namespace gantree::kube {
namespace {

// Reads one entry of a kubeconfig, whose relative paths start at its file's folder.
class EntryReader {
 public:
  EntryReader(const KubeconfigEntry& entry, std::string subject)
      : entry_(entry), subject_(subject), read_(entry.file, entry.body, std::move(subject)) {}

  [[nodiscard]] std::string text(std::string_view key) { return text(entry_.body, key); }
  [[nodiscard]] std::string text(json::Value parent, std::string_view key) {
    return std::string(read_.text(parent, key).value_or(""));
  }
  [[nodiscard]] bool boolean(std::string_view key) { return read_.boolean(entry_.body, key).value_or(false); }
  [[nodiscard]] std::string path(std::string_view key) { return from_folder(text(key)); }
  // What stands in base64 under KEY-data, or else in the file that KEY names.
  [[nodiscard]] Result<std::string> data_or_file(std::string_view key) {
    const Result<std::string> data = decoded(key);
    if (!data.has_value() || !data->empty()) {
      return data;
    }
    const std::string file = path(key);
    if (file.empty()) {
      return std::string();
    }
    return read_text_file(file).map_error(
        [&](const Error& error) { return Error{error.code, fmt::format("{}: {}: {}", place(), key, error.message)}; });
  }
  [[nodiscard]] Result<std::string> decoded(std::string_view key) {
    const std::string name = std::string(key) + "-data";
    const std::optional<std::string> data = from_base64(text(name));
    if (!data.has_value()) {
      return complaint(name + " is not base64");
    }
    return *data;
  }
  [[nodiscard]] std::string from_folder(std::string path) const {
    const std::size_t slash = entry_.file.rfind('/');
    if (path.empty() || path.starts_with('/') || slash == std::string::npos) {
      return path;
    }
    return entry_.file.substr(0, slash + 1) + path;
  }
  [[nodiscard]] tl::unexpected<Error> complaint(std::string_view what) const {
    return invalid(fmt::format("{}: {}", place(), what));
  }
  [[nodiscard]] std::string place() const { return entry_.file + ": " + subject_; }
  [[nodiscard]] json::Reader& reader() { return read_; }
  [[nodiscard]] json::Value body() const { return entry_.body; }

 private:
  const KubeconfigEntry& entry_;
  std::string subject_;
  json::Reader read_;
};

Result<void> read_cluster(EntryReader& entry, const Environment& environment, Config& config) {
  config.server = entry.text("server");
  while (config.server.ends_with('/')) {
    config.server.pop_back();
  }
  config.server_name = entry.text("tls-server-name");
  config.insecure = entry.boolean("insecure-skip-tls-verify");
  config.compressed = !entry.boolean("disable-compression");
  Result<std::string> authority = entry.data_or_file("certificate-authority");
  config.proxy = entry.text("proxy-url");
  if (!entry.reader().ok()) {
    return entry.reader().error();
  }
  if (!authority.has_value()) {
    return tl::unexpected<Error>(authority.error());
  }
  config.ca_pem = std::move(*authority);
  if (config.server.empty()) {
    return entry.complaint("server is missing");
  }
  if (config.insecure && !config.ca_pem.empty()) {
    return entry.complaint("insecure-skip-tls-verify and certificate-authority exclude each other");
  }
  if (config.server.find("://") == std::string::npos) {
    config.server = (config.insecure || !config.ca_pem.empty() ? "https://" : "http://") + config.server;
  }
  if (config.proxy.empty()) {
    config.proxy = http::proxy_for(config.server, environment);
  }
  return {};
}

Result<void> read_exec(EntryReader& entry, json::Value exec, Config& config) {
  json::Reader& read = entry.reader();
  ExecPlugin plugin;
  plugin.command = read.require_text(exec, "command");
  plugin.api_version = entry.text(exec, "apiVersion");
  plugin.install_hint = entry.text(exec, "installHint");
  plugin.provide_cluster_info = read.boolean(exec, "provideClusterInfo").value_or(false);
  if (const json::Value arguments = read.array(exec, "args")) {
    for (const json::NodeData& item : arguments.items()) {
      plugin.arguments.emplace_back(read.as_text(json::Value(&item), "exec.args"));
    }
  }
  if (const json::Value variables = read.array(exec, "env")) {
    for (const json::NodeData& item : variables.items()) {
      const json::Value variable = read.as_object(json::Value(&item), "exec.env");
      plugin.environment.emplace_back(read.require_text(variable, "name"), entry.text(variable, "value"));
    }
  }
  const std::string mode = entry.text(exec, "interactiveMode");
  if (!read.ok()) {
    return read.error();
  }
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1") {
    return entry.complaint(fmt::format(
        "exec.apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, not \"{}\"",
        plugin.api_version));
  }
  if (mode == "Always") {
    return entry.complaint("exec.interactiveMode is Always, but nobody is there to ask");
  }
  // A command with a slash is a path, from the kubeconfig's folder; one without is looked for on the PATH.
  if (plugin.command.find('/') != std::string::npos) {
    plugin.command = entry.from_folder(plugin.command);
  }
  config.exec = std::move(plugin);
  return {};
}

void read_impersonation(EntryReader& entry, Config& config) {
  json::Reader& read = entry.reader();
  if (const std::string user = entry.text("as"); !user.empty()) {
    config.impersonation.emplace_back("Impersonate-User", user);
  }
  if (const std::string uid = entry.text("as-uid"); !uid.empty()) {
    config.impersonation.emplace_back("Impersonate-Uid", uid);
  }
  if (const json::Value groups = read.array(entry.body(), "as-groups")) {
    for (const json::NodeData& group : groups.items()) {
      config.impersonation.emplace_back("Impersonate-Group", read.as_text(json::Value(&group), "as-groups"));
    }
  }
}

Result<void> read_certificate(EntryReader& entry, Config& config) {
  Result<std::string> certificate = entry.decoded("client-certificate");
  Result<std::string> key = entry.decoded("client-key");
  for (const Result<std::string>* part : {&certificate, &key}) {
    if (!part->has_value()) {
      return tl::unexpected<Error>(part->error());
    }
  }
  config.certificate_pem = std::move(*certificate);
  config.key_pem = std::move(*key);
  if (config.certificate_pem.empty()) {
    config.certificate_file = entry.path("client-certificate");
  }
  if (config.key_pem.empty()) {
    config.key_file = entry.path("client-key");
  }
  const bool has_certificate = !config.certificate_pem.empty() || !config.certificate_file.empty();
  const bool has_key = !config.key_pem.empty() || !config.key_file.empty();
  if (has_certificate != has_key) {
    return entry.complaint(has_key ? "client-key is given without client-certificate"
                                   : "client-certificate is given without client-key");
  }
  return {};
}

Result<void> read_user(EntryReader& entry, Config& config) {
  json::Reader& read = entry.reader();
  config.token = entry.text("token");
  config.token_file = entry.path("tokenFile");
  config.username = entry.text("username");
  config.password = entry.text("password");
  read_impersonation(entry, config);
  if (const Result<void> certificate = read_certificate(entry, config); !certificate.has_value()) {
    return certificate;
  }
  const json::Value exec = read.object(entry.body(), "exec");
  const bool provider = read.any(entry.body(), "auth-provider").present();
  if (!read.ok()) {
    return read.error();
  }
  if (provider) {
    return entry.complaint("auth-provider is no longer part of Kubernetes; use exec");
  }
  const bool has_token = !config.token.empty() || !config.token_file.empty();
  if (has_token && !config.username.empty()) {
    return entry.complaint("a token and a username exclude each other");
  }
  return exec ? read_exec(entry, exec, config) : Result<void>();
}

Result<Config> choose(const Kubeconfig& kubeconfig, const std::string& wanted, const Environment& environment) {
  const std::string& name = wanted.empty() ? kubeconfig.current_context : wanted;
  std::string files;
  for (const std::string& file : kubeconfig.files) {
    files += (files.empty() ? "" : ", ") + file;
  }
  if (name.empty()) {
    return invalid(fmt::format("{}: current-context is not set; say which one with --context", files));
  }
  const auto context = kubeconfig.contexts.find(name);
  if (context == kubeconfig.contexts.end()) {
    return fail(Errc::kNotFound, fmt::format("{}: there is no context \"{}\"", files, name));
  }
  Config config;
  config.origin = fmt::format("context \"{}\" of {}", name, context->second.file);
  EntryReader entry(context->second, fmt::format("context \"{}\"", name));
  const std::string cluster_name = entry.text("cluster");
  const std::string user_name = entry.text("user");
  const std::string name_space = entry.text("namespace");
  if (!entry.reader().ok()) {
    return entry.reader().error();
  }
  const auto cluster = kubeconfig.clusters.find(cluster_name);
  if (cluster == kubeconfig.clusters.end()) {
    return entry.complaint(fmt::format("there is no cluster \"{}\"", cluster_name));
  }
  config.default_namespace = name_space.empty() ? "default" : name_space;
  EntryReader cluster_entry(cluster->second, fmt::format("cluster \"{}\"", cluster_name));
  Result<void> read = read_cluster(cluster_entry, environment, config);
  if (read.has_value() && !user_name.empty()) {
    const auto user = kubeconfig.users.find(user_name);
    if (user == kubeconfig.users.end()) {
      return entry.complaint(fmt::format("there is no user \"{}\"", user_name));
    }
    EntryReader user_entry(user->second, fmt::format("user \"{}\"", user_name));
    read = read_user(user_entry, config);
  }
  if (!read.has_value()) {
    return tl::unexpected<Error>(read.error());
  }
  return config;
}

// The files of KUBECONFIG, or the one in the home folder.
std::vector<std::string> default_files(const Environment& environment) {
  std::vector<std::string> files;
  const std::string list = environment("KUBECONFIG").value_or("");
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) {
      files.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  const std::string home = environment("HOME").value_or("");
  if (list.empty() && !home.empty()) {
    files.push_back(home + "/.kube/config");
  }
  return files;
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<Config> load_config(const ConfigRequest& request, const Environment& environment) {
  const bool explicit_file = !request.kubeconfig.empty();
  const std::vector<std::string> files = explicit_file ? std::vector{request.kubeconfig} : default_files(environment);
  Kubeconfig kubeconfig;
  for (const std::string& file : files) {
    if (!explicit_file && !file_exists(file)) {
      continue;  // as kubectl does
    }
    Result<std::string> bytes = read_text_file(file);
    const Result<void> merged = bytes.has_value() ? merge(kubeconfig, file, std::move(*bytes))
                                                  : Result<void>(tl::unexpected<Error>(bytes.error()));
    if (!merged.has_value()) {
      return tl::unexpected<Error>(merged.error());
    }
  }
  if (!kubeconfig.files.empty()) {
    return choose(kubeconfig, request.context, environment);
  }
  if (request.context.empty() && environment("KUBERNETES_SERVICE_HOST").has_value()) {
    return in_cluster_config(environment);
  }
  std::string looked;
  for (const std::string& file : files) {
    looked += (looked.empty() ? "" : ", ") + file;
  }
  return fail(Errc::kNotFound, fmt::format("no kubeconfig was found (looked for {}), and this is no pod of a cluster",
                                           looked.empty() ? "KUBECONFIG and HOME, which are not set" : looked));
}

Result<Config> in_cluster_config(const Environment& environment, std::string_view folder) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = environment("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return fail(Errc::kNotFound, "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod");
  }
  const std::string base(folder);
  Result<std::string> authority = read_text_file(base + "/ca.crt");
  if (!authority.has_value()) {
    return fail(authority.error().code, "service account: " + authority.error().message);
  }
  Config config;
  config.origin = "the service account of this pod";
  config.server = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  config.ca_pem = std::move(*authority);
  config.token_file = base + "/token";
  config.proxy = http::proxy_for(config.server, environment);
  if (const Result<std::string> name_space = read_text_file(base + "/namespace");
      name_space.has_value() && !trimmed(*name_space).empty()) {
    config.default_namespace = trimmed(*name_space);
  }
  return config;
}

}  // namespace gantree::kube
