#include "kueue/pod_releaser.h"

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "json/copy.h"
#include "kueue/flavors.h"
#include "kueue/queue_membership.h"
#include "live/notices.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

json::Out without_gates(std::initializer_list<std::string_view> names) {
  json::Out gates = json::Out::array();
  for (const std::string_view name : names) {
    gates.push(std::move(json::Out::object().add("$patch", "delete").add("name", name)));
  }
  return gates;
}

}  // namespace

void PodReleaser::release_set(const Entry& entry, const SetAssignment& set, const std::vector<std::string>& members,
                              Step& step) {
  int left = set.count;
  for (const std::string& key : members) {
    left -= !ledger_.pods.at(key).held || ledger_.pods.at(key).asked ? 1 : 0;
  }
  for (const std::string& key : members) {
    if (left > 0 && ledger_.pods.at(key).held && !ledger_.pods.at(key).asked) {
      --left;
      release(key, entry, set, nullptr, step);
    }
  }
}

// All that the pod is to have in one write: there is no moment at which it is half released.
void PodReleaser::release(const std::string& key, const Entry& entry, const SetAssignment& set,
                          const AssignedDomain* domain, Step& step) {
  StartedPod& pod = ledger_.pods.at(key);
  const PodGroup* group = ledger_.groups.group_of_pod(key);
  const auto parsed = group == nullptr ? tl::unexpected(Error{}) : parse(group->pods.at(key).text);
  if (!parsed) {
    return;
  }
  pod.asked = true;
  ledger_.releasing[pod.workload].insert(key);
  SetStart start;
  add_flavors(ledger_.admin, set, start);
  json::Out selector = json::Out::object();
  for (const auto& [label, value] : start.node_selector) {
    const bool by_domain = domain != nullptr && std::find(set.topology->levels.begin(), set.topology->levels.end(),
                                                          label) != set.topology->levels.end();
    if (!pod.selector.contains(label) && !by_domain) {
      selector.add(label, value);
    }
  }
  for (std::size_t level = 0; domain != nullptr && level < set.topology->levels.size(); ++level) {
    selector.add(set.topology->levels[level], domain->values[level]);
  }
  json::Out spec = json::Out::object();
  spec.add("nodeSelector", std::move(selector));
  if (!start.tolerations.empty()) {  // the list is replaced as a whole
    const json::Value own = parsed->object.value["spec"]["tolerations"];
    json::Out tolerations = own && own.kind() == json::Kind::kArray ? json::copy(own) : json::Out::array();
    for (json::Out& one : start.tolerations) {
      tolerations.push(std::move(one));
    }
    spec.add("tolerations", std::move(tolerations));
  }
  spec.add("schedulingGates", without_gates({kAdmissionGate, kTopologyGate}));
  json::Out metadata = json::Out::object();
  metadata.add("uid", pod.uid);
  start.name = set.name;
  start.local_queue = local_queue_of(entry);
  start.cluster_queue = entry.object.admission->cluster_queue;
  json::Out labels = json::Out::object();
  for (const auto& [label, value] : labels_of(start)) {
    labels.add(label, value);
  }
  metadata.add("labels", std::move(labels));
  metadata.add("annotations", std::move(json::Out::object().add(kWorkloadAnnotation, entry.object.ref.name)));
  json::Out body = json::Out::object();
  body.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  outbox_.order(step, Urgency::kBinding,
                {.verb = WriteVerb::kPatch, .object = pod_ref(key, pod.uid), .node = {}, .body = body.to_json(false)},
                {.pod = key});
}

}  // namespace gantree::kueue
