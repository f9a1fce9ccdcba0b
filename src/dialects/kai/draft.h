// A gang of the KAI family before names are looked up: groups of pods with minima and levels, the
// same whether a PodGroup says so or the pod grouper makes it from a workload.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/intake.h"
#include "dialects/kai/levels.h"
#include "dialects/kai/names.h"
#include "dialects/kai/standing.h"
#include "dialects/workloads/workload.h"
#include "model/gang.h"
#include "queue/submission.h"

namespace gantree::kai {

inline constexpr std::chrono::milliseconds kUsualStaleness = std::chrono::seconds(60);

// Cut into pieces of so many pods, each inside one domain of a level. Preferred levels climb.
struct Segments {
  int size = 0;  // 0: not cut
  LevelRequest levels = {};
};

// So many pods of one template.
struct DraftSet {
  std::string name;
  const PodTemplate* pods = nullptr;
  std::string_view file;  // in which the template stands
  int count = 1;
  int min = 1;
  LevelRequest levels = {};
  Segments segments = {};
  // Which of the template's pods these are: of one replica (-1: of all), from that index on.
  int replica = -1;
  int first = 0;
  bool one_of_many = false;                 // a pod on its own: those of one shape beside it become one set
  std::vector<std::string> pod_names = {};  // in rank order, where they exist
  std::vector<NodeId> bound = {};           // nodes of its pods that run already; not in `count`
};

struct DraftGroup {
  std::string name;
  LevelRequest levels = {};
  Segments segments = {};  // over its sets together, in their order
  std::vector<DraftSet> sets = {};
  std::vector<DraftGroup> groups = {};
  std::optional<int> min_pods = {};
  std::optional<int> min_groups = {};
  std::vector<NodeId> bound = {};  // nodes of all pods below that run already
};

struct Draft {
  GangKey key;
  std::string_view file;
  int line = 0;
  std::int64_t created_seconds = 0;
  DraftGroup root;
  StandingRequest standing;
  json::Value placement;      // the annotation gantree.dev/placement; may be absent
  json::Value queue;          // as named; absent: the default queue
  std::string project_queue;  // the queue that the label of a project names, where `queue` is absent; else ""
  std::string_view queue_field = kQueue;  // what `queue` is called, for messages
  std::vector<std::string> remarks = {};
  std::optional<Rejection> rejection = {};
  std::int64_t evicts_from_seconds = 0;  // Unix time: nobody is evicted for it before
  // How long it may run with fewer pods than its minimum; nothing: for ever.
  std::optional<std::chrono::milliseconds> staleness_grace = kUsualStaleness;
};

}  // namespace gantree::kai
