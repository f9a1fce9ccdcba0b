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
#include "dialects/core/objects.h"
#include "dialects/object.h"
#include "json/value.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// A kind that a dialect reads, in the versions that it understands.
struct ApiKind {
  std::string_view group;
  std::string_view kind;
  std::vector<std::string_view> versions;
  bool namespaced = true;
};

// An object by its name, which is generated where the input has only generateName.
struct NamedObject {
  const Object& object;
  std::string_view ns;  // "" where the kind is not namespaced
  std::string_view name;
};

// What was read, beside the cluster itself.
struct Reading {
  std::vector<Submission> queue;
  std::vector<std::string> notes;      // for the user: what was taken for granted
  std::map<std::string, int> ignored;  // objects of kinds that no dialect reads, by kind
};

// What the dialects work on.
struct Intake {
  Cluster& cluster;
  Quota& quota;
  std::optional<TopologyId> levels;  // a topology for jobs to which no other is given
  CoreObjects core;
  Reading reading;
};

class Dialect {
 public:
  Dialect() = default;
  virtual ~Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;

  [[nodiscard]] virtual std::span<const ApiKind> kinds() const = 0;
  // Takes one object of those kinds. Fails where it is malformed, with file:line. References to
  // other objects are not followed yet: those may come later.
  [[nodiscard]] virtual Result<> read(const NamedObject& named, Intake& intake) = 0;
  // When all objects of all dialects are read: follows references and hands over submissions. An
  // invalid request is a submission with a rejection, not a failure.
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

}  // namespace gantree
