#include "install/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/whole_number.h"

namespace gantree {

namespace {

constexpr int kOldestMinor = 27;
// Beyond, denials are told together.
constexpr std::size_t kMostDenials = 4;
constexpr std::string_view kInstall = "gantree install (or apply deploy/gantree.yaml)";

// "v1.36.3" is 36; also "1.36+".
std::optional<int> minor_of(std::string_view version) {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  version.remove_prefix(dot + 1);
  return whole_number(version.substr(0, version.find_first_not_of("0123456789")), 0);
}

// "45s", "12m", "3h", "4d"
std::string age(std::int64_t seconds) {
  constexpr std::array<std::pair<std::int64_t, char>, 3> kUnits{{{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}}};
  for (const auto& [size, unit] : kUnits) {
    if (seconds >= 2 * size) {
      return fmt::format("{}{}", seconds / size, unit);
    }
  }
  return fmt::format("{}s", std::max<std::int64_t>(0, seconds));
}

std::int64_t seconds_of(webhook::WallTime time) {
  return time.time_since_epoch().count();
}

// Whether a Deployment looks like the scheduler of that name: koord-scheduler, kai-scheduler-default, or anything that
// is told so.
bool claims(const DeploymentFact& deployment, const std::string& name) {
  const auto& words = deployment.arguments;
  const auto is_told = [&](std::size_t i) {
    return words[i] == "--scheduler-name=" + name ||
           (words[i] == "--scheduler-name" && i + 1 < words.size() && words[i + 1] == name);
  };
  bool told = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    told = told || is_told(i);
  }
  return told || deployment.name == name || deployment.name.starts_with(name + "-");
}

const DeploymentFact* find_own(const Installation& installation, std::span<const DeploymentFact> deployments) {
  const auto own = std::find_if(deployments.begin(), deployments.end(), [&](const DeploymentFact& deployment) {
    return deployment.ns == installation.ns && deployment.name == installation.name;
  });
  return own == deployments.end() ? nullptr : &*own;
}

std::string_view plural(std::size_t count) {
  return count == 1 ? "" : "s";
}

}  // namespace

Finding check_version(std::string_view server, std::string_view version) {
  const auto minor = minor_of(version);
  if (minor && *minor < kOldestMinor) {
    return {.health = Health::kWarning,
            .check = "connection",
            .sentence = fmt::format("{} answers: Kubernetes {}, older than 1.{}", server, version, kOldestMinor),
            .advice = "upgrade the cluster: nobody has tried Gantree on it"};
  }
  return {.check = "connection", .sentence = fmt::format("{} answers: Kubernetes {}", server, version)};
}

Findings check_permissions(std::string_view who, std::span<const std::pair<Permission, bool>> allowed) {
  const std::string advice = fmt::format("grant it; the roles are part of {}", kInstall);
  Findings findings;
  std::vector<std::string> denied;
  for (const auto& [permission, may] : allowed) {
    if (!may) {
      denied.push_back(permission.title());
      findings.push_back({.health = Health::kError,
                          .check = "permissions",
                          .sentence = fmt::format("{} may not {}: {}", who, permission.title(), permission.reason),
                          .advice = advice});
    }
  }
  if (denied.size() > kMostDenials) {
    return {{.health = Health::kError,
             .check = "permissions",
             .sentence = fmt::format("{} may not do {} of the {} things that gantree run does: {}", who, denied.size(),
                                     allowed.size(), some_of(denied)),
             .advice = advice}};
  }
  if (findings.empty()) {
    findings.push_back({.check = "permissions", .sentence = fmt::format("{} may do all that gantree run does", who)});
  }
  return findings;
}

Finding check_definition(const Validator& validator, const std::optional<ServedKind>& served) {
  const std::string name =
      fmt::format("{} ({}/{})", validator.kind.kind, validator.kind.group, validator.kind.versions.front());
  if (!served) {
    return {.health = Health::kError,
            .check = "definitions",
            .sentence = fmt::format("there is no {}: such objects cannot be written", name),
            .advice = std::string(kInstall)};
  }
  if (validator.has_status && !served->status) {
    return {.health = Health::kWarning,
            .check = "definitions",
            .sentence = fmt::format("{} has no status subresource, so its status is not kept", name),
            .advice = "replace the definition by the one in deploy/crds, if no other scheduler needs it as it is"};
  }
  return {.check = "definitions", .sentence = fmt::format("{} is served", name)};
}

Findings check_nodes(std::span<const NodeFact> nodes) {
  std::vector<std::string> not_ready;
  std::vector<std::string> closed;
  for (const NodeFact& fact : nodes) {
    if (!fact.ready) {
      not_ready.push_back(fact.node.name);
    } else if (!fact.schedulable) {
      closed.push_back(fact.node.name);
    }
  }
  Findings findings;
  if (nodes.empty()) {
    return {{.health = Health::kError, .check = "nodes", .sentence = "there is no node", .advice = "add some"}};
  }
  if (!not_ready.empty()) {
    findings.push_back({.health = Health::kWarning,
                        .check = "nodes",
                        .sentence = fmt::format("{} of {} nodes are not ready: {}", not_ready.size(), nodes.size(),
                                                some_of(not_ready)),
                        .advice = "nothing is placed on them until they are: kubectl describe node NAME"});
  }
  if (!closed.empty()) {
    findings.push_back(
        {.health = Health::kWarning,
         .check = "nodes",
         .sentence = fmt::format("{} of {} nodes are cordoned: {}", closed.size(), nodes.size(), some_of(closed)),
         .advice = "kubectl uncordon NAME where that is no longer wanted"});
  }
  if (findings.empty()) {
    findings.push_back({.check = "nodes",
                        .sentence = fmt::format("{} node{}, all ready and open", nodes.size(), plural(nodes.size()))});
  }
  return findings;
}

