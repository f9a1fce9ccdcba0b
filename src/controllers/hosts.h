// What the plain scheduler asks of nodes and of the pods on them, kept up to date with every change, so that a pod is
// bound without a look at all nodes: what is in use on each, nodes in order of their load, and counts of pods by
// domain (a label of their nodes) for affinity and spreading.
//
// Orders by label and counts are made when they are first asked for. One thread owns it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "controllers/item.h"

namespace gantree::controllers {

struct Host {
  const Item* node = nullptr;                          // nullptr where only its pods are known
  std::unordered_map<std::string, std::int64_t> used;  // by pods that have not ended
  std::int64_t load = 0;                               // thousandths of the resource that is scarcest
  bool devices = false;                                // has GPUs or the like
};

// Pods, and the label of nodes by whose values they are counted.
struct PodQuery {
  std::vector<std::string> namespaces;  // sorted; none: all
  Object selector;
  std::string key;

  [[nodiscard]] bool matches(const Item& pod) const;
  [[nodiscard]] std::string text() const;
};

struct PodCounts {
  PodQuery query;
  std::unordered_map<std::string, std::int64_t> by_value;  // none is 0
  std::map<std::int64_t, std::size_t> values_with;         // how many values have that count
  std::int64_t total = 0;

  [[nodiscard]] std::int64_t at(std::string_view value) const;
  void add(const std::string& value, std::int64_t more);
};

class Hosts {
 public:
  using EachPod = std::function<void(const std::function<void(const Item&)>&)>;
  // Hosts without devices first, then by load, then by name.
  using Place = std::tuple<bool, std::int64_t, std::string_view>;
  using Order = std::set<Place>;

  // `each_pod` goes through all pods there are.
  explicit Hosts(EachPod each_pod) : each_pod_(std::move(each_pod)) {}

  // What was known, and what is known now; nullptr where there is none.
  void node_changed(const Item* before, const Item* now);
  void pod_changed(const Item* before, const Item* now);

  [[nodiscard]] const Host* find(const std::string& name) const;
  // All nodes that may have these labels, in order.
  [[nodiscard]] const Order& order_for(const Object* node_selector);
  // Of the nodes that have the label, by its values.
  using ByValue = std::map<std::string, Order>;
  [[nodiscard]] const ByValue& by_value(std::string_view key);
  // Good until the next change, or trim().
  [[nodiscard]] const PodCounts& counts(const PodQuery& query);
  // Forgets questions that nobody may ask any more.
  void trim();
  // Pods that let no others near them: what they say, and how many say it where.
  [[nodiscard]] const std::list<PodCounts>& repelling();
  // Pods for which room is being made on the node.
  struct Nominated {
    std::int64_t priority = 0;
    Amounts requests;
  };
  [[nodiscard]] const std::map<std::string, Nominated>* nominated(const std::string& node) const;
  // The lowest priority of all pods on nodes.
  [[nodiscard]] std::int64_t lowest_priority() const;

  // Grows with every change by which a pod may find a node that found none before: for what is free, and for who is
  // near.
  [[nodiscard]] std::uint64_t releases() const { return releases_; }
  [[nodiscard]] std::uint64_t moves() const { return moves_; }

  // Why pods of this shape found no node when there had been so many changes.
  struct Verdict {
    std::uint64_t releases = 0;
    std::uint64_t moves = 0;
    std::string message;
  };
  [[nodiscard]] const Verdict* verdict(const std::string& shape) const;
  void note_verdict(const std::string& shape, Verdict verdict);

 private:
  void place(const std::string& name, Host& host);
  void displace(const std::string& name, const Host& host);
  void weigh(Host& host) const;
  void count_pod(const Item& pod, std::int64_t more);
  void count_repelling(const Item& pod, std::int64_t more);
  void nominate(const Item& pod, bool now);
  [[nodiscard]] const std::string* value_of(const Item& pod, const std::string& key) const;

  EachPod each_pod_;
  std::unordered_map<std::string, Host> hosts_;
  Order order_;
  std::map<std::string, ByValue, std::less<>> by_label_;
  std::map<std::string, PodCounts> counts_;  // by text of the query
  std::list<PodCounts> repelling_;
  std::unordered_map<std::string, std::list<PodCounts>::iterator> repelling_by_text_;
  bool repelling_known_ = false;
  std::unordered_map<std::string, std::map<std::string, Nominated>> nominated_;  // by node, then uid
  std::map<std::int64_t, std::size_t> priorities_;
  std::uint64_t releases_ = 0;
  std::uint64_t moves_ = 0;
  std::unordered_map<std::string, Verdict> verdicts_;
};

// Does the pod take room on its node?
[[nodiscard]] inline bool takes_room(const Item& pod) {
  return !pod.pod->node.empty() && !pod.finished();
}

// A term of affinity of a pod in this namespace, as a question.
[[nodiscard]] PodQuery query_of(const Object& term, const std::string& ns);

}  // namespace gantree::controllers
