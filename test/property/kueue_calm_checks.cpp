// What has to be true when all is calm, and when nothing is left.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

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
  is_calm_ = true;
  check_always();
  is_calm_ = false;
  check_jobs_when_calm();
  check_groups_when_calm();
  check_gangs_when_calm();
  check_stand_by();
  check_nothing_is_left_to_do();
}

void World::check_jobs_when_calm() {
  std::map<std::string, const Stored*> workloads;  // by owner
  for (const Stored* workload : server_.all("Workload")) {
    workloads.emplace(owner_of(workload->tree), workload);
    const Tree* admission = workload->tree.find({"status", "admission"});
    if (admission == nullptr || holds(workload->tree, "Finished")) {
      continue;
    }
    const auto number = static_cast<std::size_t>(std::stoi(admission->str({"clusterQueue"}).substr(1)));
    const QueueSetup& queue = setup_.queues[number];
    if (queue.stop == "HoldAndDrain" || queue.local_stop == "HoldAndDrain") {
      fault(fmt::format("{} is admitted by a queue that is to be empty", workload->name));
    }
  }
  std::set<std::string> started;
  for (const Stored* job : all_jobs()) {
    const bool over = job->tree.find({"status", "conditions"}) != nullptr;
    const bool suspended = job->tree.flag({"spec", "suspend"});
    const auto found = workloads.find(job->uid());
    if (found == workloads.end()) {
      // Somebody started it before it had one, and a restart later it looks like what ran before anybody came.
      const bool runs_by_hand = !suspended && disturbed_.contains(job->uid());
      if (!over && !runs_by_hand) {
        fault(fmt::format("{} has no workload", job->name));
      }
      continue;
    }
    if (over) {
      if (!holds(found->second->tree, "Finished")) {
        fault(fmt::format("{} is over, its workload is not", job->name));
      }
      continue;
    }
    check_job_when_calm(*job, *found->second);
    if (found->second->tree.find({"status", "admission"}) != nullptr) {
      started.insert(job->uid());
    }
  }
  check_pods_when_calm(started);
}

// Pods of a JobSet that are over are given back with the job of theirs, when that is over.
int World::kept_by_a_part(const Stored& job, const Part& part) const {
  std::map<int, int> over;
  for (const Seat& seat : job.kind == "JobSet" ? jobs_.done(job.uid()) : std::set<Seat>()) {
    over[seat.job] += seat.part == part.name ? 1 : 0;
  }
  int kept = 0;
  for (const auto& [replica, pods] : over) {
    kept += pods < part.completions ? pods : 0;
  }
  return kept;
}

void World::check_job_when_calm(const Stored& job, const Stored& stored) {
  const Tree& workload = stored.tree;
  const bool suspended = job.tree.flag({"spec", "suspend"});
  const bool admitted = workload.find({"status", "admission"}) != nullptr && holds(workload, "Admitted");
  if (admitted && workload.str({"spec", "active"}) == "false") {
    fault(fmt::format("{} is not active and still admitted", stored.name));
  }
  if (admitted == suspended) {
    fault(fmt::format("{} is {}, its workload is {}", job.name, suspended ? "suspended" : "started",
                      admitted ? "admitted" : "not admitted"));
  }
  if (!admitted) {
    return;
  }
  // All that it was given, or all that it still needs.
  for (const Part& part : parts_of(job)) {
    int pods = 0;
    for (const Stored* pod : pods_of(job.uid())) {
      pods += seat_of(pod->tree).part == part.name && !is_over(pod->tree) && !is_going(pod->tree) ? 1 : 0;
    }
    pods += kept_by_a_part(job, part);
    const Tree* set = set_in(*workload.find({"status", "admission"}), part.name);
    const int given = set == nullptr ? 0 : pods_left(workload, *set);
    if (pods != given) {
      fault(fmt::format("{} has {} pods of {}, and is accounted for with {}", job.name, pods, part.name, given));
    }
  }
  check_ranks_when_calm(job, workload);
}