Findings check_schedulers(const Installation& installation, const std::vector<std::string>& names,
                          std::span<const DeploymentFact> deployments) {
  Findings findings;
  for (const DeploymentFact& deployment : deployments) {
    const bool own = deployment.ns == installation.ns && deployment.name == installation.name;
    const auto claimed =
        std::find_if(names.begin(), names.end(), [&](const std::string& name) { return claims(deployment, name); });
    if (own || deployment.available == 0 || claimed == names.end()) {
      continue;
    }
    findings.push_back({.health = Health::kError,
                        .check = "schedulers",
                        .sentence = fmt::format("Deployment \"{}/{}\" runs and serves schedulerName {} too: two "
                                                "schedulers would give the same room away",
                                                deployment.ns, deployment.name, *claimed),
                        .advice = fmt::format("scale it to 0, or take {} out of --scheduler-names", *claimed)});
  }
  if (findings.empty()) {
    findings.push_back({.check = "schedulers",
                        .sentence = fmt::format("no other scheduler runs that serves {}", fmt::join(names, ", "))});
  }
  return findings;
}

WebhookMode webhook_mode(const Installation& installation, std::span<const DeploymentFact> deployments) {
  const DeploymentFact* const own = find_own(installation, deployments);
  const auto has = [&](std::string_view flag) {
    return std::any_of(own->arguments.begin(), own->arguments.end(),
                       [&](const std::string& argument) { return argument.starts_with(flag); });
  };
  if (own == nullptr) {
    return WebhookMode::kOwnCertificate;
  }
  if (!has("--webhook-listen")) {
    return WebhookMode::kOff;
  }
  return has("--webhook-cert-dir") ? WebhookMode::kGivenCertificate : WebhookMode::kOwnCertificate;
}

Finding check_installed(const Installation& installation, std::span<const DeploymentFact> deployments) {
  const DeploymentFact* const own = find_own(installation, deployments);
  if (own == nullptr) {
    return {.health = Health::kWarning,
            .check = "installed",
            .sentence = fmt::format("there is no Deployment \"{}/{}\"", installation.ns, installation.name),
            .advice = fmt::format("{}; or tell --namespace, where it is elsewhere", kInstall)};
  }
  const std::string state = fmt::format("{} of {} replicas of Deployment \"{}/{}\" are available", own->available,
                                        own->wanted, own->ns, own->name);
  if (own->available < own->wanted || own->wanted == 0) {
    return {.health = own->available == 0 ? Health::kError : Health::kWarning,
            .check = "installed",
            .sentence = state,
            .advice = fmt::format("kubectl describe pods -n {} -l app.kubernetes.io/name=gantree", installation.ns)};
  }
  return {.check = "installed", .sentence = state};
}

bool is_embedded(std::string_view version) {
  return version.ends_with("+gantree");
}

Finding check_embedded(bool schedules) {
  if (!schedules) {
    return {.health = Health::kWarning,
            .check = "installed",
            .sentence = "this is a cluster of gantree up --no-scheduler, and no Deployment of Gantree is there",
            .advice = "gantree up without --no-scheduler, or gantree run beside it"};
  }
  return {.check = "installed",
          .sentence = "this is a cluster of gantree up: Gantree runs in its process, without Deployment and lease"};
}

Finding check_lease(const Installation& installation, const std::optional<LeaseFact>& lease, webhook::WallTime now) {
  const std::string name = fmt::format("Lease \"{}/{}\"", installation.ns, installation.name);
  const std::string advice = fmt::format("kubectl logs -n {} deployment/{}", installation.ns, installation.name);
  if (!lease || lease->holder.empty()) {
    return {.health = Health::kError,
            .check = "lease",
            .sentence = fmt::format("{} {}: no replica of Gantree is at work", name,
                                    lease ? "is held by nobody" : "is not there"),
            .advice = advice};
  }
  const std::int64_t since = seconds_of(now) - lease->renewed_seconds;
  if (since > lease->duration_seconds) {
    return {.health = Health::kError,
            .check = "lease",
            .sentence = fmt::format("{} was last renewed {} ago by {}: no replica of Gantree is at work", name,
                                    age(since), lease->holder),
            .advice = advice};
  }
  return {.check = "lease",
          .sentence = fmt::format("{} leads, and renewed its lease {} ago", lease->holder, age(since))};
}

Finding check_waiting(const std::vector<std::string>& names, std::span<const WaitingPod> pods, webhook::WallTime now) {
  if (pods.empty()) {
    return {.check = "pods", .sentence = fmt::format("no pod waits for {}", fmt::join(names, ", "))};
  }
  const WaitingPod& oldest = *std::min_element(pods.begin(), pods.end(), [](const WaitingPod& a, const WaitingPod& b) {
    return std::tie(a.created_seconds, a.ns, a.name) < std::tie(b.created_seconds, b.ns, b.name);
  });
  const bool told = !oldest.message.empty();
  return {.health = Health::kWarning,
          .check = "pods",
          .sentence = fmt::format("{} pod{} wait{}; {}/{} for {}: {}", pods.size(), plural(pods.size()),
                                  pods.size() == 1 ? "s" : "", oldest.ns, oldest.name,
                                  age(seconds_of(now) - oldest.created_seconds),
                                  told ? oldest.message : "nobody has looked at it yet"),
          .advice = told
                        ? "save the cluster with kubectl get -o yaml, and ask gantree explain"
                        : fmt::format("is Gantree at work, and \"{}\" among its --scheduler-names?", oldest.scheduler)};
}

}  // namespace gantree
