// What an exec plugin is told and what it answers (client.authentication.k8s.io).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/timestamp.h"
#include "http/client.h"
#include "kube/config.h"

namespace gantree::kube {

struct ExecCredential {
  http::Credential credential;
  std::optional<WallTime> expires;
};

// The value of KUBERNETES_EXEC_INFO. Requires config.exec.
[[nodiscard]] std::string exec_info(const Config& config);

// The plugin's answer. `plugin` is named in errors.
[[nodiscard]] Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string output);

}  // namespace gantree::kube
