// What a family does on a live cluster, beside reading: which pods belong together, and who is told what.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialects.h"
#include "dialects/write.h"
#include "model/decision.h"

namespace gantree {

// The pods of a gang, by how far they are.
struct MemberCounts {
  int pending = 0;  // gated ones too
  int bound = 0;    // have a node, and have not ended
  int running = 0;  // of the bound ones
  int succeeded = 0;
  int failed = 0;
};

// What became of a gang when it was last looked at.
struct Verdict {
  GangState state = GangState::kWaiting;
  Reason reason = Reason::kGangIncomplete;  // unless placed
  std::string message;                      // one sentence; where placed, where to
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// In the message of a gang that waits, before the time from which others are evicted for it.
inline constexpr std::string_view kEvictsNobodyBefore = "it evicts nobody before ";

// A cell of a queue, and what gangs ask for there: those that run, and those that wait.
struct CellFigures {
  QuotaCell cell;
  std::int64_t requested = 0;
};

struct GangReport {
  const Object& object;  // what defines the gang, as it was last seen
  MemberCounts members;
  const Verdict* verdict = nullptr;  // nullptr where it was not looked at
  bool idle = false;                 // neither it nor any gang that starts with it has a pod with a node
  std::string now;                   // RFC 3339
};

// Between the name of a gang, namespace/name, and its family, in what identifies it; in no name of an object.
inline constexpr char kOfFamily = '@';

class LiveDialect {
 public:
  LiveDialect() = default;
  virtual ~LiveDialect() = default;
  LiveDialect(const LiveDialect&) = delete;
  LiveDialect& operator=(const LiveDialect&) = delete;

  // Whether its gangs have queues: what they use of quota is then counted as long as they run. Their keys name the
  // family.
  [[nodiscard]] virtual bool has_queues() const { return false; }
  // Its name, as its gangs' keys have it; "" where those need none.
  [[nodiscard]] virtual std::string_view family() const { return ""; }
  // The kinds to watch beside the core ones.
  [[nodiscard]] virtual std::span<const ApiKind> kinds() const = 0;
  // Reads the objects of one cycle.
  [[nodiscard]] virtual std::unique_ptr<Dialect> reader() const = 0;
  // The gang of a pod, by its metadata; "" where it has none.
  [[nodiscard]] virtual std::string gang_of(std::string_view ns, json::Value metadata) const = 0;
  // Why a pod that carries marks of the family and is in no gang of it has to wait, as a sentence; "" where it need
  // not.
  [[nodiscard]] virtual std::string ungrouped(json::Value /*metadata*/, json::Value /*spec*/) const { return ""; }
  // The gang that an object of kinds() defines; "" where it concerns the whole cluster.
  [[nodiscard]] virtual std::string defines(const NamedObject& named) const = 0;
  // The gang of that name.
  [[nodiscard]] virtual std::string gang_named(std::string_view ns, std::string_view name) const = 0;
  // The other gangs that start together with the one of this object or pod, as far as that says so.
  [[nodiscard]] virtual std::vector<std::string> partners(const NamedObject& named) const = 0;
  // What the status of the object that defines a gang should be; nothing where it says so already.
  [[nodiscard]] virtual std::optional<Write> report(const GangReport& report) const = 0;
  // What the status of a queue should be, by the cells of all its queues with what is used of each; nothing for other
  // objects.
  [[nodiscard]] virtual std::optional<Write> report_queue(const NamedObject& /*named*/,
                                                          std::span<const CellFigures> /*cells*/) const {
    return std::nullopt;
  }
  // Why a gang waits, in its users' words: the reason of events.
  [[nodiscard]] virtual std::string_view event_reason(const Verdict& verdict) const {
    return to_string(verdict.reason);
  }
  // The same for an object that concerns the whole cluster.
  [[nodiscard]] virtual std::optional<Write> report(const NamedObject& named, Cluster& cluster) const = 0;
};

// The schedulerNames that Gantree serves unless told otherwise: its own, and those of the families that are live. The
// chart has the same.
[[nodiscard]] std::vector<std::string> default_schedulers();

// The families that are live. `schedulers`: pods whose schedulerName is one of these are ours to place.
[[nodiscard]] std::vector<std::unique_ptr<LiveDialect>> live_dialects(const std::vector<std::string>& schedulers);

// The dialects for one cycle: the core objects first.
[[nodiscard]] std::vector<std::unique_ptr<Dialect>> readers_of(std::span<const std::unique_ptr<LiveDialect>> live);

}  // namespace gantree
