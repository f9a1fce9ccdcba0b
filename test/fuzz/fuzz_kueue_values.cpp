// Any text in the places of a Job where users write text of their own: labels,
// annotations, times, quantities. Malformed values are refused, wrong ones
// reject the job, and none of it crashes.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cycle/cycle.h"
#include "dialects/dialects.h"
#include "json/read.h"
#include "json/write.h"

namespace {

using namespace gantree;
using json::Out;

constexpr std::string_view kCluster = R"({"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": [
 {"nodeLabel": "b"}, {"nodeLabel": "r"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"},
 "spec": {"nodeLabels": {"b": "1"}, "topologyName": "t"}},
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "c"}, "spec": {"resourceGroups": [
 {"coveredResources": ["gpu"], "flavors": [{"name": "f", "resources": [{"name": "gpu", "nominalQuota": 9}]}]}]}},
{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "q"}, "spec": {"clusterQueue": "c"}},
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"b": "1", "r": "1"}},
 "status": {"allocatable": {"gpu": 8, "pods": 9}}},
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": {"b": "1", "r": "2"}},
 "status": {"allocatable": {"gpu": 4, "pods": 9}}}]})";

// The lines of the input, one after the other; "" when they have run out.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  // Adds a member of the next line's text, unless that is empty.
  void fill(Out& object, std::string_view key) {
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    if (end > 0) {
      object.add(key, text_.substr(0, end));
    }
    text_.remove_prefix(std::min(end + 1, text_.size()));
  }

 private:
  std::string_view text_;
};

constexpr std::array<std::string_view, 8> kAnnotations = {
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-slice-required-topology-constraints",
    "kueue.x-k8s.io/podset-slice-required-topology",
    "kueue.x-k8s.io/podset-slice-size",
    "kueue.x-k8s.io/podset-unconstrained-topology",
    "kueue.x-k8s.io/podset-group-name",
    "gantree.dev/placement",
};

std::string job(std::string_view text) {
  Lines lines(text);
  Out annotations = Out::object();
  for (const std::string_view annotation : kAnnotations) {
    lines.fill(annotations, annotation);
  }
  Out requests = Out::object();
  lines.fill(requests, "gpu");
  Out on_job = Out::object();
  lines.fill(on_job, "kueue.x-k8s.io/job-min-parallelism");
  Out metadata = Out::object().add("name", "j").add("labels", Out::object().add("kueue.x-k8s.io/queue-name", "q"));
  lines.fill(metadata, "creationTimestamp");
  metadata.add("annotations", on_job);
  Out container = Out::object().add("resources", Out::object().add("requests", requests));
  Out pod = Out::object().add("containers", Out::array().push(container));
  Out pod_template = Out::object().add("metadata", Out::object().add("annotations", annotations)).add("spec", pod);
  Out spec = Out::object().add("parallelism", 6).add("template", pod_template);
  return Out::object()
      .add("apiVersion", "batch/v1")
      .add("kind", "Job")
      .add("metadata", metadata)
      .add("spec", spec)
      .to_json(false);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(kCluster);
  text += "\n";
  text += job({reinterpret_cast<const char*>(data), size});
  const auto documents = json::read_documents("f", text);
  GANTREE_CHECK(documents.has_value());
  Cluster cluster;
  Quota quota;
  auto reading = take_in(*documents, {}, cluster, quota);
  if (!reading) {
    GANTREE_CHECK(reading.error().message.starts_with("f:"));
    return 0;
  }
  const std::vector<Decision> decisions = run_cycle(cluster, quota, std::move(reading->queue)).decisions;
  GANTREE_CHECK(decisions.size() == 1);
  return 0;
}
