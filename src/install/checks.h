// Facts to findings: what is well with a cluster, what is not, and what to do about it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dialects/admission.h"
#include "install/facts.h"
#include "install/finding.h"
#include "install/permissions.h"
#include "webhook/certificate_keeper.h"

namespace gantree {

[[nodiscard]] Finding check_version(std::string_view server, std::string_view version);

// `who` may do what `allowed` says.
[[nodiscard]] Findings check_permissions(std::string_view who, std::span<const std::pair<Permission, bool>> allowed);

// Nothing served where there is no such kind in the version that is read.
[[nodiscard]] Finding check_definition(const Validator& validator, const std::optional<ServedKind>& served);

[[nodiscard]] Findings check_nodes(std::span<const NodeFact> nodes);

// The topology of the cluster as it was listed. `invalid`: why it is of no use. `for_queues`: there is another, of
// Kueue's kind.
[[nodiscard]] Findings check_topology(const std::optional<koordinator::NetworkTopology>& network,
                                      const std::optional<std::string>& invalid, std::span<const NodeFact> nodes,
                                      bool for_queues = false);

// Whether the nodes of flavors have the labels of the flavors' topologies.
[[nodiscard]] Findings check_levels(std::span<const LevelsFact> topologies, std::span<const FlavorFact> flavors,
                                    std::span<const NodeFact> nodes);

// Whether ClusterQueues admit anything.
[[nodiscard]] Findings check_queues(std::span<const QueueFact> queues);

// Others that serve the same names, by what they are called or by their arguments; and Gantree itself.
[[nodiscard]] Findings check_schedulers(const Installation& installation, const std::vector<std::string>& names,
                                        std::span<const DeploymentFact> deployments);

// What the arguments of Gantree's own Deployment say of its webhook; as by default where there is none.
enum class WebhookMode : std::uint8_t { kOff, kOwnCertificate, kGivenCertificate };
[[nodiscard]] WebhookMode webhook_mode(const Installation& installation, std::span<const DeploymentFact> deployments);

[[nodiscard]] Finding check_installed(const Installation& installation, std::span<const DeploymentFact> deployments);

// Whether the scheduler runs in the process of the embedded cluster itself.
[[nodiscard]] bool is_embedded(std::string_view version);
[[nodiscard]] Finding check_embedded(bool schedules);

// Nothing where there is no such lease.
[[nodiscard]] Finding check_lease(const Installation& installation, const std::optional<LeaseFact>& lease,
                                  webhook::WallTime now);

// Nothing where there is no such configuration.
[[nodiscard]] Findings check_webhook(const webhook::ConfigurationName& name,
                                     const std::optional<std::vector<WebhookFact>>& webhooks, webhook::WallTime now);

// Whether somebody answers: so many pods are ready behind the webhook's Service.
[[nodiscard]] Findings check_answering(const Installation& installation, std::size_t endpoints);

// Nothing where the certificate of the authority is good and lasts.
[[nodiscard]] std::optional<Finding> check_bundle(const WebhookFact& webhook, webhook::WallTime now);

// Whether Kueue itself does what Gantree would do for it.
[[nodiscard]] Finding check_neighbour(const kueue::Neighbour& neighbour);
// The same of KAI-Scheduler.
[[nodiscard]] Finding check_neighbour(const kai::Neighbour& neighbour);

// Jobs of a kind that Gantree does not start, and that carry the label of a queue. Nothing where there are none.
[[nodiscard]] std::optional<Finding> check_unsupported(std::string_view kind, const std::vector<std::string>& names);

// Objects of a kind that is not looked at at all. Nothing where there are none.
[[nodiscard]] std::optional<Finding> check_ignored(std::string_view kind, const std::vector<std::string>& names);

// Whether objects of one definition (by its name) keep all they say in either version. Nothing where that is well.
[[nodiscard]] std::optional<Finding> check_conversion(const Installation& installation, std::string_view definition,
                                                      const ConversionFact& conversion, webhook::WallTime now);

[[nodiscard]] Finding check_waiting(const std::vector<std::string>& names, std::span<const WaitingPod> pods,
                                    webhook::WallTime now);

}  // namespace gantree
