// Which API server, and as whom: kubeconfig files as kubectl reads them, or the service account of the pod we run in.
//
// Errors are one sentence that names the file and the entry.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gantree::kube {

// A variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;
[[nodiscard]] Environment process_environment();

// A command that prints an ExecCredential.
struct ExecPlugin {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct Config {
  std::string origin;  // "context \"prod\" of ~/.kube/config" or "the service account of this pod"; for messages
  std::string server;  // without a slash at the end
  std::string default_namespace = "default";

  std::string ca_pem;
  std::string server_name;
  bool insecure = false;
  bool compressed = true;
  std::string proxy;  // empty: none

  // Who we are: a token, a name with its password, a plugin, a client certificate; maybe nothing.
  std::string token;
  std::string token_file;  // goes before the token, while it can be read; read again when it changes
  std::string username;
  std::string password;
  std::optional<ExecPlugin> exec;
  std::string certificate_pem;
  std::string key_pem;
  std::string certificate_file;  // in place of the PEM; read again when it changes
  std::string key_file;
  // Whom to act for: headers of every request.
  std::vector<std::pair<std::string, std::string>> impersonation;
};

struct ConfigRequest {
  std::string kubeconfig;  // --kubeconfig: this file and no other; empty: KUBECONFIG, else ~/.kube/config
  std::string context;     // --context; empty: current-context
};

// Where neither --kubeconfig nor --context nor KUBECONFIG is given and there is no ~/.kube/config, takes the service
// account of the pod.
[[nodiscard]] Result<Config> load_config(const ConfigRequest& request, const Environment& environment);

// The pod's service account, whose files are below `folder`.
inline constexpr std::string_view kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
[[nodiscard]] Result<Config> in_cluster_config(const Environment& environment,
                                               std::string_view folder = kServiceAccountFolder);

}  // namespace gantree::kube
