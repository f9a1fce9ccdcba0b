#include "controllers/hosts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "controllers/objects.h"

namespace gantree::controllers {

namespace {

// Labels by which nodes are kept in order, and questions of which counts are kept: beyond, all are forgotten once.
constexpr std::size_t kMostLabels = 16;
constexpr std::size_t kMostCounts = 256;
constexpr std::size_t kMostVerdicts = 10'000;

bool is_device(std::string_view resource) {
  return resource != "cpu" && resource != "memory" && resource != "pods" && resource != "ephemeral-storage" &&
         !resource.starts_with("hugepages-");
}

const std::string* label_of(const Item& node, std::string_view key) {
  const auto at = std::lower_bound(node.labels.begin(), node.labels.end(), key,
                                   [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  return at != node.labels.end() && at->first == key ? &at->second : nullptr;
}

// Nothing of it matters to others where these are the same.
bool same_place(const Item& a, const Item& b) {
  return a.pod->node == b.pod->node && a.finished() == b.finished() && a.pod->requests == b.pod->requests &&
         a.labels == b.labels && a.pod->priority == b.pod->priority && a.pod->nominated == b.pod->nominated &&
         a.uid == b.uid && a.deleting() == b.deleting();
}

}  // namespace

bool PodQuery::matches(const Item& pod) const {
  return (namespaces.empty() || std::binary_search(namespaces.begin(), namespaces.end(), pod.ns)) &&
         selects(&selector, pod.labels);
}

std::string PodQuery::text() const {
  std::string text = key + '\n';
  for (const std::string& one : namespaces) {
    text += one + ',';
  }
  return text + '\n' + apiserver::to_json(selector);
}

std::int64_t PodCounts::at(std::string_view value) const {
  const auto found = by_value.find(std::string(value));
  return found == by_value.end() ? 0 : found->second;
}

void PodCounts::add(const std::string& value, std::int64_t more) {
  std::int64_t& count = by_value[value];
  if (const auto old = values_with.find(count); old != values_with.end() && --old->second == 0) {
    values_with.erase(old);
  }
  count += more;
  total += more;
  if (count == 0) {
    by_value.erase(value);
  } else {
    ++values_with[count];
  }
}

PodQuery query_of(const Object& term, const std::string& ns) {
  PodQuery query;
  query.key = text_at(term, {"topologyKey"});
  if (const Object* selector = object_at(term, {"labelSelector"})) {
    query.selector = *selector;
  } else {
    // Without one it speaks of no pod.
    query.selector["matchExpressions"] = Array{Object{{"key", ""}, {"operator", "Exists"}}};
  }
  const Object* of_namespaces = object_at(term, {"namespaceSelector"});
  if (of_namespaces != nullptr && of_namespaces->empty()) {
    return query;
  }
  if (const Array* named = array_at(term, {"namespaces"})) {
    for (const Value& one : *named) {
      query.namespaces.emplace_back(text_of(one));
    }
  }
  if (query.namespaces.empty()) {
    query.namespaces.push_back(ns);
  }
  std::sort(query.namespaces.begin(), query.namespaces.end());
  return query;
}

void Hosts::weigh(Host& host) const {
  host.load = 0;
  host.devices = false;
  for (const auto& [resource, amount] : host.node->node->allocatable) {
    host.devices = host.devices || is_device(resource);
    if (const auto used = host.used.find(resource); used != host.used.end() && amount > 0) {
      const double share = static_cast<double>(used->second) / static_cast<double>(amount);
      host.load = std::max(host.load, static_cast<std::int64_t>(share * 1000));
    }
  }
}

void Hosts::place(const std::string& name, Host& host) {
  if (host.node == nullptr) {
    return;
  }
  weigh(host);
  const Place at{host.devices, host.load, name};
  order_.insert(at);
  for (auto& [key, by_value] : by_label_) {
    if (const std::string* value = label_of(*host.node, key)) {
      by_value[*value].insert(at);
    }
  }
}

void Hosts::displace(const std::string& name, const Host& host) {
  if (host.node == nullptr) {
    return;
  }
  const Place at{host.devices, host.load, name};
  order_.erase(at);
  for (auto& [key, by_value] : by_label_) {
    const std::string* value = label_of(*host.node, key);
    const auto these = value == nullptr ? by_value.end() : by_value.find(*value);
    if (these != by_value.end() && these->second.erase(at) > 0 && these->second.empty()) {
      by_value.erase(these);
    }
  }
}

void Hosts::node_changed(const Item* before, const Item* now) {
  const std::string& name = (now != nullptr ? now : before)->name;
  const auto at = hosts_.try_emplace(name).first;
  Host& host = at->second;
  // The old one is gone already, but for what is told here.
  const Item* const known = std::exchange(host.node, before);
  if (known != nullptr && before != nullptr) {
    displace(at->first, host);
  }
  host.node = now;
  place(at->first, host);
  if (now == nullptr && host.used.empty()) {
    hosts_.erase(at);
  }
  if (before == nullptr || now == nullptr || before->labels != now->labels) {
    counts_.clear();
    repelling_.clear();
    repelling_by_text_.clear();
    repelling_known_ = false;
  }
  ++releases_;
  ++moves_;
}

void Hosts::pod_changed(const Item* before, const Item* now) {
  if (before != nullptr && now != nullptr && same_place(*before, *now)) {
    return;
  }
  for (const auto& [pod, more] : {std::pair(before, -1), std::pair(now, 1)}) {
    if (pod == nullptr) {
      continue;
    }
    nominate(*pod, more > 0);
    if (!takes_room(*pod)) {
      continue;
    }
    const auto at = hosts_.try_emplace(pod->pod->node).first;
    Host& host = at->second;
    displace(at->first, host);
    for (const auto& [resource, amount] : pod->pod->requests) {
      std::int64_t& used = host.used[resource];
      used += more * amount;
      if (used == 0) {
        host.used.erase(resource);
      }
    }
    place(at->first, host);
    count_pod(*pod, more);
    if (host.node == nullptr && host.used.empty()) {
      hosts_.erase(at);
    }
    ++moves_;
    releases_ += more < 0 ? 1 : 0;
  }
}

void Hosts::nominate(const Item& pod, bool now) {
  if (pod.pod->nominated.empty()) {
    return;
  }
  auto& there = nominated_[pod.pod->nominated];
  if (now && pod.pod->node.empty() && pod.active()) {
    there[pod.uid] = {pod.pod->priority, pod.pod->requests};
  } else {
    there.erase(pod.uid);
    ++releases_;
  }
  if (there.empty()) {
    nominated_.erase(pod.pod->nominated);
  }
}

const std::string* Hosts::value_of(const Item& pod, const std::string& key) const {
  const auto at = hosts_.find(pod.pod->node);
  return at == hosts_.end() || at->second.node == nullptr ? nullptr : label_of(*at->second.node, key);
}

void Hosts::count_pod(const Item& pod, std::int64_t more) {
  if (auto& count = priorities_[pod.pod->priority]; (count += static_cast<std::size_t>(more)) == 0) {
    priorities_.erase(pod.pod->priority);
  }
  for (auto& [text, counts] : counts_) {
    const std::string* value = counts.query.matches(pod) ? value_of(pod, counts.query.key) : nullptr;
    if (value != nullptr) {
      counts.add(*value, more);
    }
  }
  if (repelling_known_) {
    count_repelling(pod, more);
  }
}

void Hosts::count_repelling(const Item& pod, std::int64_t more) {
  for (const std::string& term : pod.pod->repels) {
    auto at = repelling_by_text_.find(pod.ns + "\n" + term);
    if (at == repelling_by_text_.end()) {
      const Result<Value> parsed = apiserver::parse_json(term);
      if (!parsed || !parsed->is_object()) {
        continue;
      }
      repelling_.push_back({.query = query_of(parsed->get_object(), pod.ns), .by_value = {}, .values_with = {}});
      at = repelling_by_text_.emplace(pod.ns + "\n" + term, std::prev(repelling_.end())).first;
    }
    if (const std::string* value = value_of(pod, at->second->query.key)) {
      at->second->add(*value, more);
    }
    if (at->second->total <= 0) {
      repelling_.erase(at->second);
      repelling_by_text_.erase(at);
    }
  }
}

const Host* Hosts::find(const std::string& name) const {
  const auto at = hosts_.find(name);
  return at == hosts_.end() || at->second.node == nullptr ? nullptr : &at->second;
}

const Hosts::ByValue& Hosts::by_value(std::string_view key) {
  const auto known = by_label_.find(key);
  if (known != by_label_.end()) {
    return known->second;
  }
  ByValue& made = by_label_[std::string(key)];
  for (const auto& [name, host] : hosts_) {
    const std::string* value = host.node == nullptr ? nullptr : label_of(*host.node, key);
    if (value != nullptr) {
      made[*value].insert({host.devices, host.load, name});
    }
  }
  return made;
}

const Hosts::Order& Hosts::order_for(const Object* node_selector) {
  static const Order kNone;
  const Order* best = &order_;
  for (std::size_t i = 0; node_selector != nullptr && i < node_selector->size(); ++i) {
    const auto& member = *(node_selector->begin() + static_cast<std::ptrdiff_t>(i));
    const ByValue& values = by_value(member.key());
    const auto at = values.find(std::string(text_of(member.value())));
    const Order& these = at == values.end() ? kNone : at->second;
    best = these.size() < best->size() ? &these : best;
  }
  return *best;
}

const PodCounts& Hosts::counts(const PodQuery& query) {
  std::string text = query.text();
  const auto known = counts_.find(text);
  if (known != counts_.end()) {
    return known->second;
  }
  PodCounts& made = counts_[std::move(text)];
  made.query = query;
  each_pod_([&](const Item& pod) {
    const std::string* value = takes_room(pod) && query.matches(pod) ? value_of(pod, query.key) : nullptr;
    if (value != nullptr) {
      made.add(*value, 1);
    }
  });
  return made;
}

void Hosts::trim() {
  if (counts_.size() > kMostCounts) {
    counts_.clear();
  }
  if (by_label_.size() > kMostLabels) {
    by_label_.clear();
  }
}

const std::list<PodCounts>& Hosts::repelling() {
  if (!repelling_known_) {
    repelling_known_ = true;
    each_pod_([&](const Item& pod) {
      if (takes_room(pod)) {
        count_repelling(pod, 1);
      }
    });
  }
  return repelling_;
}

const std::map<std::string, Hosts::Nominated>* Hosts::nominated(const std::string& node) const {
  const auto at = nominated_.find(node);
  return at == nominated_.end() ? nullptr : &at->second;
}

std::int64_t Hosts::lowest_priority() const {
  return priorities_.empty() ? std::numeric_limits<std::int64_t>::max() : priorities_.begin()->first;
}

const Hosts::Verdict* Hosts::verdict(const std::string& shape) const {
  const auto at = verdicts_.find(shape);
  return at == verdicts_.end() ? nullptr : &at->second;
}

void Hosts::note_verdict(const std::string& shape, Verdict verdict) {
  if (verdicts_.size() >= kMostVerdicts) {
    verdicts_.clear();
  }
  verdicts_.insert_or_assign(shape, std::move(verdict));
}

}  // namespace gantree::controllers
