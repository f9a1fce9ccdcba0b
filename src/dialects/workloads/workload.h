// Objects that make pods, of whatever kind, as one shape: templates with counts.
//
// This says only what the kinds themselves say. What a family makes of it (gangs, minima, closeness)
// is the business of its dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/core/metadata.h"
#include "dialects/object.h"
#include "json/decode.h"
#include "model/gang.h"

namespace gantree {

// So many identical pods in one role.
struct PodTemplate {
  std::string role;          // "main", "leader", "worker", the name of a replicatedJob, ...
  json::Value at;            // where it stands: the replica spec, the worker group, the Job spec
  std::string pointer = {};  // to the pod template, as a JSON Pointer; of training jobs and Ray clusters
  json::Value metadata;      // of the pods; may be absent
  json::Value job_metadata;  // of the child Jobs that make the pods, where there are such; else absent
  json::Value spec;          // of the pods
  int replicas = 1;          // equal parts: child Jobs, groups
  int each = 1;              // pods of one part

  [[nodiscard]] int count() const { return replicas * each; }
  [[nodiscard]] json::Value labels() const { return map_at(metadata, "labels"); }
  [[nodiscard]] json::Value annotations() const { return map_at(metadata, "annotations"); }
};

struct Workload {
  Object object;
  GangKey key;
  Owner owner;              // what controls it
  json::Value labels;       // of its metadata; may be absent
  json::Value annotations;  // the same
  std::int64_t created_seconds = 0;
  bool running = false;  // it has started, by its status
  bool over = false;     // finished, being deleted or suspended for good: it neither asks nor runs
  std::vector<PodTemplate> templates;
  std::shared_ptr<const void> made;      // what templates live in that are not in the input as they are
  std::optional<std::string> objection;  // well-formed, but wrong: why it can be rejected at once, with file:line

  // Filled in when all is read.
  const Workload* parent = nullptr;  // the workload in the input that controls it
  std::string_view dialect;          // who speaks for it; "" where nobody does
  int bound_pods = 0;                // its pods in the input that have a node
  int pending_pods = 0;              // and that have none

  [[nodiscard]] json::Place place() const { return object.place(); }
  [[nodiscard]] int pods() const;
  // The label, else the annotation of that name on the workload; absent where neither is a string.
  [[nodiscard]] json::Value mark(std::string_view name) const;
};

// The kinds that read_workload() knows.
[[nodiscard]] std::span<const ApiKind> workload_kinds();

// Fails where the object is malformed; what is well-formed but wrong is the workload's objection.
[[nodiscard]] Result<Workload> read_workload(const NamedObject& named);

// A TrainJob. Its runtime's spec is absent where the input does not have it: then only what the job itself says of
// its nodes counts.
[[nodiscard]] Result<Workload> read_train_job(const NamedObject& named, json::Value runtime_spec);

// The string at a key of a map that may be absent; absent where it is no string or empty.
[[nodiscard]] json::Value text_at(json::Value map, std::string_view key);
// The text itself, "" where there is none.
[[nodiscard]] std::string_view text_in(json::Value map, std::string_view key);

}  // namespace gantree
