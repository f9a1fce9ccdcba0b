#include "plan_equals_run/live_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "dialects/kueue/names.h"
#include "dialects/mutation.h"
#include "json/read.h"
#include "service/dispatcher.h"

namespace gantree::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStep{100};
// Longer than whatever the program waits for by itself.
constexpr seconds kQuiet{45};
constexpr seconds kPatience{1200};

bool is_job(const Manifest& manifest) {
  return manifest.kind == "Job" || manifest.kind == "JobSet";
}

bool is_bound_pod(const Manifest& manifest) {
  return manifest.kind == "Pod" && !manifest.tree.str({"spec", "nodeName"}).empty();
}

}  // namespace

bool LiveWorld::is_queued(const Manifest& object) {
  return (is_job(object) || (object.kind == "Pod" && !is_bound_pod(object))) &&
         object.tree.find({"metadata", "labels", kueue::kQueueName}) != nullptr;
}

LiveWorld::LiveWorld(const ManifestFile& file)
    : jobs_({.server = server_.objects,
             .now = [this] { return timeline_.wall(); },
             .note = [this](const std::string& what) { note(what); },
             .admit = [this](Tree& pod) { admit_pod(pod); }}),
      objects_(file.objects) {
  queue_options_.shares = file.shares;
  server_.objects.keep_pod_conditions();
  server_.announced = [this](const Tree& event) { note_eviction(event); };
  start();
  find_running_jobs();
}

void LiveWorld::note(const std::string& what) const {
  static const bool traced = std::getenv("GANTREE_TRACE") != nullptr;
  if (traced) {
    fmt::print("{} {}\n", rfc3339(timeline_.wall()), what);
  }
}

void LiveWorld::start() {
  replica_.reset();
  ReplicaOptions options;
  options.name = fmt::format("life-{}", ++lives_);
  options.queues = queue_options_;
  replica_ = std::make_unique<Replica>(timeline_, server_, random_, options);
  std::vector<kube::Resource> resources;
  for (const ApiKind& kind : replica_->kinds()) {
    resources.push_back(resource_of(kind.group, kind.versions.front(), kind.kind, kind.namespaced));
    namespaced_[fmt::format("{}/{}", kind.group, kind.kind)] = kind.namespaced;
  }
  server_.serve(std::move(resources));
}

bool LiveWorld::run() {
  load([](const Manifest& object) { return !is_job(object) && object.kind != "Pod" && object.kind != "PodGroup"; });
  load([&](const Manifest& object) { return is_bound_pod(object) && !is_made_anew(object); });
  if (std::any_of(objects_.begin(), objects_.end(), is_queued)) {
    queue_jobs();
    start();
  }
  load([&](const Manifest& object) { return (is_job(object) && !is_queued(object)) || object.kind == "PodGroup"; });
  load([](const Manifest& object) { return object.kind == "Pod" && !is_bound_pod(object) && !is_queued(object); });
  act();  // jobs that wait in no queue have their pods when the program starts
  return settle(kQuiet);
}

bool LiveWorld::settle(seconds quiet) {
  const auto end = timeline_.now() + kPatience;
  auto since = timeline_.now();
  std::uint64_t version = server_.objects.version();
  act();
  while (timeline_.now() < end) {
    timeline_.run_until(timeline_.now() + kStep);
    if (server_.objects.version() != version) {
      version = server_.objects.version();
      since = timeline_.now();
      act();
    } else if (timeline_.now() - since >= quiet) {
      return true;
    }
  }
  return false;
}

void LiveWorld::act() {
  for (const Stored* job : jobs_.jobs()) {
    jobs_.sync(test::key_of(*job));
  }
  bind_given();
  run_kubelets();
}

void LiveWorld::run_kubelets() {
  for (const Stored* pod : server_.objects.all("Pod")) {
    const std::string key = test::key_of(*pod);
    if (is_going(pod->tree)) {
      note(fmt::format("  {} is gone", pod->name));
      server_.objects.remove(key);
    } else if (!pod->tree.str({"spec", "nodeName"}).empty() && pod->tree.str({"status", "phase"}) == "Pending") {
      note(fmt::format("  {} runs on {}", pod->name, pod->tree.str({"spec", "nodeName"})));
      server_.objects.change(key, [](Tree& one) {
        one.at({"status", "phase"}) = Tree::string("Running");
        set_condition(one, quoted("{'type':'Ready','status':'True'}"));
      });
    }
  }
}

std::string LiveWorld::key_of(const Manifest& manifest) const {
  const auto kind = namespaced_.find(manifest.group + "/" + manifest.kind);
  const bool namespaced = kind != namespaced_.end() && kind->second;
  return FakeServer::key(manifest.kind, namespaced && manifest.ns.empty() ? "default" : manifest.ns, manifest.name);
}

void LiveWorld::load(const std::function<bool(const Manifest&)>& chosen) {
  for (const Manifest& object : objects_) {
    if (chosen(object)) {
      store(object);
    }
  }
}

