// Core objects that several dialects look up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/core/label_selector.h"
#include "dialects/core/metadata.h"
#include "dialects/object.h"
#include "json/value.h"
#include "model/resources.h"

namespace gantree {

struct Workload;

// A pod that has not ended. Views and values point into the documents.
struct PodRecord {
  Object object;
  std::string_view ns;
  std::string_view name;
  std::string_view node;       // "" where it is not bound
  std::string_view scheduler;  // spec.schedulerName; "" where not given
  Owner owner;                 // what controls it
  bool deleting = false;
  std::int64_t created_seconds = 0;
  Amounts requests;              // of bound pods only
  Workload* workload = nullptr;  // the topmost in the input that made it; filled in when all is read

  [[nodiscard]] bool bound() const { return !node.empty(); }
  [[nodiscard]] json::Value labels() const { return map_at(object.metadata(), "labels"); }
  [[nodiscard]] json::Value annotations() const { return map_at(object.metadata(), "annotations"); }
  [[nodiscard]] json::Value spec() const { return object.value["spec"]; }
};

// A PodDisruptionBudget.
struct BudgetRecord {
  std::string ns;
  std::string name;
  LabelSelector selector;
  std::optional<int> allowed;   // by its status
  json::Value min_available;    // a number or a percentage; absent where not given
  json::Value max_unavailable;  // the same
};

struct CoreObjects {
  std::map<std::string, LabelMap, std::less<>> namespaces;  // labels by name
  // Values by name. The two system classes that every cluster has are in it from the start.
  std::map<std::string, std::int64_t, std::less<>> priority_classes = {{"system-cluster-critical", 2'000'000'000},
                                                                       {"system-node-critical", 2'000'001'000}};
  std::set<std::string, std::less<>> never_preempting;  // classes whose preemptionPolicy is Never
  bool has_priority_classes = false;                    // whether the input has any
  std::optional<std::int64_t> default_priority;         // of the class marked globalDefault
  std::vector<BudgetRecord> budgets;
  int nodes = 0;
};

}  // namespace gantree
