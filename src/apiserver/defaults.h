// What the real server fills in that the schemas do not say, per built-in kind. Pure: what has to be looked up is
// passed in.
//
// fill_defaults() is for every write; what it sets belongs to the writer. prepare_create() and prepare_update() come
// after it, and after the account of who owns what: what they set belongs to nobody. They want an object that was
// pruned and canonicalized, and leave alone what is of the wrong type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

void fill_defaults(std::string_view group, std::string_view kind, Object& object);

// Status at its beginning, finalizers and labels of namespaces, selectors of Jobs (metadata.uid must be set),
// tolerations and service accounts of pods.
void prepare_create(std::string_view group, std::string_view kind, Object& object);
// Tolerations that every pod has.
void prepare_update(std::string_view group, std::string_view kind, Object& object);

struct PriorityClassFacts {
  std::string name;
  std::int64_t value = 0;
  std::string preemption_policy;
  bool global_default = false;
};

// Gives a new pod the number of its priority class. A sentence where it names a class that is not there, or carries
// another number than the class ("pods "a" is forbidden: " goes before it, code 403).
[[nodiscard]] std::optional<std::string> resolve_priority(Object& pod, std::span<const PriorityClassFacts> classes);

// The address that a new Service of type ClusterIP, NodePort or LoadBalancer was given.
void set_cluster_ip(Object& service, std::string_view address);
// The same for one that names its address, or that it wants none.
void complete_addresses(Object& service);
// False for headless and external services, and those that name their address.
[[nodiscard]] bool wants_cluster_ip(const Object& service);

// Guaranteed, Burstable or BestEffort.
[[nodiscard]] std::string_view quality_of(const Object& pod_spec);

// Parts of the above, for kinds that hold pods.
void fill_pod_spec(Object& spec);
void fill_workload(std::string_view kind, Object& object);

// Sets a member that is not there or null; gives what is there then.
template <class T>
Value& fall_back(Object& object, std::string_view key, const T& value) {
  Value& there = object[key];
  if (there.is_null()) {
    there = value;
  }
  return there;
}
// The member as an object, made where it is missing; nullptr where it is something else.
[[nodiscard]] Object* object_or_new(Object& object, std::string_view key);

}  // namespace gantree::apiserver
