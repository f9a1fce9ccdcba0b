// Queues of KAI: a tree of guaranteed and highest amounts of cpu, memory and GPUs.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/intake.h"
#include "dialects/kai/draft.h"
#include "dialects/kai/remarks.h"
#include "dialects/object.h"
#include "queue/quota.h"

namespace gantree::kai {

inline constexpr std::size_t kResources = 3;  // cpu, memory, gpu

// Amounts of one resource, in its own units.
struct Allowance {
  std::int64_t quota = kUnlimited;          // guaranteed
  std::optional<std::int64_t> beyond = {};  // what may be used beyond that; none: no bound
};

struct Queue {
  json::Place place;
  std::string parent;  // "" for a root
  bool leaf = true;
  std::array<Allowance, kResources> allowances;
  QueueRules rules;
  LeastRun least_run = {};         // what it says itself
  std::optional<QueueId> id = {};  // of leaves
  std::array<std::optional<QuotaId>, kResources> cells = {};
  // What gangs that nobody may evict use, measured against the quota by itself: such gangs stay within the quota,
  // however much the queue borrows for others.
  std::array<std::optional<QuotaId>, kResources> firm_cells = {};
};

class QueueTree {
 public:
  // Fails where it is malformed.
  [[nodiscard]] Result<> read(const NamedObject& named, Remarks& remarks);
  // Fails where a parent is missing, the tree goes round in circles, or it is deeper than kMaxDepth.
  [[nodiscard]] Result<> connect(Quota& quota);

  // The queue of a draft; nullptr where there is none to count: the input has no queues, or none is named and there
  // is no default. Fails, with file:line, where it names one that is not there or that holds other queues.
  [[nodiscard]] Result<const Queue*> find(const Draft& draft, Remarks& remarks) const;
  // The same of what runs: nullptr wherever it is not clear.
  [[nodiscard]] const Queue* find_running(std::string_view name) const;

 private:
  [[nodiscard]] Result<> check_depth(const std::string& name) const;
  void open(const std::string& name, Quota& quota);

  std::map<std::string, Queue, std::less<>> queues_;
  std::array<std::optional<QuotaId>, kResources> roots_ = {};
};

// As messages and cells name a queue, and what of it is for gangs that nobody may evict; and back from the first.
[[nodiscard]] std::string title_of_queue(std::string_view name);
[[nodiscard]] std::string firm_title_of_queue(std::string_view name);
[[nodiscard]] std::string queue_named_in(std::string_view title);

// What a pod of these requests takes of a queue, as part of a gang that others may evict or may not.
[[nodiscard]] QuotaDemand demand_in(const Queue& queue, bool preemptible, const Amounts& requests,
                                    const ResourceNames& names);

}  // namespace gantree::kai
