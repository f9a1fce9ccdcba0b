#include "dialects/koordinator/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

#include "base/timestamp.h"
#include "dialects/core/not_looked_at.h"
#include "dialects/core/pod.h"
#include "dialects/koordinator/names.h"

namespace gantree::koordinator {

namespace {

constexpr std::int64_t kNoIndex = std::numeric_limits<std::int64_t>::max();

bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && digit(text[size])) {
    ++size;
  }
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

// -1, 0 or 1. Leading zeros do not count.
int compare_numbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) {
    return a.size() < b.size() ? -1 : 1;
  }
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// The rank of a pod: by its index, where it has one, then by name.
struct Rank {
  std::int64_t index = kNoIndex;
  std::string_view name;

  bool operator<(const Rank& other) const {
    return index != other.index ? index < other.index : natural_less(name, other.name);
  }
};

Rank rank_of(std::string_view name, json::Value annotations, Objection& objection) {
  Rank rank{.index = kNoIndex, .name = name};
  if (const json::Value value = text_at(annotations, kTopologyIndex)) {
    const std::string_view text = value.text();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank.index);
    if (error != std::errc{} || end != text.data() + text.size() || rank.index < 0) {
      objection.raise(value, fmt::format("{} must be a whole number from 0, not \"{}\"", kTopologyIndex, text));
      rank.index = kNoIndex;
    }
  }
  return rank;
}

// As it would be on a cluster: see not_looked_at().
void refuse_unheard(json::Value spec, std::string_view who_asks, Objection& objection) {
  if (const std::string demand = not_looked_at(spec); !demand.empty()) {
    objection.raise(spec, fmt::format("{} for {}, which this scheduler does not look at", who_asks, demand));
  }
}

// A pod that is a member by itself: nothing in the input makes it, or what makes it does not name the gang.
struct LoosePod {
  Rank rank;
  PodShape shape;
  SpecSource source;
};

std::string_view gang_name(const PodTemplate& part) {
  return koordinator::gang_name(part.labels(), part.annotations());
}

std::string_view gang_name(const PodRecord& pod) {
  return koordinator::gang_name(pod.labels(), pod.annotations());
}

class RollCall {
 public:
  explicit RollCall(Intake& intake) : intake_(intake) {}

  Result<Rosters> call() {
    for (const PodRecord& pod : intake_.pods) {
      if (pod.workload != nullptr && pod.workload->dialect == kFamily && !pod.deleting) {
        pods_of_[pod.workload].push_back(&pod);
      }
      if (pod.bound() && !pod.deleting) {
        take_bound(pod);
      }
    }
    for (const Workload& workload : intake_.workloads) {
      if (workload.dialect == kFamily) {
        if (auto taken = take(workload); !taken) {
          return tl::unexpected(taken.error());
        }
      } else if (!workload.dialect.empty()) {
        note_elsewhere(workload);
      }
    }
    for (auto& [id, pods] : loose_) {
      add_loose(rosters_.gangs[id], pods);
    }
    return std::move(rosters_);
  }

 private:
  void take_bound(const PodRecord& pod) {
    if (const std::string_view name = gang_name(pod); !name.empty()) {
      count_bound(pod, rosters_.gangs[gang_id(pod.ns, name)]);
    }
  }

  void count_bound(const PodRecord& pod, Roster& roster) {
    ++roster.bound;
    roster.members_created.push_back(pod.created_seconds);
    const json::Value status = map_at(pod.object.value, "status");
    const json::Value start = status ? text_at(status, "startTime") : json::Value();
    if (const auto seconds = start ? parse_time(start.text()) : std::nullopt) {
      roster.first_start = std::min(*seconds, roster.first_start.value_or(*seconds));
    }
    if (const auto node = intake_.cluster.inventory().find(pod.node)) {
      roster.nodes.push_back(*node);
    }
  }

  void note_elsewhere(const Workload& workload) {
    for (const PodTemplate& part : workload.templates) {
      if (const std::string_view name = gang_name(part); !name.empty()) {
        rosters_.gangs[gang_id(workload.key.ns, name)].elsewhere = true;
      }
    }
  }

