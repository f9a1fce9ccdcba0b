// Where pods are, and where they were sent.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "property/kueue_world.h"

namespace gantree::test {

std::optional<std::vector<std::string>> World::place_of(const Stored& pod, std::size_t from) const {
  const std::vector<Tree>& given = given_.at(FakeServer::key("Workload", pod.ns, workload_of(pod.tree)));
  const std::string node = pod.tree.str({"spec", "nodeName"});
  for (std::size_t i = given.size(); i > std::min(from, given.size() - 1); --i) {
    const Tree* set = set_in(given[i - 1], set_of(pod.tree));
    if (set == nullptr || set->find({"topologyAssignment"}) == nullptr) {
      continue;
    }
    const kueue::TopologyAssignment assignment = assignment_in(*set);
    for (const kueue::AssignedDomain& domain : assignment.domains) {
      bool here = true;
      for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
        const std::string value = node.empty() ? pod.tree.str({"spec", "nodeSelector", assignment.levels[level]})
                                               : nodes_.at(node).labels.at(assignment.levels[level]);
        here = here && value == domain.values[level];
      }
      if (here) {
        return domain.values;
      }
    }
  }
  return std::nullopt;
}

// To a domain of the assignment in force: of the last one that the program knew when it ordered this, or of one that it
// had on its way itself.
void World::check_release(const Stored& pod, const Order& order) {
  const auto given = given_.find(FakeServer::key("Workload", pod.ns, workload_of(pod.tree)));
  const auto told = told_at_order_.find(order.id);
  if (given == given_.end() || is_rider(pod)) {
    return;  // it has nothing any more: the pod goes with the job
  }
  released_under_[pod.uid()] = told == told_at_order_.end() ? 0 : told->second;
  if (!place_of(pod, released_under_[pod.uid()])) {
    fault(fmt::format("pod {} is sent outside of the assignment in force: {}", pod.name, pod.tree.to_json()));
  }
}

// Every pod that was released is in a domain that its Workload has, or had when it was released; no domain has more of
// them than were assigned, by now or when they were released: those that have to go since go in a moment.
void World::check_pods() {
  std::map<std::pair<std::string, std::string>, std::map<std::vector<std::string>, Sent>> sent;
  std::set<std::string> jobs;
  for (const Stored* job : all_jobs()) {
    jobs.insert(job->uid());
  }
  for (const Stored* pod : server_.all("Pod")) {
    const std::string owner = owner_of(pod->tree);
    const std::string node = pod->tree.str({"spec", "nodeName"});
    // What was on a host that is gone is lost, though nobody has taken it away yet: another may have its place.
    const bool lost = nodes_.contains(node) && !nodes_.at(node).exists;
    if (is_over(pod->tree) || is_going(pod->tree) || is_gated(pod->tree) || lost || is_rider(*pod) ||
        (!owner.empty() && !jobs.contains(owner))) {
      continue;
    }
    if (const auto domain = place_of(*pod, 0)) {
      Sent& here = sent[{FakeServer::key("Workload", pod->ns, workload_of(pod->tree)), set_of(pod->tree)}][*domain];
      const auto since = released_under_.find(pod->uid());
      const std::size_t first = since == released_under_.end() ? 0 : since->second;
      here.since = here.pods++ == 0 ? first : std::min(here.since, first);
    } else {
      fault(fmt::format("pod {} is outside of its assignment", pod->name));
    }
  }
  check_assigned(sent);
}

void World::check_assigned(
    const std::map<std::pair<std::string, std::string>, std::map<std::vector<std::string>, Sent>>& sent) {
  for (const auto& [whose, domains] : sent) {
    const std::vector<Tree>& given = given_.at(whose.first);
    for (const auto& [domain, here] : domains) {
      int most = 0;
      for (std::size_t i = is_calm_ ? given.size() - 1 : std::min(here.since, given.size() - 1); i < given.size();
           ++i) {
        int assigned = 0;
        for (const kueue::AssignedDomain& one : assignment_in(*set_in(given[i], whose.second)).domains) {
          assigned += one.values == domain ? one.count : 0;
        }
        most = std::max(most, assigned);
      }
      if (here.pods > most) {
        fault(fmt::format("{} pods of {} {} are sent to {}, {} were assigned", here.pods, whose.first, whose.second,
                          domain.back(), most));
      }
    }
  }
}

