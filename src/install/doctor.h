// Asks a cluster all that `gantree doctor` looks at.
//
// Blocks on the calling thread, which must not be the transport's.
#pragma once

#include <string>
#include <vector>

#include "dialects/live.h"
#include "install/finding.h"
#include "install/permissions.h"
#include "kube/client.h"
#include "webhook/certificate.h"

namespace gantree {

struct DoctorOptions {
  Installation installation;
  std::string server;  // for messages
  std::vector<std::string> schedulers = default_schedulers();
  bool as_self = false;  // check the rights of whoever asks, not of Gantree's service account
};

// Goes on where a question is refused, with a finding that says so; ends early where nobody answers.
[[nodiscard]] Findings examine(kube::Client& client, const DoctorOptions& options, webhook::WallTime now);

}  // namespace gantree