  Roster& roster_for(const Workload& workload, const PodTemplate& part) {
    const std::string_view name = gang_name(part);
    Roster& roster = name.empty() ? rosters_.alone[&workload] : rosters_.gangs[gang_id(workload.key.ns, name)];
    note_created(roster, workload.created_seconds);
    if (!roster.objection) {
      roster.objection = workload.objection;
    }
    return roster;
  }

  Result<> take(const Workload& workload) {
    const auto named = [](const PodTemplate& part) { return !gang_name(part).empty(); };
    const bool by_template = std::any_of(workload.templates.begin(), workload.templates.end(), named);
    if (workload.key.kind == "Pod" && by_template) {
      return take_loose(workload.object, workload.key.ns, workload.key.name, workload.created_seconds);
    }
    const auto pods = pods_of_.find(&workload);
    const auto marked = [](const PodRecord* pod) { return !gang_name(*pod).empty(); };
    if (!by_template && pods != pods_of_.end() && std::any_of(pods->second.begin(), pods->second.end(), marked)) {
      return take_pods(pods->second);
    }
    json::Reader read(workload.object.file, workload.object.value,
                      fmt::format("{} \"{}/{}\"", workload.key.kind, workload.key.ns, workload.key.name));
    std::vector<Share> shares;
    for (const PodTemplate& part : workload.templates) {
      Share& share = shares.emplace_back(Share{.part = &part, .missing = part.count()});
      share.shape = read_pod_shape(read, part.spec, intake_.cluster.inventory());
    }
    if (!read.ok()) {
      return read.error();
    }
    if (workload.key.kind != "Pod") {
      deal_out(workload, shares);
    }
    for (Share& share : shares) {
      Roster& roster = roster_for(workload, *share.part);
      if (share.missing > 0) {
        add(workload, std::move(share), roster);
      }
    }
    return {};
  }

  // Some controllers put the marks on pods when they make them: then the pods there are are the members.
  Result<> take_pods(const std::vector<const PodRecord*>& pods) {
    for (const PodRecord* pod : pods) {
      if (!pod->bound() && !gang_name(*pod).empty()) {
        if (auto taken = take_loose(pod->object, pod->ns, pod->name, pod->created_seconds); !taken) {
          return taken;
        }
      }
    }
    return {};
  }

  Result<> take_loose(const Object& object, std::string_view ns, std::string_view name, std::int64_t created) {
    json::Reader read(object.file, object.value, fmt::format("Pod \"{}/{}\"", ns, name));
    const json::Value metadata = object.metadata();
    const json::Value spec = object.value["spec"];
    const GangId id = gang_id(ns, koordinator::gang_name(map_at(metadata, "labels"), map_at(metadata, "annotations")));
    Roster& roster = rosters_.gangs[id];
    Objection objection(object.file, roster.objection);
    refuse_unheard(spec, fmt::format("Pod \"{}/{}\" asks", ns, name), objection);
    loose_[id].push_back({.rank = rank_of(name, map_at(metadata, "annotations"), objection),
                          .shape = read_pod_shape(read, spec, intake_.cluster.inventory()),
                          .source = {.file = object.file, .spec = spec, .labels = map_at(metadata, "labels")}});
    roster.objection = objection.first();
    roster.members_created.push_back(created);
    note_created(roster, created);
    return read.ok() ? Result<>() : read.error();
  }

  static void note_created(Roster& roster, std::int64_t created) {
    if (created != 0 && (roster.created_seconds == 0 || created < roster.created_seconds)) {
      roster.created_seconds = created;
    }
  }

  // A template of a workload: what of it has a place, what exists and waits, what is to come.
  struct Share {
    const PodTemplate* part = nullptr;
    PodShape shape = {};
    int missing = 0;
    std::vector<Rank> waiting = {};
  };

