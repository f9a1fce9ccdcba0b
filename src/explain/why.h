// Why a gang waits, is turned down, or landed where it did: plain values, for people and for programs.
//
// All is computed at the gang's own turn, on the cluster and the quota as it finds them. What is called a
// remedy has been tried: the cluster was changed that way, the gang really placed, and the change undone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/decision.h"
#include "model/record.h"
#include "model/running.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

// A domain by its label values from the top; of a host that is no level of the topology also its name. Empty:
// all domains together.
using DomainPath = std::vector<std::string>;

// Why hosts take no pod, or no more pods, of one shape. Most hosts first.
struct HostCensus {
  int hosts = 0;
  int roomy = 0;                                           // where one more pod fits now
  std::vector<std::pair<Ineligible, int>> left_out = {};   // whatever is free on them
  std::vector<std::pair<std::string, int>> taints = {};    // of those that are tainted: not tolerated, by key
  std::vector<std::pair<ResourceId, int>> too_small = {};  // short of this even when empty
  std::vector<std::pair<ResourceId, int>> short_now = {};  // short of this now
  int no_slice = 0;                                        // room for pods, but for no whole slice
};

// By what domains are measured: pods of one set, or units of one resource that all sets ask for.
struct Measure {
  std::string pod_set;                      // "": several sets together
  std::optional<ResourceId> resource = {};  // of several sets
  std::int64_t unit = 1;                    // what one of `needed` is worth of the resource
  int needed = 0;                           // with which the gang may start
  int level = -1;                           // one domain of which must offer that; -1: all of them together
  TopologyId topology = {};
};

// What the domains of a level could do for the gang, had it to be in one of them. Below the level that is required of
// all its parts together, for the part that is the measure alone.
struct LevelRow {
  int level = -1;  // -1: anywhere
  int domains = 0;
  int when_empty = 0;  // that could hold it if nothing ran
  int now = 0;         // that can hold it now
  DomainPath best = {};
  int offers = 0;             // the best one, now, of the measure
  int offers_when_empty = 0;  // the best one if nothing ran
};

// Who has room in a domain.
struct Holder {
  GangKey key;
  std::int64_t priority = 0;
  int pods = 0;
  std::int64_t amount = 0;  // of the domain's scarce resource
  bool planned = false;     // went before the gang in this plan; else it runs already
};

struct NearDomain {
  DomainPath path;
  int offers = 0;
  int offers_when_empty = 0;
  bool taken = false;  // another gang of its kind has it to itself
  HostCensus hosts;
  ResourceId resource = {};     // the scarce one
  std::vector<Holder> holders;  // of pods that ask for it, the largest first
  std::int64_t others = 0;      // in use by pods of no gang
};

// One cell of quota that the gang needs.
struct QuotaNeed {
  QuotaId cell;
  std::string queue;
  std::string flavor;
  std::string resource;
  Unit unit = Unit::kOne;
  std::int64_t needed = 0;
  std::int64_t left = 0;      // what it could have now; kUnlimited: no bound
  std::int64_t borrowed = 0;  // of `needed`, beyond what is the queue's own
  [[nodiscard]] std::int64_t missing() const { return needed > left ? needed - left : 0; }
};

// A gang that would have to leave.
struct RemedyVictim {
  GangKey key;
  std::int64_t priority = 0;
  int pods = 0;
  std::string forbidden = {};  // why the rules do not allow it; "": they do
};

enum class RemedyKind : std::uint8_t {
  kFewerPods,
  kFewerGroups,
  kCoarserLevel,  // required
  kPreferred,     // no level required, the same one preferred
  kNoSlices,      // that layer of slices left out
  kShared,        // a domain that it need not have to itself
  kSmallerPods,   // less of a resource for each
  kNoSelector,    // neither node selector nor node affinity
  kTolerate,      // a taint
  kGoFirst,       // before gangs that were placed in this plan
  kEvict,
  kMendHosts,  // made ready and schedulable
  kMoreHosts,
  kMoreDomains,
  kMoreQuota,
};
[[nodiscard]] const char* to_string(RemedyKind kind);

