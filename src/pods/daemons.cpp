#include "pods/daemons.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "dialects/core/metadata.h"
#include "dialects/core/pod.h"
#include "dialects/workloads/workload.h"

namespace gantree {

namespace {

constexpr std::string_view kSystemNamespace = "kube-system";

std::string_view namespace_of(std::string_view key) {
  return key.substr(0, key.find('/'));
}

// Pods of a DaemonSet have its name, and then a dash and a word.
std::string_view set_of(std::string_view pod) {
  return pod.substr(0, pod.rfind('-'));
}

std::uint64_t mark_of(std::string_view pod) {
  return std::hash<std::string_view>{}(pod);
}

std::vector<bool>::reference at(std::vector<bool>& list, NodeId node) {
  if (list.size() <= node.index()) {
    list.resize(node.index() + 1);
  }
  return list[node.index()];
}

bool covers(const Amounts& requests, const Amounts& least) {
  return std::all_of(least.entries().begin(), least.entries().end(),
                     [&](const Amounts::Entry& entry) { return requests.get(entry.first) >= entry.second; });
}

// What the controller of DaemonSets adds to their pods: they run on nodes that others have to leave.
void add_tolerations(PodShape& shape, bool host_network, Interner& strings) {
  const auto tolerate = [&](std::string_view key, TaintEffect effect) {
    Toleration toleration;
    toleration.key = strings.intern(key);
    toleration.op = TolerationOperator::kExists;
    toleration.effect = effect;
    shape.tolerations.push_back(toleration);
  };
  for (const std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    tolerate(key, TaintEffect::kNoExecute);
  }
  for (const std::string_view key : {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
                                     "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"}) {
    tolerate(key, TaintEffect::kNoSchedule);
  }
  if (host_network) {
    tolerate("node.kubernetes.io/network-unavailable", TaintEffect::kNoSchedule);
  }
}

}  // namespace

Result<> Daemons::changed(const NamedObject& named, std::string_view text, Time now) {
  now_ = std::max(now_, now);
  const std::string key = fmt::format("{}/{}", named.ns, named.name);
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("DaemonSet \"{}\"", key));
  if (text_at(object.metadata(), "deletionTimestamp")) {
    removed(key);
    return {};
  }
  if (is_too_much(key, text.size())) {
    removed(key);
    return {};
  }
  const std::size_t hash = std::hash<std::string_view>{}(text);
  Set& set = sets_[key];
  if (set.defined && set.text == hash) {
    return {};
  }
  const json::Value spec = read.object(read.object(read.object(object.value, "spec"), "template"), "spec");
  PodShape shape = read_pod_shape(read, spec, cluster_.inventory());
  const json::Value network = read.any(spec, "hostNetwork");
  if (!read.ok()) {
    return read.error();
  }
  add_tolerations(shape, network && network.text() == "true", cluster_.inventory().strings());
  if (set.shape.requests != shape.requests) {
    set.late.clear();  // pods of another size do not make up for those that did not come
  }
  set.created = Time(std::chrono::seconds(read_created(read, object.metadata())));
  set.shape = std::move(shape);
  set.text = hash;
  set.bytes = text.size();
  const bool fresh = !std::exchange(set.defined, true);
  for (const auto& [name, created] : nodes_) {
    const auto node = cluster_.inventory().find(name);
    if (!node) {
      continue;
    }
    const auto held = held_.find({key, name});
    if (held != held_.end()) {
      cluster_.upsert_pod({.key = placeholder(held->first), .node = name, .requests = set.shape.requests});
    }
    match(key, set, *node, fresh ? std::min(now, std::max(created, set.created)) : now);
  }
  expire(now);
  return {};
}

bool Daemons::is_too_much(const std::string& key, std::size_t bytes) const {
  const std::string_view ns = namespace_of(key);
  if (ns == kSystemNamespace) {
    return false;
  }
  std::size_t sets = 1;
  for (auto it = sets_.lower_bound(fmt::format("{}/", ns)); it != sets_.end() && namespace_of(it->first) == ns; ++it) {
    if (it->second.defined && it->first != key) {
      ++sets;
      bytes += it->second.bytes;
    }
  }
  return sets > kMostDaemonSets || bytes > kMostDaemonBytes;
}

void Daemons::removed(const std::string& key) {
  const auto it = sets_.find(key);
  if (it == sets_.end()) {
    return;
  }
  it->second.defined = false;
  it->second.matched.clear();
  while (true) {
    const auto held = held_.lower_bound({key, ""});
    if (held == held_.end() || held->first.first != key) {
      break;
    }
    give_up(Pair(held->first));
  }
  it->second.late.clear();  // what takes its name may be something else
  if (it->second.runs.empty()) {
    sets_.erase(it);
  }
}

void Daemons::node_changed(std::string_view name, Time created, Time now) {
  now_ = std::max(now_, now);
  const auto node = cluster_.inventory().find(name);
  if (!node) {
    return;
  }
  const bool fresh = nodes_.insert_or_assign(std::string(name), created).second;
  for (auto& [key, set] : sets_) {
    if (set.defined) {
      match(key, set, *node, fresh ? std::min(now, std::max(created, set.created)) : now);
    }
  }
  expire(now);
}

