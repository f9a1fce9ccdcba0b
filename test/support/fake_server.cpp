#include "support/fake_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "support/object_facts.h"

namespace gantree::test {

namespace {

// What users write has changed, rather than what is told of it.
void count_generation(const Tree& before, Tree& after) {
  const Tree* was = before.find({"spec"});
  const Tree* is = after.find({"spec"});
  if ((was == nullptr) != (is == nullptr) || (was != nullptr && *was != *is)) {
    after.at({"metadata", "generation"}) = Tree::number(before.num({"metadata", "generation"}, 1) + 1);
  }
}

// No gate of a pod template comes twice.
bool gates_differ(const Tree& pod_template) {
  std::set<std::string> gates;
  const Tree* list = pod_template.find({"spec", "schedulingGates"});
  return list == nullptr || std::all_of(list->items.begin(), list->items.end(),
                                        [&](const Tree& gate) { return gates.insert(gate.str({"name"})).second; });
}

}  // namespace

std::string FakeServer::key(std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{} {}/{}", kind, ns, name);
}

void FakeServer::put(std::string_view group, std::string_view version, std::string_view kind, Tree tree) {
  const std::string ns = tree.str({"metadata", "namespace"});
  const std::string name = tree.str({"metadata", "name"});
  Stored& stored = objects_[key(kind, ns, name)];
  const bool fresh = stored.name.empty();
  tree.at({"metadata", "uid"}) = Tree::string(fresh ? fresh_uid() : stored.uid());
  tree.at({"metadata", "generation"}) = Tree::number(stored.tree.num({"metadata", "generation"}, 1));
  if (!fresh) {
    count_generation(stored.tree, tree);
  }
  stored = {.group = std::string(group),
            .version = std::string(version),
            .kind = std::string(kind),
            .ns = ns,
            .name = name,
            .tree = std::move(tree)};
  tell(stored);
}

void FakeServer::tell(const Stored& stored) {
  Stored& mine = objects_.at(key(stored.kind, stored.ns, stored.name));
  mine.tree.at({"metadata", "resourceVersion"}) = Tree::string(std::to_string(++versions_));
  if (listener_) {
    listener_(mine, false);
    return;
  }
  auto object = prune(mine.group, mine.version, mine.kind, mine.tree.to_json());
  GANTREE_CHECK(object);
  send(key(mine.kind, mine.ns, mine.name),
       {.group = mine.group, .kind = mine.kind, .ns = mine.ns, .name = mine.name, .object = std::move(*object)});
}

void FakeServer::send(const std::string& key, const ServerEvent& event) {
  for (Watch& watch : watches_) {
    watch.pending[key].push_back(event);
  }
}

std::size_t FakeServer::add_watch() {
  watches_.emplace_back();
  list_all_again(watches_.size() - 1);
  return watches_.size() - 1;
}

void FakeServer::change(const std::string& key, const std::function<void(Tree&)>& how) {
  Stored& stored = objects_.at(key);
  Tree before = stored.tree;
  how(stored.tree);
  if (before != stored.tree) {
    count_generation(before, stored.tree);
    tell(stored);
  }
}

void FakeServer::remove(const std::string& key) {
  const auto it = objects_.find(key);
  if (it == objects_.end()) {
    return;
  }
  Stored& gone = it->second;
  if (listener_) {
    gone.tree.at({"metadata", "resourceVersion"}) = Tree::string(std::to_string(++versions_));
    const Stored last = std::move(gone);
    objects_.erase(it);
    listener_(last, true);
    return;
  }
  send(key, {.group = gone.group, .kind = gone.kind, .ns = gone.ns, .name = gone.name, .object = std::nullopt});
  objects_.erase(it);
}

const Stored* FakeServer::find(const std::string& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : &it->second;
}

std::vector<const Stored*> FakeServer::all(std::string_view kind) const {
  std::vector<const Stored*> found;
  const std::string first = std::string(kind) + " ";
  for (auto it = objects_.lower_bound(first); it != objects_.end() && it->first.starts_with(first); ++it) {
    found.push_back(&it->second);
  }
  return found;
}

WriteResult FakeServer::apply(const Write& write) {
  const ObjectRef& ref = write.object;
  if (ref.kind == "Event") {
    return WriteResult::kOk;
  }
  const std::string at = key(ref.kind, ref.ns, ref.name);
  const auto it = objects_.find(at);
  if (write.verb == WriteVerb::kCreate) {
    if (it != objects_.end()) {
      return WriteResult::kConflict;
    }
    put(ref.group, ref.version, ref.kind, Tree::parse(write.body));
    return WriteResult::kOk;
  }
  if (it == objects_.end()) {
    return WriteResult::kNotFound;
  }
  if (!ref.uid.empty() && it->second.uid() != ref.uid && write.verb != WriteVerb::kJsonPatch) {
    return WriteResult::kConflict;
  }
  if (write.verb == WriteVerb::kBind) {
    if (!it->second.tree.str({"spec", "nodeName"}).empty()) {
      return WriteResult::kConflict;
    }
    change(at, [&](Tree& pod) { pod.at({"spec", "nodeName"}) = Tree::string(write.node); });
    return WriteResult::kOk;
  }
  if (write.verb == WriteVerb::kDelete || write.verb == WriteVerb::kPreempt || write.verb == WriteVerb::kEvict) {
    const std::string node = it->second.tree.str({"spec", "nodeName"});
    if (ref.kind == "Pod" && !node.empty()) {
      change(at, [](Tree& pod) { pod.at({"metadata", "deletionTimestamp"}) = Tree::string("2026-01-01T00:00:00Z"); });
    } else {
      remove(at);
    }
    return WriteResult::kOk;
  }
  return patch(it->second, write);
}

WriteResult FakeServer::patch(Stored& stored, const Write& write) {
  const Tree body = Tree::parse(write.body);
  Tree next = stored.tree;
  if (write.verb == WriteVerb::kJsonPatch) {
    if (!next.patch(body)) {
      return WriteResult::kInvalid;  // as the API server says it of a test that fails
    }
  } else {
    const std::string version = body.str({"metadata", "resourceVersion"});
    if (!version.empty() && version != stored.tree.str({"metadata", "resourceVersion"})) {
      return WriteResult::kConflict;
    }
    if (stored.kind == "Pod") {
      if (const WriteResult result = patch_pod(next, body); result != WriteResult::kOk) {
        return result;
      }
      if (const Tree* phase = body.find({"status", "phase"});
          phase != nullptr && write.verb == WriteVerb::kPatchStatus) {
        next.at({"status", "phase"}) = *phase;
      }
      if (const Tree* status = body.find({"status"})) {
        if (const auto nominated = status->members.find("nominatedNodeName"); nominated != status->members.end()) {
          next.at({"status"})
              .merge(Tree{.kind = json::Kind::kObject, .text = {}, .members = {*nominated}, .items = {}});
        }
      }
      if (const Tree* conditions = body.find({"status", "conditions"}); conditions != nullptr && keeps_conditions_) {
        for (const Tree& condition : conditions->items) {
          set_condition(next, condition);
        }
      }
    } else if (write.verb == WriteVerb::kPatchStatus) {
      next.at({"status"}).merge(*body.find({"status"}));
    } else {
      if (const Tree* spec = body.find({"spec"})) {
        next.at({"spec"}).merge(*spec);
      }
      for (const std::string_view list : {"finalizers", "ownerReferences"}) {
        if (const Tree* wanted = body.find({"metadata", list})) {
          next.at({"metadata", list}) = *wanted;
        }
      }
    }
  }
  if (!is_allowed(stored, next)) {
    return WriteResult::kInvalid;
  }
  if (next != stored.tree) {
    count_generation(stored.tree, next);
    stored.tree = std::move(next);
    tell(stored);
  }
  return WriteResult::kOk;
}

bool FakeServer::is_allowed(const Stored& before, const Tree& after) {
  const bool suspended = before.tree.flag({"spec", "suspend"});
  if (before.kind == "Job") {
    const bool fixed = !suspended || before.tree.find({"status", "startTime"}) != nullptr;
    if (fixed && *after.find({"spec", "template"}) != *before.tree.find({"spec", "template"})) {
      return false;
    }
    return gates_differ(*after.find({"spec", "template"}));
  }
  if (before.kind == "JobSet") {
    const Tree* jobs = after.find({"spec", "replicatedJobs"});
    if (!suspended && *jobs != *before.tree.find({"spec", "replicatedJobs"})) {
      return false;
    }
    return std::all_of(jobs->items.begin(), jobs->items.end(),
                       [](const Tree& job) { return gates_differ(*job.find({"template", "spec", "template"})); });
  }
  // What holds quota asks for what it was given.
  if (before.kind == "Workload" && before.tree.find({"status", "admission"}) != nullptr) {
    return *after.find({"spec", "podSets"}) == *before.tree.find({"spec", "podSets"}) &&
           after.str({"spec", "queueName"}) == before.tree.str({"spec", "queueName"});
  }
  return true;
}

WriteResult FakeServer::patch_pod(Tree& pod, const Tree& patch) {
  if (const std::string uid = patch.str({"metadata", "uid"}); !uid.empty() && uid != pod.str({"metadata", "uid"})) {
    return WriteResult::kConflict;
  }
  const Tree* gates = pod.find({"spec", "schedulingGates"});
  const bool gated = gates != nullptr && !gates->items.empty();
  Tree selector = pod.find({"spec", "nodeSelector"}) != nullptr ? *pod.find({"spec", "nodeSelector"}) : Tree();
  const Tree before = selector;
  if (const Tree* more = patch.find({"spec", "nodeSelector"})) {
    selector.merge(*more);
  }
  if (selector != before) {
    if (!gated) {
      return WriteResult::kInvalid;
    }
    for (const auto& [name, value] : before.members) {
      if (selector.members[name] != value) {
        return WriteResult::kInvalid;  // it may only be narrowed
      }
    }
    pod.at({"spec", "nodeSelector"}) = selector;
  }
  if (const Tree* less = patch.find({"spec", "schedulingGates"}); less != nullptr && gated) {
    std::vector<Tree>& left = pod.at({"spec", "schedulingGates"}).items;
    std::erase_if(left, [&](const Tree& gate) {
      return std::any_of(less->items.begin(), less->items.end(),
                         [&](const Tree& one) { return one.str({"name"}) == gate.str({"name"}); });
    });
  }
  for (const std::string_view part : {"labels", "annotations"}) {
    if (const Tree* marks = patch.find({"metadata", part})) {
      pod.at({"metadata", part}).merge(*marks);
    }
  }
  return WriteResult::kOk;
}

bool FakeServer::has_events_of(std::string_view kind, std::size_t watch) const {
  const auto& pending = watches_[watch].pending;
  return std::any_of(pending.begin(), pending.end(),
                     [&](const auto& entry) { return entry.second.front().kind == kind; });
}

ServerEvent FakeServer::next_event(std::mt19937& random, std::size_t watch) {
  auto& [pending, known] = watches_[watch];
  auto it = pending.begin();
  std::advance(it, std::uniform_int_distribution<std::size_t>(0, pending.size() - 1)(random));
  const std::string key = it->first;
  ServerEvent event = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) {
    pending.erase(it);
  }
  if (event.object) {
    known.insert_or_assign(key, event);
  } else {
    known.erase(key);
  }
  return event;
}

