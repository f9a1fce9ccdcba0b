#include "install/without_effect.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "install/checks.h"
#include "kube/blocking.h"

namespace gantree {

namespace {

struct OtherKind {
  std::string_view group;
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;
};

constexpr OtherKind kJobs[] = {
    {"trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob"},
    {"kubeflow.org", "v1", "mpijobs", "MPIJob"},  // of the training operator
    {"workload.codeflare.dev", "v1beta2", "appwrappers", "AppWrapper"},
    {"sparkoperator.k8s.io", "v1beta2", "sparkapplications", "SparkApplication"},
};

constexpr OtherKind kIgnored[] = {
    {koordinator::kSchedulingGroup, "v1alpha1", "reservations", "Reservation", false},
    {koordinator::kPodGroupGroup, "v1alpha1", "elasticquotas", "ElasticQuota"},
};

// The names of the first page.
std::vector<std::string> names_of(kube::Client& client, const kube::Resource& resource, std::string labels) {
  kube::ListOptions page;
  page.label_selector = std::move(labels);
  const kube::Reply reply =
      kube::wait_for([&](kube::Client::Done done) { client.list_page(resource, "", page, std::move(done)); });
  std::vector<std::string> names;
  return reply.ok() && read_names(reply.body, names) ? names : std::vector<std::string>();
}

kube::Resource resource_of(const OtherKind& other) {
  return {.group = std::string(other.group),
          .version = std::string(other.version),
          .plural = std::string(other.plural),
          .kind = std::string(other.kind),
          .namespaced = other.namespaced};
}

}  // namespace

Findings find_without_effect(kube::Client& client) {
  Findings findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) {
      findings.push_back(std::move(*finding));
    }
  };
  for (const OtherKind& other : kJobs) {
    const kube::Resource resource = resource_of(other);
    add(check_unsupported(resource.api_version() + " " + resource.kind,
                          names_of(client, resource, std::string(kueue::kQueueName))));
  }
  for (const OtherKind& other : kIgnored) {
    const kube::Resource resource = resource_of(other);
    add(check_ignored(resource.api_version() + " " + resource.kind, names_of(client, resource, "")));
  }
  return findings;
}

}  // namespace gantree
