#include <fmt/format.h>

#include "install/checks.h"

namespace gantree {

Finding check_neighbour(const kueue::Neighbour& neighbour) {
  if (const auto runs = neighbour.kueue_runs()) {
    return {.health = Health::kWarning,
            .check = "kueue",
            .sentence = *runs,
            .advice = "take Kueue out to have Gantree admit its workloads; or switch off webhook.jobs in the chart"};
  }
  return {.check = "kueue", .sentence = "Kueue itself is not installed, so Gantree admits the workloads of its queues"};
}

std::optional<Finding> check_conversion(const Installation& installation, std::string_view definition,
                                        const ConversionFact& conversion, webhook::WallTime now) {
  if (!conversion.webhook) {
    return Finding{.health = Health::kWarning,
                   .check = "webhook",
                   .sentence = fmt::format("objects of {} are not converted: what they say in v1beta1 alone gets lost",
                                           definition),
                   .advice = "install the definitions that come with the chart or with gantree install"};
  }
  const std::string ours = fmt::format("{}/{}", installation.ns, installation.webhook());
  if (!conversion.service.empty() && conversion.service != ours) {
    return Finding{.health = Health::kWarning,
                   .check = "webhook",
                   .sentence = fmt::format("objects of {} are converted by Service \"{}\", not by Gantree", definition,
                                           conversion.service),
                   .advice =
                       "where that is no longer there, replace the definition: kubectl apply --server-side "
                       "--force-conflicts -f deploy/gantree.yaml"};
  }
  return check_bundle({.name = fmt::format("conversion of {}", definition), .bundle = conversion.bundle}, now);
}

}  // namespace gantree