void FakeServer::list_again(std::string_view kind, std::size_t watch) {
  auto& [pending, known] = watches_[watch];
  std::erase_if(pending, [&](const auto& entry) { return entry.second.front().kind == kind; });
  for (const auto& [key, event] : known) {
    const Stored* now = find(key);
    // Another object of the same name has taken its place, or none has.
    if (event.kind == kind && (now == nullptr || now->uid() != event.object->uid)) {
      pending[key].push_back(
          {.group = event.group, .kind = event.kind, .ns = event.ns, .name = event.name, .object = std::nullopt});
    }
  }
  for (const Stored* stored : all(kind)) {
    auto object = prune(stored->group, stored->version, stored->kind, stored->tree.to_json());
    pending[key(stored->kind, stored->ns, stored->name)].push_back({.group = stored->group,
                                                                    .kind = stored->kind,
                                                                    .ns = stored->ns,
                                                                    .name = stored->name,
                                                                    .object = std::move(*object)});
  }
}

void FakeServer::list_all_again(std::size_t watch) {
  watches_[watch] = {};
  std::set<std::string> kinds;
  for (const auto& [key, stored] : objects_) {
    kinds.insert(stored.kind);
  }
  for (const std::string& kind : kinds) {
    list_again(kind, watch);
  }
}

}  // namespace gantree::test
