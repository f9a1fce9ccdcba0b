#include "kueue/setup_reader.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "dialects/core/core.h"
#include "dialects/core/metadata.h"
#include "dialects/kueue/names.h"
#include "kueue/circles.h"
#include "kueue/queue_membership.h"
#include "kueue/submissions.h"
#include "live/parsed.h"

namespace gantree::kueue {

namespace {

Result<> read_admin(const NamedObject& named, Intake& intake, Setup& setup) {
  const std::string_view kind = named.object.kind;
  if (kind == "Topology") {
    return read_topology(named, intake, setup);
  }
  if (kind == "ResourceFlavor") {
    return read_flavor(named, intake, setup);
  }
  if (kind == "ClusterQueue") {
    return read_cluster_queue(named, intake, setup);
  }
  if (kind == "Cohort") {
    return read_cohort(named, intake, setup);
  }
  if (kind == "LocalQueue") {
    return read_local_queue(named, setup);
  }
  if (kind == "WorkloadPriorityClass") {
    return read_priority_class(named, setup);
  }
  return CoreDialect().read(named, intake);
}

}  // namespace

const std::vector<ApiKind>& admin_kinds() {
  static const std::vector<ApiKind> kKinds = {
      {.group = kGroup, .kind = "Topology", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ResourceFlavor", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "ClusterQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "Cohort", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = kGroup, .kind = "LocalQueue", .versions = {"v1beta2", "v1beta1"}, .namespaced = true},
      {.group = kGroup, .kind = "WorkloadPriorityClass", .versions = {"v1beta2", "v1beta1"}, .namespaced = false},
      {.group = "", .kind = "Namespace", .versions = {"v1"}, .namespaced = false},
  };
  return kKinds;
}

void SetupReader::read(Step& step) {
  const bool of_others = std::exchange(ledger_.account.queues_changed, false);
  if (!std::exchange(ledger_.setup_changed, false) && !of_others) {
    return;
  }
  booking_.unbook_all();
  ledger_.lines.clear(*ledger_.family);
  for (auto& [key, entry] : ledger_.entries) {
    entry.submission.reset();
    entry.told_at = {};  // what was told of rules that were changed is told anew at once
    // Others may have to go for it by the rules of now: whoever comes first is looked at first.
    entry.fruitless = 0;
    entry.preempts_at = {};
  }
  ledger_.quota = Quota();
  ++ledger_.account.quota_version;
  ledger_.quota.evict_by_share(ledger_.shares);
  ledger_.setup = Setup();
  ledger_.intake =
      std::make_unique<Intake>(Intake{.cluster = ledger_.cluster, .quota = ledger_.quota, .quota_alone = true});
  read_objects(step);
  const std::map<std::string, std::size_t> before = std::exchange(trees_, trees());
  for (auto& [key, entry] : ledger_.entries) {
    const bool held = entry.assumed && !entry.sent;
    if (held && keeps_its_place(entry, before)) {
      continue;
    }
    entry.verdict.reset();
    if (held) {
      entry.drop_assumed();  // it waits for others to leave: whether it may have their place is decided anew
      ledger_.held.erase(key);
    }
  }
  booking_.book_all();
  ledger_.room_changed = true;
  ledger_.queues_changed = true;
  ledger_.freed_quota.clear();  // everybody is tried anew
  for (const auto& [key, entry] : ledger_.entries) {
    if (entry.waits()) {
      ledger_.waiting_changed.insert(key);
    } else if (drain(entry, ledger_.setup)) {
      ledger_.dirty.insert(key);
    }
    // What made no sense may make sense now.
    if (entry.is_turned_down()) {
      ledger_.dirty.insert(key);
    }
    if (const auto value = ledger_.setup.priority_classes.find(entry.object.class_name);
        value != ledger_.setup.priority_classes.end() && entry.class_value != value->second) {
      ledger_.dirty.insert(key);
    }
    // Its class of priority may have come.
    if (const JobEntry* job = ledger_.job_of(entry); job != nullptr && !job->priority_class.empty() && entry.waits()) {
      ledger_.touch(key);
    }
  }
}

std::map<std::string, std::size_t> SetupReader::trees() const {
  const auto text_of = [&](std::string_view kind, std::string_view name) -> std::string_view {
    const auto known = ledger_.admin.find(fmt::format("{} /{}", kind, name));
    return known == ledger_.admin.end() ? std::string_view() : std::string_view(known->second);
  };
  std::string common;
  for (const auto& [key, text] : ledger_.admin) {
    if (key.starts_with("Topology ") || key.starts_with("Cohort ")) {
      common += text;
    }
  }
  std::map<std::string_view, std::string> texts;  // of queues and their flavors, by tree
  for (const auto& [name, queue] : ledger_.setup.cluster_queues) {
    std::string& text = texts[ledger_.quota.rules(queue.id).tree];
    text += text_of("ClusterQueue", name);
    for (const ResourceGroup& group : queue.groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        text += text_of("ResourceFlavor", flavor.flavor_name);
      }
    }
  }
  std::map<std::string, std::size_t> trees;
  for (const auto& [name, queue] : ledger_.setup.cluster_queues) {
    trees.emplace(name, std::hash<std::string>()(common + texts[ledger_.quota.rules(queue.id).tree]));
  }
  return trees;
}

