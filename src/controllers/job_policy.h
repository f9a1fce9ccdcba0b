// What a Job's own rules make of pods: podFailurePolicy, backoffLimitPerIndex, successPolicy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/index_set.h"
#include "controllers/item.h"

namespace gantree::controllers {

enum class Verdict : std::uint8_t {
  kCount,      // one of the failures that are allowed
  kIgnore,     // no failure: replaced, and not counted
  kFailIndex,  // no further pod of that index
  kFailJob,
};

struct Judgement {
  Verdict verdict = Verdict::kCount;
  std::string message = {};  // of kFailJob
};

// What the first rule that matches says of a pod that failed.
[[nodiscard]] Judgement judge(const Object& job, const Item& pod, const Object& root);

// The failures of one index so far, as its last pod tells.
struct IndexFailures {
  const Item* last = nullptr;
  std::int64_t counted = 0;
  std::int64_t ignored = 0;
  bool fails_index = false;  // by a rule

  [[nodiscard]] std::int64_t all() const { return counted + ignored; }
};
using FailuresByIndex = std::map<std::int64_t, IndexFailures>;

// Takes in one failed pod of an indexed job.
void add_failure(FailuresByIndex& failures, const Item& pod, const Object& root, Verdict verdict);
// Onto a new pod of an index: what its predecessors' failures were.
void note_failures(Object& pod, const FailuresByIndex& failures, std::int64_t index);

// Why the job has succeeded although not all indexes have; nothing where it has not.
[[nodiscard]] std::optional<std::string> met_success_rule(const Object& job, const IndexSet& succeeded,
                                                          std::int64_t completions);

}  // namespace gantree::controllers