// What nobody watches is left out: an object of another family may have the same kind and name.
void LiveWorld::store(Manifest manifest) {
  const auto kind = namespaced_.find(manifest.group + "/" + manifest.kind);
  if (kind == namespaced_.end()) {
    return;
  }
  const std::string key = key_of(manifest);
  if (kind->second && manifest.ns.empty()) {
    manifest.ns = "default";
    manifest.tree.at({"metadata", "namespace"}) = Tree::string(manifest.ns);
  }
  if (kind->second && server_.objects.find(FakeServer::key("Namespace", "", manifest.ns)) == nullptr) {
    server_.objects.put("", "v1", "Namespace",
                        quoted(fmt::format("{{'metadata':{{'name':'{0}','labels':{{'kubernetes.io/metadata.name':"
                                           "'{0}'}}}}}}",
                                           manifest.ns)));
  }
  complete(manifest);
  if (const auto refusal = ask_webhook(manifest, manifest.tree)) {
    refused_[key] = *refusal;
    return;
  }
  server_.objects.put(manifest.group, manifest.version, manifest.kind, std::move(manifest.tree));
  note_done(*server_.objects.find(key));
}

// What the API server, its own admission and the kubelet of a node add.
void LiveWorld::complete(Manifest& manifest) {
  Tree& tree = manifest.tree;
  if (tree.find({"metadata", "creationTimestamp"}) == nullptr) {
    tree.at({"metadata", "creationTimestamp"}) = Tree::string(rfc3339(timeline_.wall()));
  }
  if (manifest.kind == "Node" && tree.find({"status", "conditions"}) == nullptr) {
    set_condition(tree, quoted("{'type':'Ready','status':'True'}"));
  }
  if (manifest.kind != "Pod") {
    return;
  }
  complete_pod(tree);
  Tree* owners =
      tree.find({"metadata", "ownerReferences"}) == nullptr ? nullptr : &tree.at({"metadata", "ownerReferences"});
  for (Tree& owner : owners == nullptr ? no_trees_ : owners->items) {
    const std::string key = FakeServer::key(owner.str({"kind"}), manifest.ns, owner.str({"name"}));
    if (const Stored* found = server_.objects.find(key)) {
      owner.at({"uid"}) = Tree::string(found->uid());
    }
  }
}

void LiveWorld::complete_pod(Tree& pod) {
  note_gang(pod);
  if (pod.find({"status", "phase"}) == nullptr) {
    const bool bound = !pod.str({"spec", "nodeName"}).empty();
    pod.at({"status", "phase"}) = Tree::string(bound ? "Running" : "Pending");
  }
  const Stored* found =
      server_.objects.find(FakeServer::key("PriorityClass", "", pod.str({"spec", "priorityClassName"})));
  if (found != nullptr && pod.find({"spec", "priority"}) == nullptr) {
    pod.at({"spec", "priority"}) = *found->tree.find({"value"});
    if (const Tree* policy = found->tree.find({"preemptionPolicy"})) {
      pod.at({"spec", "preemptionPolicy"}) = *policy;
    }
  }
  if (pod.str({"spec", "schedulerName"}).empty()) {
    pod.at({"spec", "schedulerName"}) = Tree::string("gantree");
  }
}

void LiveWorld::admit_pod(Tree& pod) {
  pod.at({"metadata", "creationTimestamp"}) = Tree::string(rfc3339(timeline_.wall()));
  if (prepares_) {
    pod.at({"spec", "schedulerName"}) = Tree::string("default-scheduler");  // see bind_given()
  }
  complete_pod(pod);
  const Manifest manifest{.group = "",
                          .version = "v1",
                          .kind = "Pod",
                          .ns = pod.str({"metadata", "namespace"}),
                          .name = pod.str({"metadata", "name"}),
                          .tree = {}};
  GANTREE_CHECK(!ask_webhook(manifest, pod));
}

std::optional<std::string> LiveWorld::ask_webhook(const Manifest& manifest, Tree& tree) {
  for (const Mutator& mutator : all_mutators()) {
    if (mutator.kind.group != manifest.group || mutator.kind.kind != manifest.kind) {
      continue;
    }
    const auto documents = json::read_documents("webhook", tree.to_json());
    GANTREE_CHECK(documents);
    const Object object{.file = "webhook",
                        .group = manifest.group,
                        .version = manifest.version,
                        .kind = manifest.kind,
                        .value = documents->front().root()};
    Mutation mutation = create(mutator, {object, manifest.ns, manifest.name}, JobDefaults{});
    if (mutation.refusal) {
      return mutation.refusal;
    }
    GANTREE_CHECK(tree.patch(Tree::parse(json::Out(std::move(mutation.patch)).to_json(false))));
  }
  return std::nullopt;
}

// Pods of it have succeeded that are not among the manifests.
void LiveWorld::note_done(const Stored& job) {
  if (job.kind == "Job") {
    for (int i = 0; i < job.tree.num({"status", "succeeded"}, 0); ++i) {
      jobs_.add_done(job.uid(), {.part = "main", .job = 0, .index = i});
    }
  }
  const Tree* statuses = job.kind == "JobSet" ? job.tree.find({"status", "replicatedJobsStatus"}) : nullptr;
  for (const Tree& status : statuses == nullptr ? no_trees_ : statuses->items) {
    for (const Part& part : parts_of(job)) {
      const int over = part.name == status.str({"name"}) ? status.num({"succeeded"}, 0) : 0;
      for (int seat = 0; seat < over * part.completions; ++seat) {
        jobs_.add_done(job.uid(),
                       {.part = part.name, .job = seat / part.completions, .index = seat % part.completions});
      }
    }
  }
}

}  // namespace gantree::test
