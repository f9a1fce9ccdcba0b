// What has to be true when all is calm, and when nothing is left.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

bool holds(const Tree& workload, std::string_view type) {
  const Tree* conditions = workload.find({"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->items.begin(), conditions->items.end(), [&](const Tree& one) {
           return one.str({"type"}) == type && one.str({"status"}) == "True";
         });
}

// Telling somebody something else is no decision.
bool decides(const Order& order, const FakeServer& server) {
  const Write& write = order.write;
  if (write.verb != WriteVerb::kPatchStatus) {
    return true;
  }
  const Tree body = Tree::parse(write.body);
  const Stored* object = server.find(FakeServer::key(write.object.kind, write.object.ns, write.object.name));
  if (write.object.kind != "Workload" || object == nullptr) {
    return write.object.kind == "Job";
  }
  const Tree* status = body.find({"status"});
  // Whoever gave way takes nothing by share for a while, which only the one knows that was there.
  const bool by_share = write.body.find("by fair shares") != std::string::npos;
  const bool evicts = holds(body, "Evicted") && !holds(object->tree, "Evicted") && !by_share;
  const bool ends = holds(body, "Finished") && !holds(object->tree, "Finished");
  return status->members.contains("admission") || evicts || ends;
}

}  // namespace

void World::check_calm() {
  check_always();
  check_jobs_when_calm();
  check_groups_when_calm();
  check_nothing_is_left_to_do();
}

void World::check_jobs_when_calm() {
  std::map<std::string, const Stored*> workloads;  // by owner
  for (const Stored* workload : server_.all("Workload")) {
    workloads.emplace(workload->tree.find({"metadata", "ownerReferences"})->items.front().str({"uid"}), workload);
  }
  std::set<std::string> started;
  for (const Stored* job : server_.all("Job")) {
    const bool over = job->tree.find({"status", "conditions"}) != nullptr;
    const bool suspended = job->tree.flag({"spec", "suspend"});
    const auto found = workloads.find(job->uid());
    if (found == workloads.end()) {
      // Somebody started it before it had one, and a restart later it looks like what ran before anybody came.
      const bool runs_by_hand = !suspended && disturbed_;
      if (!over && !runs_by_hand) {
        fault(fmt::format("{} has no workload", job->name));
      }
      continue;
    }
    const Tree& workload = found->second->tree;
    const bool admitted = workload.find({"status", "admission"}) != nullptr && holds(workload, "Admitted");
    if (over) {
      if (!holds(workload, "Finished")) {
        fault(fmt::format("{} is over, its workload is not", job->name));
      }
      continue;
    }
    if (admitted && workload.str({"spec", "active"}) == "false") {
      fault(fmt::format("{} is not active and still admitted", found->second->name));
    }
    if (admitted == suspended) {
      fault(fmt::format("{} is {}, its workload is {}", job->name, suspended ? "suspended" : "started",
                        admitted ? "admitted" : "not admitted"));
    }
    if (admitted) {
      started.insert(job->uid());
    }
  }
  for (const Stored* pod : server_.all("Pod")) {
    const Tree* annotations = pod->tree.find({"metadata", "annotations"});
    const bool told = annotations != nullptr && annotations->members.contains("kueue.x-k8s.io/workload");
    const Tree* owners = pod->tree.find({"metadata", "ownerReferences"});
    if (!told && owners != nullptr && started.contains(owners->items.front().str({"uid"}))) {
      fault(fmt::format("pod {} was never told where to go", pod->name));
    }
  }
  // Below the host only kube-scheduler knows where pods go, and whether they fit together.
  for (const Stored* pod : by_host_&& topology_everywhere_ ? server_.all("Pod") : std::vector<const Stored*>()) {
    const Tree* owners = pod->tree.find({"metadata", "ownerReferences"});
    const std::string owner = owners == nullptr ? std::string() : owners->items.front().str({"uid"});
    const bool over =
        pod->tree.str({"status", "phase"}) == "Succeeded" || pod->tree.str({"status", "phase"}) == "Failed";
    if (started.contains(owner) && !over && pod->tree.str({"spec", "nodeName"}).empty()) {
      fault(fmt::format("pod {} is not bound: {}", pod->name, pod->tree.to_json()));
    }
  }
}

// Somebody who knows nothing but what is in the API has nothing to decide either: whoever waits would not fit.
void World::check_nothing_is_left_to_do() {
  Process other(ready_, shares_);
  FakeServer copy = server_;
  copy.list_all_again();
  while (copy.has_events()) {
    other.take(copy.next_event(random_), now_);
  }
  for (const Order& order : other.step(now_)) {
    if (decides(order, server_)) {
      fault(fmt::format("left undone: verb {} {} {} {}", static_cast<int>(order.write.verb), order.write.object.kind,
                        order.write.object.name, order.write.body));
    }
  }
}

void World::check_empty() {
  for (const std::string_view kind : {"Job", "Workload", "Pod"}) {
    if (!server_.all(kind).empty()) {
      fault(fmt::format("a {} is left: {}", kind, server_.all(kind).front()->name));
    }
  }
  if (!process_->controller().workloads().empty()) {
    fault(fmt::format("{} is remembered", process_->controller().workloads().begin()->first));
  }
  const Quota& quota = process_->controller().quota();
  for (std::uint32_t i = 0; i < quota.size(); ++i) {
    if (quota.cell(QuotaId{i}).used != 0) {
      fault(fmt::format("{} of {} is in use", quota.cell(QuotaId{i}).used, quota.cell(QuotaId{i}).queue));
    }
  }
  Cluster& cluster = process_->cluster();
  if (cluster.pods() != 0) {
    fault(fmt::format("{} pods are booked", cluster.pods()));
  }
  const Inventory& inventory = cluster.inventory();
  const auto gpu = inventory.resources().find("nvidia.com/gpu");
  for (std::uint32_t i = 0; gpu && i < inventory.size(); ++i) {
    if (inventory.alive(NodeId{i}) && inventory.free(NodeId{i}, *gpu) != inventory.allocatable(NodeId{i}, *gpu)) {
      fault(fmt::format("room is taken on {}", inventory.node(NodeId{i}).name));
    }
  }
}

}  // namespace gantree::test