// Whether one that waits for others to leave still may have their place: nothing was changed where they meet.
bool SetupReader::keeps_its_place(Entry& entry, const std::map<std::string, std::size_t>& before) const {
  const std::string& name = entry.assumed->cluster_queue;
  const auto was = before.find(name);
  const auto is = trees_.find(name);
  if (was == before.end() || is == trees_.end() || was->second != is->second) {
    return false;
  }
  const Submission& submission = submission_for(entry, ledger_);
  return !submission.rejection && submission.queue == ledger_.setup.cluster_queues.at(name).id;
}

void SetupReader::read_objects(Step& step) {
  documents_.clear();
  std::vector<std::string> leaving;
  for (const auto& [key, text] : ledger_.admin) {
    auto parsed = parse(text);
    if (!parsed) {
      continue;  // it was complained about when it came
    }
    documents_.push_back(std::move(parsed->document));
    const json::Value metadata = parsed->object.metadata();
    const json::Value ns = text_at(metadata, "namespace");
    const NamedObject named{
        .object = parsed->object, .ns = ns ? ns.text() : std::string_view(), .name = text_at(metadata, "name").text()};
    if (auto read = read_admin(named, *ledger_.intake, ledger_.setup); !read) {
      remark(read.error(), step);
    }
    if (named.object.kind == "ClusterQueue" && text_at(metadata, "deletionTimestamp")) {
      leaving.emplace_back(named.name);
    }
  }
  const auto broken = break_circles(ledger_.setup.cohorts);
  for (const auto& [name, fault] : broken) {
    remark({.code = Errc::kInvalid, .message = fault}, step);
  }
  if (auto connected = connect(ledger_.setup, *ledger_.intake); !connected) {
    remark(connected.error(), step);
  }
  stop_queues_that_leave(leaving);
  stop_queues_with_checks(step);
  stop_queues_below(broken, ledger_.setup);
}

// What it has given stays given: it goes when that is over.
void SetupReader::stop_queues_that_leave(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto queue = ledger_.setup.cluster_queues.find(name);
    if (queue != ledger_.setup.cluster_queues.end()) {
      queue->second.leaves = true;
      queue->second.inactive = fmt::format("ClusterQueue \"{}\" is being deleted", name);
    }
  }
}

// What a check asks for is not done here: to admit all the same would start jobs that somebody has to approve, or on
// the wrong cluster.
void SetupReader::stop_queues_with_checks(Step& step) {
  for (auto& [name, queue] : ledger_.setup.cluster_queues) {
    queue.has_checks = queue.has_checks && !ignore_checks_;
    if (queue.has_checks && queue.inactive.empty()) {
      queue.inactive = fmt::format("ClusterQueue \"{}\" has admission checks, and nobody runs them", name);
      remark({.code = Errc::kInvalid, .message = queue.inactive}, step);
    }
  }
  for (auto& [key, queue] : ledger_.setup.local_queues) {
    if (queue.inactive.empty() && queue.cluster_queue != nullptr) {
      queue.inactive = queue.cluster_queue->inactive;
    }
  }
}

void SetupReader::remark(const Error& error, Step& step) {
  if (remarked_.insert(error.message).second) {
    step.remarks.push_back(without_places(error.message));
  }
}

}  // namespace gantree::kueue
