#include "live/daemons.h"

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

// Never 0, which means none.
std::uint64_t mark_of(std::string_view pod) {
  return std::hash<std::string_view>{}(pod) | 1U;
}

template <class T>
typename std::vector<T>::reference at(std::vector<T>& list, NodeId node) {
  if (list.size() <= node.index()) {
    list.resize(node.index() + 1);
  }
  return list[node.index()];
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
      at(set.runs, *node) = 0;
    }
    give_back({key, std::string(name)});
  }
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
  } else if (!before && at(set.runs, node) == 0) {
    hold(key, set, plain.name, since);
  }
}

void Daemons::hold(const std::string& key, const Set& set, const std::string& node, Time since) {
  const auto distrusted = distrusted_.find(namespace_of(key));
  const bool over = since + kDaemonPatience <= now_;  // they matched long ago, before anybody here looked
  if (over || (distrusted != distrusted_.end() && now_ < distrusted->second)) {
    return;
  }
  const Pair pair(key, node);
  held_.insert_or_assign(pair, since + kDaemonPatience);
  due_.emplace(since + kDaemonPatience, pair);
  cluster_.upsert_pod({.key = placeholder(pair), .node = node, .requests = set.shape.requests});
}

void Daemons::give_back(const Pair& pair) {
  if (held_.erase(pair) > 0) {
    cluster_.remove_pod(placeholder(pair));
    freed_.insert(pair.second);
  }
}

void Daemons::give_up(const Pair& pair) {
  const std::string_view ns = namespace_of(pair.first);
  if (held_.contains(pair) && ns != kSystemNamespace) {
    distrusted_.insert_or_assign(std::string(ns), now_ + kDaemonDistrust);
  }
  give_back(pair);
}

void Daemons::pod_bound(std::string_view pod, const std::string& set, std::string_view node) {
  const NodeId id = cluster_.inventory().reserve(node);
  at(sets_[set].runs, id) = mark_of(pod);
  give_back({set, std::string(node)});
}

// Pods of a DaemonSet have its name, and then a dash and a word.
void Daemons::pod_gone(std::string_view pod, std::string_view node, Time now) {
  now_ = std::max(now_, now);
  const auto it = sets_.find(pod.substr(0, pod.rfind('-')));
  const auto id = cluster_.inventory().find(node);
  if (it == sets_.end() || !id || at(it->second.runs, *id) != mark_of(pod)) {
    return;
  }
  Set& set = it->second;
  at(set.runs, *id) = 0;
  if (set.defined && at(set.matched, *id)) {
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
