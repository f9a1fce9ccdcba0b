// API objects to submissions: the one door of all API families.
//
// A family is a folder here with a class that keeps the Dialect contract, and one
// line in all_dialects(). Pure: no I/O, no clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/intake.h"
#include "dialects/object.h"
#include "json/value.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// How sure a dialect is that a workload speaks its language.
enum class Claim : std::uint8_t {
  kNone,
  kDefault,  // it carries no mark of any family, but this dialect takes the kind where nobody else does
  kMarked,   // it carries marks of this family
};

class Dialect {
 public:
  Dialect() = default;
  virtual ~Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::span<const ApiKind> kinds() const = 0;
  // Takes one object of those kinds. Fails where it is malformed, with file:line. References to
  // other objects are not followed yet: those may come later.
  [[nodiscard]] virtual Result<> read(const NamedObject& named, Intake& intake) = 0;
  // When all objects of all dialects are read: follows the references between administrators' objects.
  [[nodiscard]] virtual Result<> connect(Intake&) { return {}; }
  // Whether this dialect speaks for a workload that nothing in the input controls. Of several that
  // are as sure, the first in all_dialects() gets it.
  [[nodiscard]] virtual Claim claim(const Workload&, const Intake&) const { return Claim::kNone; }
  // The gang to which a pod belongs, where that is not simply the topmost workload that made it.
  [[nodiscard]] virtual std::optional<GangKey> gang_of(const PodRecord&, const Intake&) const { return std::nullopt; }
  // What the family knows of a gang that runs, beside its pods: its quota, a priority of its own,
  // whether it may be evicted, domains that it has to itself. `workload` is nullptr where the input
  // has only the pods. Called for the gangs of this dialect, after connect() and before submit().
  virtual void describe(const Workload*, std::span<const PodRecord* const>, Intake&, RunningGang&) {}
  // What objects of the family's own kinds say became of gangs. Called where that is asked for, before submit().
  virtual void take_signs(Intake&) const {}
  // Hands over submissions for the workloads whose `dialect` is this one and that ask. An invalid
  // request is a submission with a rejection, not a failure.
  [[nodiscard]] virtual Result<> submit(Intake& intake) = 0;
};

// Every family there is; the core objects, on which the others build, first.
[[nodiscard]] std::vector<std::unique_ptr<Dialect>> all_dialects();

// Reads a whole cluster. Fails on malformed objects, on two objects of one name and on references
// between administrators' objects that point nowhere. The documents need not live on afterwards.
//
// `levels`: label keys of a topology for jobs to which no other is given; may be empty.
[[nodiscard]] Result<Reading> take_in(const std::vector<json::Document>& documents,
                                      const std::vector<std::string>& levels, Cluster& cluster, Quota& quota);

// Whether what pods and the like say became of gangs is of interest too, beside what is asked.
enum class Detail : bool { kRequests, kSigns };

// The same with these dialects alone. Where `faults` is not nullptr, objects that are malformed and references that
// point nowhere are noted there and passed over; it fails only where a request itself cannot be read.
[[nodiscard]] Result<Reading> take_in(std::span<const std::unique_ptr<Dialect>> dialects,
                                      const std::vector<json::Document>& documents, std::optional<TopologyId> levels,
                                      Cluster& cluster, Quota& quota, std::vector<Error>* faults,
                                      Detail detail = Detail::kRequests);

}  // namespace gantree
