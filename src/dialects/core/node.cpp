#include "dialects/core/node.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/amounts.h"
#include "dialects/core/metadata.h"
#include "model/topology.h"

namespace gantree {

namespace {

void sort_by_key(std::vector<Label>& labels) {
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.key < b.key; });
}

template <class Intern>
std::vector<Label> read_labels(json::Reader& read, json::Value parent, std::string_view key, const Intern& intern) {
  std::vector<Label> labels;
  if (const json::Value map = read.object(parent, key)) {
    const auto members = map.members();
    labels.reserve(members.size() + 1);
    for (const json::MemberData& member : members) {
      const std::string_view value = read.as_text(json::Value(&member.value), member.key);
      labels.push_back({intern(member.key), intern(value)});
    }
    sort_by_key(labels);
  }
  return labels;
}

}  // namespace

std::vector<Label> read_interned_labels(json::Reader& read, json::Value parent, std::string_view key,
                                        Interner& strings) {
  return read_labels(read, parent, key, [&](std::string_view text) { return strings.intern(text); });
}

std::vector<Label> read_selected_labels(json::Reader& read, json::Value parent, std::string_view key,
                                        Interner& strings) {
  return read_labels(read, parent, key, [&](std::string_view text) { return strings.intern_asked(text); });
}

std::vector<Taint> read_taints(json::Reader& read, json::Value parent, std::string_view key, Interner& strings) {
  std::vector<Taint> taints;
  const json::Value list = read.array(parent, key);
  if (!list) {
    return taints;
  }
  for (const json::NodeData& item : list.items()) {
    const json::Value taint(&item);
    const std::string_view effect = read.require_text(taint, "effect");
    Taint& added = taints.emplace_back();
    added.key = strings.intern(read.require_text(taint, "key"));
    added.value = strings.intern(read.text(taint, "value").value_or(""));
    if (effect == "NoSchedule") {
      added.effect = TaintEffect::kNoSchedule;
    } else if (effect == "PreferNoSchedule") {
      added.effect = TaintEffect::kPreferNoSchedule;
    } else if (effect == "NoExecute") {
      added.effect = TaintEffect::kNoExecute;
    } else {
      read.complain(taint["effect"], fmt::format("taint effect \"{}\" is not known", effect));
    }
  }
  return taints;
}

Result<Node> read_node(const NamedObject& named, Inventory& inventory) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("Node \"{}\"", named.name));
  Interner& strings = inventory.strings();

  Node node;
  node.name = named.name;
  node.labels = read_interned_labels(read, object.metadata(), "labels", strings);
  const StringId hostname = strings.intern(kHostnameLabel);
  if (label_value(node.labels, hostname) == nullptr) {
    node.labels.push_back({hostname, strings.intern(named.name)});
    sort_by_key(node.labels);
  }

  const json::Value spec = read.object(object.value, "spec");
  node.taints = read_taints(read, spec, "taints", strings);
  node.unschedulable = read.boolean(spec, "unschedulable").value_or(false);

  const json::Value status = read.object(object.value, "status");
  const bool has_allocatable = read.object(status, "allocatable").present();
  node.allocatable =
      read_amounts(read, status, has_allocatable ? "allocatable" : "capacity", inventory.resources(), Round::kDown);
  node.ready = condition(read, status, "Ready").value_or(true);
  if (!read.ok()) {
    return read.error();
  }
  return node;
}

}  // namespace gantree