  // The pods of a workload do not tell their template; their gang and what they request do, mostly.
  static Share* share_of(const PodRecord& pod, std::vector<Share>& shares) {
    Share* best = nullptr;
    int best_points = -1;
    for (Share& share : shares) {
      const int points =
          (gang_name(*share.part) == gang_name(pod) ? 2 : 0) + (share.shape.requests == pod.requests ? 1 : 0);
      if (share.missing > static_cast<int>(share.waiting.size()) && points > best_points) {
        best = &share;
        best_points = points;
      }
    }
    return best;
  }

  void deal_out(const Workload& workload, std::vector<Share>& shares) {
    const auto pods = pods_of_.find(&workload);
    if (pods == pods_of_.end()) {
      if (workload.running) {
        run_by_status(workload, shares);
      }
      return;
    }
    for (const bool bound : {true, false}) {
      for (const PodRecord* pod : pods->second) {
        Share* share = pod->bound() == bound ? share_of(*pod, shares) : nullptr;
        if (share != nullptr && bound) {
          --share->missing;
          if (gang_name(*pod).empty() && !gang_name(*share->part).empty()) {
            count_bound(*pod, roster_for(workload, *share->part));
          }
        } else if (share != nullptr) {
          Roster& roster = roster_for(workload, *share->part);
          Objection objection(pod->object.file, roster.objection);
          share->waiting.push_back(rank_of(pod->name, pod->annotations(), objection));
          roster.objection = objection.first();
        }
      }
    }
  }

  // Its status says that it runs; where, the input does not tell.
  void run_by_status(const Workload& workload, std::vector<Share>& shares) {
    for (Share& share : shares) {
      roster_for(workload, *share.part).bound += share.missing;
      share.missing = 0;
    }
  }

  static void add(const Workload& workload, Share share, Roster& roster) {
    Objection objection(workload.object.file, roster.objection);
    const std::string who = fmt::format("{} \"{}/{}\"", workload.key.kind, workload.key.ns, workload.key.name);
    refuse_unheard(share.part->spec, workload.key.kind == "Pod" ? who + " asks" : who + ": its pods ask", objection);
    roster.objection = objection.first();
    MemberSet set;
    set.label = workload.templates.size() > 1 ? share.part->role : workload.key.name;
    set.shape = std::move(share.shape);
    set.count = share.missing;
    set.specs.push_back({.file = workload.object.file, .spec = share.part->spec, .labels = share.part->labels()});
    if (workload.key.kind == "Pod") {
      set.pods.push_back(workload.key.name);
    } else if (static_cast<int>(share.waiting.size()) == share.missing) {
      std::sort(share.waiting.begin(), share.waiting.end());
      for (const Rank& rank : share.waiting) {
        set.pods.emplace_back(rank.name);
      }
    }
    roster.asking.push_back(std::move(set));
  }

  // Pods of one shape are one set; sets are in the order of their first ranks.
  static void add_loose(Roster& roster, std::vector<LoosePod>& pods) {
    std::sort(pods.begin(), pods.end(), [](const LoosePod& a, const LoosePod& b) { return a.rank < b.rank; });
    std::map<PodShape, std::size_t> position;
    for (LoosePod& pod : pods) {
      const auto [it, fresh] = position.try_emplace(std::move(pod.shape), roster.asking.size());
      if (fresh) {
        MemberSet& set = roster.asking.emplace_back();
        set.label = pod.rank.name;
        set.shape = it->first;
      }
      MemberSet& set = roster.asking[it->second];
      ++set.count;
      set.pods.emplace_back(pod.rank.name);
      set.specs.push_back(pod.source);
    }
  }

  Intake& intake_;
  Rosters rosters_;
  std::map<const Workload*, std::vector<const PodRecord*>> pods_of_;
  std::map<GangId, std::vector<LoosePod>> loose_;
};

}  // namespace

std::int64_t Roster::pending() const {
  std::int64_t sum = 0;
  for (const MemberSet& set : asking) {
    sum += set.count;
  }
  return sum;
}

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      if (const int order = compare_numbers(take_digits(a), take_digits(b)); order != 0) {
        return order < 0;
      }
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

Result<Rosters> call_roll(Intake& intake) {
  return RollCall(intake).call();
}

}  // namespace gantree::koordinator