// As long as a pod is on its way out its place is taken: a host is sent no more than it was ever assigned, with those.
void World::check_those_that_leave() {
  struct Here {
    int all = 0;
    int leaving = 0;
    const Stored* one = nullptr;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Here> here;  // by Workload, pod set and host
  for (const Stored* pod : by_host_ ? server_.all("Pod") : std::vector<const Stored*>()) {
    const std::string node = pod->tree.str({"spec", "nodeName"});
    const bool leaves = is_going(pod->tree);
    const std::string target = node.empty() && !leaves ? pod->tree.str({"spec", "nodeSelector", kHostLabel}) : node;
    const auto host = nodes_.find(target);
    if (!is_over(pod->tree) && !is_gated(pod->tree) && !is_rider(*pod) && host != nodes_.end() && host->second.exists &&
        host->second.ready) {
      Here& count = here[{workload_of(pod->tree), set_of(pod->tree), target}];
      ++count.all;
      count.leaving += leaves ? 1 : 0;
      count.one = pod;
    }
  }
  for (const auto& [where, pods] : here) {
    if (pods.leaving == 0 || pods.leaving == pods.all) {
      continue;
    }
    int most = 0;
    for (const Tree& admission : given_.at(FakeServer::key("Workload", pods.one->ns, std::get<0>(where)))) {
      const Tree* set = set_in(admission, std::get<1>(where));
      int assigned = 0;
      for (const kueue::AssignedDomain& domain : assignment_in(*set).domains) {
        assigned += domain.values.back() == std::get<2>(where) ? domain.count : 0;
      }
      most = std::max(most, assigned);
    }
    if (most > 0 && pods.all > most) {
      fault(fmt::format("{} pods of {} {} are sent to {} with {} that leave, {} were assigned", pods.all,
                        std::get<0>(where), std::get<1>(where), std::get<2>(where), pods.leaving, most));
    }
  }
}

// What is on a host, or sent there, has room there. Where pods are sent to domains of several hosts, those that have no
// node yet have room on the hosts of theirs together. Riders are left out: they go where there is room at the moment.
void World::check_rooms() {
  std::map<std::string, int> on_host;                         // GPUs, of all but riders
  std::map<std::string, int> bound;                           // the same of all that are there
  std::map<std::string, int> leaving;                         // the same of those that have to leave
  std::map<std::map<std::string, std::string>, int> to_come;  // GPUs by selector
  for (const Stored* pod : server_.all("Pod")) {
    const std::string node = pod->tree.str({"spec", "nodeName"});
    // Nothing is bound to a host that is down: what hangs there is not waited for.
    const bool hangs = is_going(pod->tree) && nodes_.contains(node) && !nodes_.at(node).ready;
    if (is_over(pod->tree) || is_gated(pod->tree) || hangs) {
      continue;
    }
    bound[node] += gpus_of(pod->tree);
    const Stored* workload = server_.find(FakeServer::key("Workload", pod->ns, workload_of(pod->tree)));
    // One that has to leave goes soon; of those that have no node yet nobody waits.
    const bool leaves = workload == nullptr || holds(workload->tree, "Evicted") || is_going(pod->tree);
    leaving[node] += leaves ? gpus_of(pod->tree) : 0;
    if (is_rider(*pod) && workload == nullptr && !node.empty() && !disturbed_.contains(owner_or_group(pod->tree)) &&
        pod->tree.find({"metadata", "labels", "stranger"}) == nullptr) {
      on_host[node] += gpus_of(pod->tree);  // of a job that was deleted
    }
    if (is_rider(*pod) || (node.empty() && leaves)) {
      continue;
    }
    const std::string host = node.empty() ? pod->tree.str({"spec", "nodeSelector", kHostLabel}) : node;
    on_host[host] += gpus_of(pod->tree);
    if (host.empty()) {
      std::map<std::string, std::string> selector;
      for (const auto& [label, value] : pod->tree.find({"spec", "nodeSelector"})->members) {
        selector[label] = value.text;
      }
      to_come[selector] += gpus_of(pod->tree);
    }
  }
  // Within a domain of several hosts kube-scheduler chooses, and knows nothing of pods of gangs that are on their way.
  const bool chooses = ways_.gangs && !by_host_;
  for (const auto& [host, amount] : on_host) {
    if (nodes_.contains(host) && !chooses && !crowded_.contains(host) && amount > nodes_.at(host).gpus) {
      fault(fmt::format("pods for {} GPUs are sent to {}, which has {}", amount, host, nodes_.at(host).gpus));
    }
  }
  check_domains(to_come, bound, leaving);
}

void World::check_domains(const std::map<std::map<std::string, std::string>, int>& to_come,
                          std::map<std::string, int>& bound, std::map<std::string, int>& leaving) {
  for (const auto& [selector, amount] : to_come) {
    int room = 0;
    int soon = 0;  // where a host is lost others have to leave, and it may be enough that they do
    bool excused = false;
    bool lost = false;
    std::string hosts;
    for (const auto& [name, facts] : nodes_) {
      const bool matches = std::includes(facts.labels.begin(), facts.labels.end(), selector.begin(), selector.end());
      excused = excused || (matches && (crowded_.contains(name) || shaken_.contains(name)));
      const bool open = facts.exists && facts.ready && !facts.cordoned;
      room += matches && open ? std::max(0, facts.gpus - bound[name]) : 0;
      soon += matches && open ? leaving[name] : 0;
      lost = lost || (matches && !open);
      hosts += matches ? fmt::format(" {}{} {}/{}", name, open ? "" : " (closed)", bound[name], facts.gpus) : "";
    }
    if (amount > room + (lost ? soon : 0) && !excused) {
      fault(fmt::format("pods for {} GPUs are sent to {}, which has room for {}:{}", amount, fmt::join(selector, " "),
                        room, hosts));
    }
  }
}

}  // namespace gantree::test
