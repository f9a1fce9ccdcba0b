// Groups of plain pods in a world: their users, and what has to be true of them when all is calm.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

namespace {

constexpr std::string_view kName = "kueue.x-k8s.io/pod-group-name";

}  // namespace

void World::use_groups() {
  const int what = std::uniform_int_distribution<int>(0, 99)(extra_random_);
  if (groups_.size() < 4 && what < 45) {
    submit_group();
    return;
  }
  if (groups_.empty()) {
    return;
  }
  auto it = groups_.begin();
  std::advance(it, std::uniform_int_distribution<std::size_t>(0, groups_.size() - 1)(extra_random_));
  if (what < 70) {
    note("finishing: " + it->first);
    finishing_.insert(it->first);
  } else if (what < 85) {
    delete_group(it->first);
  } else {
    put_group_pod(it->first);  // in place of one that failed, or one too many
  }
}

void World::submit_group() {
  const auto number = [&](int below) { return std::uniform_int_distribution<int>(0, below - 1)(extra_random_); };
  const std::string name = fmt::format("g{}", groups_made_++);
  Group& group = groups_[name];
  group.total = 1 + number(4);
  group.gpus = 1 + number(3);
  group.queue = number(static_cast<int>(setup_.queues.size()));
  group.level = number(2) == 0 ? "" : levels_[static_cast<std::size_t>(number(static_cast<int>(levels_.size())))];
  for (int i = 0; i < group.total; ++i) {
    put_group_pod(name);
  }
}

void World::put_group_pod(const std::string& name) {
  const Group& group = groups_.at(name);
  const std::string pod = fmt::format("{}-{}", name, jobs_.fresh_number());
  note(fmt::format("pod {} is made: {} of {} GPUs, c{} {}", pod, group.total, group.gpus, group.queue, group.level));
  std::string text = fmt::format(
      "{{'metadata':{{'name':'{0}','namespace':'ns','creationTimestamp':'{1}','labels':{{'kueue.x-k8s.io/managed':"
      "'true','kueue.x-k8s.io/queue-name':'q{2}','{3}':'{4}'}},'annotations':{{'kueue.x-k8s.io/pod-group-total-count':"
      "'{5}','kueue.x-k8s.io/role-hash':'x'{6}}}}},'spec':{{'schedulingGates':[{{'name':'kueue.x-k8s.io/admission'}}],"
      "'containers':[{{'name':'c','resources':{{'requests':{{'nvidia.com/gpu':'{7}'}}}}}}]}},"
      "'status':{{'phase':'Pending'}}}}",
      pod, rfc3339(now_), group.queue, kName, name, group.total,
      group.level.empty() ? "" : fmt::format(",'kueue.x-k8s.io/podset-required-topology':'{}'", group.level),
      group.gpus);
  std::replace(text.begin(), text.end(), '\'', '"');
  server_.put("", "v1", "Pod", Tree::parse(text));
}

void World::delete_group(const std::string& name) {
  note("delete group " + name);
  for (const Stored* pod : server_.all("Pod")) {
    if (group_of(pod->tree) == name) {
      is_over(pod->tree) ? server_.remove(FakeServer::key("Pod", pod->ns, pod->name)) : delete_pod(*pod);
    }
  }
  groups_.erase(name);
}

// A host that comes anew does not know what ran on the one before it. Jobs make theirs anew, users do not.
void World::lose_group_pods(const std::string& host) {
  for (const Stored* pod : server_.all("Pod")) {
    if (!group_of(pod->tree).empty() && pod->tree.str({"spec", "nodeName"}) == host) {
      server_.remove(FakeServer::key("Pod", pod->ns, pod->name));
    }
  }
}

// What has run its course is cleared away by those who made it.
void World::tidy_groups() {
  std::map<std::string, int> left;
  for (const Stored* pod : server_.all("Pod")) {
    left[group_of(pod->tree)] += is_over(pod->tree) ? 0 : 1;
  }
  for (auto it = groups_.begin(); it != groups_.end();) {
    const std::string name = it->first;
    ++it;
    if (left[name] == 0) {
      delete_group(name);
    }
  }
}

// A group that is complete is released as a whole, or waits as a whole.
void World::check_groups_when_calm() {
  for (const auto& [name, group] : groups_) {
    int gated = 0;
    int released = 0;
    int succeeded = 0;
    for (const Stored* pod : server_.all("Pod")) {
      if (group_of(pod->tree) != name || is_going(pod->tree)) {
        continue;
      }
      succeeded += pod->tree.str({"status", "phase"}) == "Succeeded" ? 1 : 0;
      gated += !is_over(pod->tree) && is_gated(pod->tree) ? 1 : 0;
      released += !is_over(pod->tree) && !is_gated(pod->tree) ? 1 : 0;
    }
    const Stored* workload = server_.find(FakeServer::key("Workload", "ns", name));
    const bool over = workload != nullptr && holds(workload->tree, "Finished");
    const bool admitted = workload != nullptr && !over && workload->tree.find({"status", "admission"}) != nullptr;
    if (released > 0 && workload == nullptr) {
      fault(fmt::format("{} has {} pods without a workload", name, released));
    }
    if (admitted && gated > 0 && released + succeeded < group.total) {
      fault(fmt::format("{} is admitted, {} of its pods run and {} wait: {}", name, released, gated,
                        workload->tree.find({"status"})->to_json()));
    }
    if (released > group.total) {
      fault(fmt::format("{} of {} pods of {} were released", released, group.total, name));
    }
  }
}

}  // namespace gantree::test
