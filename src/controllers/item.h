// One object as the controllers hold it: what they look at often, and the object's own text for the rest.
//
// The text is shared with whoever sent it (the API server's store), so that a hundred thousand pods cost little more
// than these few fields. value() reads it anew.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "base/error.h"
#include "controllers/kinds.h"

namespace gantree::controllers {

using apiserver::Array;
using apiserver::array_at;
using apiserver::find;
using apiserver::Object;
using apiserver::object_at;
using apiserver::object_in;
using apiserver::text_at;
using apiserver::text_of;
using apiserver::Value;

using Text = std::shared_ptr<const std::string>;
using Labels = std::vector<std::pair<std::string, std::string>>;  // sorted by key

enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::int64_t added = 0;  // Unix seconds; 0 where not said

  friend bool operator==(const Taint&, const Taint&) = default;
};

// Amounts of resources, in thousandths, sorted by name.
using Amounts = std::vector<std::pair<std::string, std::int64_t>>;

struct PodFacts {
  std::string node;
  bool ours = false;  // asks for the plain scheduler
  Amounts requests;
  std::int64_t priority = 0;
  std::string nominated;                // the node on which room is made for it
  std::vector<std::string> repels;      // terms of required anti-affinity, as JSON
  std::vector<std::string> host_ports;  // "TCP 80"
  std::string address;                  // podIP
  Phase phase = Phase::kPending;
  bool ready = false;
  bool gated = false;
  bool tracked = false;                // has the finalizer by which jobs count
  std::int64_t completion_index = -1;  // of an indexed job
  std::int64_t restarts = 0;
  std::int64_t ready_since = 0;  // Unix seconds
  std::int64_t finished = 0;     // Unix seconds: the last container's end, where it has one
};

struct NodeFacts {
  std::string ready;  // "True", "False", "Unknown"; "" where there is no such condition
  std::int64_t ready_since = 0;
  bool unschedulable = false;
  Amounts allocatable;
  std::int64_t failed_since = 0;  // told to fail, by annotation; Unix seconds
  bool not_ready = false;         // told to say so, by annotation
  std::vector<Taint> taints;
};

struct Item {
  Kind kind = Kind::kPod;
  std::string ns;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;  // resourceVersion
  std::int64_t generation = 0;
  std::int64_t created = 0;  // Unix seconds
  std::optional<std::int64_t> deleted;
  bool finalizers = false;
  std::string owner;  // uid of the controller; "" where there is none
  std::string owner_kind;
  std::string owner_name;
  Labels labels;
  Labels wanted_labels;         // matchLabels of what has a selector for what it controls
  bool more_selection = false;  // there are matchExpressions as well
  std::string volume;           // that a claim names
  std::unique_ptr<PodFacts> pod;
  std::unique_ptr<NodeFacts> node;
  Labels selector;  // of a Service; none: it selects nothing
  Text text;

  [[nodiscard]] bool deleting() const { return deleted.has_value(); }
  [[nodiscard]] bool finished() const {
    return pod != nullptr && (pod->phase == Phase::kSucceeded || pod->phase == Phase::kFailed);
  }
  // A pod that runs or will, and is not on its way out.
  [[nodiscard]] bool active() const { return pod != nullptr && !finished() && !deleting(); }
  [[nodiscard]] std::string_view label(std::string_view key) const;
  // "ns/name", or the name of what is cluster-wide.
  [[nodiscard]] std::string key() const { return ns.empty() ? name : ns + "/" + name; }
  // The whole object. Never fails: the text was read once already.
  [[nodiscard]] Object value() const;
};

[[nodiscard]] Result<Item> read_item(Kind kind, Text text);

// "2026-01-31T12:00:00Z" at the end of the keys as Unix seconds; 0 where there is none.
[[nodiscard]] std::int64_t time_at(const Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] std::int64_t time_at(const Object& object, std::initializer_list<std::string_view> keys);

}  // namespace gantree::controllers