// Ranks of one slice are in one domain.
void World::check_ranks_when_calm(const Stored& job, const Tree& workload) {
  for (const Tree& request : workload.find({"spec", "podSets"})->items) {
    const std::string level = request.str({"topologyRequest", "podSetSliceRequiredTopology"});
    const int size = request.num({"topologyRequest", "podSetSliceSize"}, 1);
    std::map<int, std::string> slices;
    for (const Stored* pod : level.empty() ? std::vector<const Stored*>() : pods_of(job.uid())) {
      const Seat seat = seat_of(pod->tree);
      const auto node = nodes_.find(pod->tree.str({"spec", "nodeName"}));
      const auto parts = parts_of(job);
      const auto part =
          std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.name == seat.part; });
      const int rank = seat.job * part->parallelism + seat.index;
      if (seat.part != request.str({"name"}) || is_over(pod->tree) || is_going(pod->tree) || is_rider(*pod) ||
          node == nodes_.end() || part->parallelism < part->completions || rank >= request.num({"count"}, 1)) {
        continue;
      }
      const std::string& domain = node->second.labels.at(level);
      const auto [it, first] = slices.emplace(rank / size, domain);
      if (it->second != domain) {
        fault(fmt::format("rank {} of {} is in {}, others of its slice in {}", rank, job.name, domain, it->second));
      }
    }
  }
}

void World::check_pods_when_calm(const std::set<std::string>& started) {
  for (const Stored* pod : server_.all("Pod")) {
    if (is_over(pod->tree) || is_going(pod->tree) || !started.contains(owner_of(pod->tree))) {
      continue;
    }
    // What its user started in the moment in which it was given quota alone looks after a restart like what ran before
    // anybody came, and goes on.
    const bool goes_on = !topology_everywhere_ && disturbed_.contains(owner_of(pod->tree));
    if (workload_of(pod->tree).empty() && !goes_on) {
      fault(fmt::format("pod {} was never told where to go", pod->name));
    }
    if (is_rider(*pod)) {
      continue;
    }
    const std::string key = FakeServer::key("Workload", pod->ns, workload_of(pod->tree));
    if (!is_gated(pod->tree) && !place_of(*pod, given_.at(key).size() - 1)) {
      fault(fmt::format("pod {} is outside of the assignment in force", pod->name));
    }
    // In a domain of several hosts only kube-scheduler knows where pods go, and whether they fit together.
    if (!by_host_) {
      continue;
    }
    const auto host = nodes_.find(pod->tree.str({"spec", "nodeSelector", kHostLabel}));
    const bool crowded = host != nodes_.end() && crowded_.contains(host->first);
    // A queue that is stopped evicts nobody whose host is lost, though there is no other.
    const std::string queue = given_.at(key).back().str({"clusterQueue"});
    const QueueSetup& setup = setup_.queues[static_cast<std::size_t>(std::stoi(queue.substr(1)))];
    const bool held = !setup.stop.empty() || !setup.local_stop.empty();
    if (!crowded && !held && pod->tree.str({"spec", "nodeName"}).empty()) {
      fault(fmt::format("pod {} is not bound: {}", pod->name, pod->tree.to_json()));
    }
  }
}

// Somebody who knows nothing but what is in the API has nothing to decide either: whoever waits would not fit.
void World::check_nothing_is_left_to_do() {
  if (process_->refrains()) {
    return;
  }
  Process other(ready_, shares_);
  FakeServer copy = server_;
  copy.list_all_again();  // by the first watch, whosever that is
  while (copy.has_events()) {
    other.take(copy.next_event(random_), now_);
  }
  for (int steps = 0; steps < 10 && (steps == 0 || (other.wake() && *other.wake() <= now_)); ++steps) {
    for (const Order& order : other.step(now_)) {
      if (decides(order, server_)) {
        fault(fmt::format("left undone: verb {} {} {} {}", static_cast<int>(order.write.verb), order.write.object.kind,
                          order.write.object.name, order.write.body));
      }
    }
  }
}

void World::check_empty() {
  for (const std::string_view kind : {"Job", "JobSet", "Workload", "Pod"}) {
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