void Daemons::node_removed(std::string_view name) {
  const auto known = nodes_.find(name);
  if (known != nodes_.end()) {
    nodes_.erase(known);
  }
  const auto node = cluster_.inventory().find(name);
  for (auto& [key, set] : sets_) {
    if (node) {
      at(set.matched, *node) = false;
      set.runs.erase(*node);
      no_longer_late(key, set, *node);
    }
    give_back({key, std::string(name)});
  }
  std::erase_if(sets_, [](const auto& entry) { return !entry.second.defined && entry.second.runs.empty(); });
}

// `since`: from when on its pod is awaited, where it came to match only now.
void Daemons::match(const std::string& key, Set& set, NodeId node, Time since) {
  Node plain = cluster_.inventory().node(node);
  plain.ready = true;
  plain.unschedulable = false;
  const bool matches = eligibility(set.shape, plain, cluster_.inventory().strings()) == Ineligible::kNo;
  const bool before = at(set.matched, node);
  at(set.matched, node) = matches;
  if (!matches) {
    give_up({key, plain.name});
  } else if (!before && !set.runs.contains(node)) {
    hold(key, set, plain.name, since);
  }
}

void Daemons::hold(const std::string& key, const Set& set, const std::string& node, Time since) {
  const Distrust* distrusted = distrust_of(namespace_of(key));
  const bool over = since + kDaemonPatience <= now_;  // they matched long ago, before anybody here looked
  if (over || (distrusted != nullptr && now_ < distrusted->until)) {
    return;
  }
  const Pair pair(key, node);
  held_.insert_or_assign(pair, since + kDaemonPatience);
  due_.emplace(since + kDaemonPatience, pair);
  cluster_.upsert_pod({.key = placeholder(pair), .node = node, .requests = set.shape.requests});
}

Daemons::Distrust* Daemons::distrust_of(std::string_view ns) {
  const auto it = distrusted_.find(ns);
  if (it == distrusted_.end()) {
    return nullptr;
  }
  if (now_ < it->second.until + kLongestDaemonDistrust) {
    return &it->second;
  }
  distrusted_.erase(it);
  for (auto set = sets_.lower_bound(fmt::format("{}/", ns)); set != sets_.end() && namespace_of(set->first) == ns;
       ++set) {
    set->second.late.clear();
  }
  return nullptr;
}

void Daemons::distrust(const Pair& pair) {
  const std::string_view ns = namespace_of(pair.first);
  if (ns == kSystemNamespace) {
    return;
  }
  Distrust* record = distrust_of(ns);
  record = record == nullptr ? &distrusted_[std::string(ns)] : record;
  // What was held at the same time counts once.
  if (now_ >= record->until) {
    constexpr int kMostDoublings = 5;
    const auto pause = kDaemonDistrust * (1 << std::min(record->times, kMostDoublings));
    record->until = now_ + std::min<std::chrono::seconds>(pause, kLongestDaemonDistrust);
    ++record->times;
  }
  ++record->missing;
  if (const auto node = cluster_.inventory().find(pair.second)) {
    at(sets_.find(pair.first)->second.late, *node) = true;
  }
}

void Daemons::no_longer_late(std::string_view key, Set& set, NodeId node) {
  if (node.index() >= set.late.size() || !set.late[node.index()]) {
    return;
  }
  set.late[node.index()] = false;
  const auto it = distrusted_.find(namespace_of(key));
  if (it != distrusted_.end() && --it->second.missing == 0) {
    distrusted_.erase(it);
  }
}

void Daemons::give_back(const Pair& pair) {
  if (held_.erase(pair) > 0) {
    cluster_.remove_pod(placeholder(pair));
    freed_.insert(pair.second);
  }
}

void Daemons::give_up(const Pair& pair) {
  if (held_.contains(pair)) {
    distrust(pair);
  }
  give_back(pair);
}

void Daemons::pod_bound(std::string_view pod, const std::string& set, std::string_view node, const Amounts& requests) {
  give_back({set, std::string(node)});
  const NodeId id = cluster_.inventory().reserve(node);
  if (const auto it = sets_.find(set); it != sets_.end() && covers(requests, it->second.shape.requests)) {
    no_longer_late(set, it->second, id);
  }
  // By its name it is found again when it goes.
  if (set_of(pod) == set) {
    sets_[set].runs.insert_or_assign(id, mark_of(pod));
  }
}

void Daemons::pod_gone(std::string_view pod, std::string_view node, Time now) {
  now_ = std::max(now_, now);
  const auto it = sets_.find(set_of(pod));
  const auto id = cluster_.inventory().find(node);
  if (it == sets_.end() || !id) {
    return;
  }
  Set& set = it->second;
  const auto ran = set.runs.find(*id);
  if (ran == set.runs.end() || ran->second != mark_of(pod)) {
    return;
  }
  set.runs.erase(ran);
  if (!set.defined) {
    if (set.runs.empty()) {
      sets_.erase(it);
    }
    return;
  }
  if (at(set.matched, *id)) {
    hold(it->first, set, std::string(node), now);
  }
}

void Daemons::expire(Time now) {
  now_ = std::max(now_, now);
  while (!due_.empty() && due_.begin()->first <= now) {
    const auto [time, pair] = *due_.begin();
    due_.erase(due_.begin());
    if (const auto held = held_.find(pair); held != held_.end() && held->second <= now) {
      give_up(pair);
    }
  }
}

std::optional<Time> Daemons::next() const {
  return held_.empty() || due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace gantree