// A change after which the gang starts. Which members mean something depends on the kind.
struct Remedy {
  RemedyKind kind = RemedyKind::kFewerPods;
  std::string subject = {};  // the pod set or taint that it is about; "": the gang
  bool with_quota = false;   // helps only together with the quota that is missing
  int count = 0;             // pods or groups that start, hosts or domains to add
  int asked = 0;             // pods or groups now
  int sets = 1;              // pod sets like `subject`, of each of which `count` start
  int from = -1;             // levels, of `topology`
  int to = -1;
  TopologyId topology = {};
  DomainPath domain = {};    // where hosts are added
  int hosts_each = 0;        // of a domain to add
  ResourceId resource = {};  // with kSmallerPods
  std::int64_t amount = 0;   // of it, for one pod
  std::int64_t asked_amount = 0;
  bool relaxed = false;   // with kEvict: helps only where no level is required either
  std::string like = {};  // a host as those to add
  std::vector<std::string> nodes = {};
  std::vector<RemedyVictim> victims = {};
  std::vector<QuotaNeed> quota = {};
  std::vector<HostShare> place = {};  // what it would get, where those hosts exist
};

// How a placed gang came to its place.
enum class Choice : std::uint8_t {
  kOnly,      // no other domain of the level could hold it
  kTightest,  // others could, with more room left over
  kFewest,    // tighter ones could, with more domains below in use
  kBest,      // by the rules of the engine, but not for one of these reasons alone
  kCleared,   // no domain could hold it before others were evicted
  kSpread,    // asked for
  kBalanced,  // asked for
  kHoles,     // no topology asked for: the smallest holes first
};

struct Landing {
  Choice choice = Choice::kBest;
  TopologyId topology = {};
  int level = -1;  // the lowest of which one domain has all the pods; -1: none has
  DomainPath domain = {};
  int could = 0;               // domains of that level that could have held it
  int offered = 0;             // by the domain, of the measure
  int tighter_children = 0;    // with kFewest: domains below that the tightest would have needed
  int children = 0;            // and those in use
  std::vector<int> used = {};  // domains with pods of it, by level from the top to hosts
};

// Another gang that was asked about under the same name.
struct Sibling {
  GangKey key;
  bool running = false;
  GangState state = GangState::kPlaced;  // unless running
};

struct Explanation {
  GangKey key;
  std::string dialect;
  std::int64_t priority = 0;
  bool over = false;     // neither asks nor runs: then only the record tells of it
  bool running = false;  // then only `holdings` says more, and `evictions` who drives it out
  std::vector<Holding> holdings = {};
  Decision decision = {};  // unless running
  int turn = 0;            // of `turns`
  int turns = 0;
  std::optional<Alternative> asked = {};  // the way to start that is explained; none where rejected
  std::size_t ways = 0;                   // how many there are, up to kMostCounted
  bool held_back = false;                 // nothing but the order of its queue keeps it from starting
  std::string queue = {};                 // as messages name it; "": none
  std::vector<QuotaNeed> quota = {};
  Measure measure = {};
  std::vector<LevelRow> levels = {};
  HostCensus hosts = {};
  int outside = 0;  // nodes that lack a label of the topology
  std::vector<NearDomain> nearest = {};
  bool tried = false;  // remedies were looked for
  std::vector<Remedy> remedies = {};
  std::optional<Landing> landing = {};
  std::vector<Eviction> evictions = {};   // for it, or of it where it runs
  std::vector<Sibling> siblings = {};     // in the order asked for
  std::optional<GangRecord> record = {};  // what its family has written down of it; of no importance for the rest
};

// Runs a whole cycle and explains one of these gangs, which are among the submissions or run: the first, in the
// order of their turns, that does not start; else the first of them. Cluster and quota are as the cycle leaves
// them. Requires at least one key, and that each is known.
[[nodiscard]] Explanation explain_gang(Cluster& cluster, Quota& quota, std::vector<Submission> submissions,
                                       const std::vector<GangKey>& keys);

}  // namespace gantree
