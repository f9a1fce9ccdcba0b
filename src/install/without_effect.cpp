#include "install/unsupported_jobs.h"

#include <string>
#include <vector>

#include "dialects/kueue/names.h"
#include "install/checks.h"
#include "kube/blocking.h"

namespace gantree {

namespace {

struct OtherKind {
  const char* group;
  const char* version;
  const char* plural;
  const char* kind;
};

constexpr OtherKind kOthers[] = {
    {"trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob"},
    {"kubeflow.org", "v1", "mpijobs", "MPIJob"},  // of the training operator
    {"workload.codeflare.dev", "v1beta2", "appwrappers", "AppWrapper"},
    {"sparkoperator.k8s.io", "v1beta2", "sparkapplications", "SparkApplication"},
};

}  // namespace

Findings find_unsupported_jobs(kube::Client& client) {
  Findings findings;
  for (const OtherKind& other : kOthers) {
    const kube::Resource resource{
        .group = other.group, .version = other.version, .plural = other.plural, .kind = other.kind, .namespaced = true};
    kube::ListOptions page;
    page.label_selector = std::string(kueue::kQueueName);
    const kube::Reply reply =
        kube::wait_for([&](kube::Client::Done done) { client.list_page(resource, "", page, std::move(done)); });
    std::vector<std::string> names;
    if (!reply.ok() || !read_names(reply.body, names)) {
      continue;
    }
    if (auto finding = check_unsupported(resource.api_version() + " " + resource.kind, names)) {
      findings.push_back(std::move(*finding));
    }
  }
  return findings;
}

}  // namespace gantree
