#include "dialects/koordinator/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

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

// A pod that nothing in the input makes.
struct LoosePod {
  Rank rank;
  PodShape shape;
  const Workload* workload = nullptr;
};

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
      }
    }
    for (auto& [id, pods] : loose_) {
      add_loose(rosters_.gangs[id], pods);
    }
    return std::move(rosters_);
  }

 private:
  void take_bound(const PodRecord& pod) {
    const std::string_view name = gang_name(pod.labels(), pod.annotations());
    if (name.empty()) {
      return;
    }
    Roster& roster = rosters_.gangs[gang_id(pod.ns, name)];
    ++roster.bound;
    if (const auto node = intake_.cluster.inventory().find(pod.node)) {
      roster.nodes.push_back(*node);
    }
  }

  Roster& roster_for(const Workload& workload, const PodTemplate& part) {
    const std::string_view name = gang_name(part.labels(), part.annotations());
    Roster& roster = name.empty() ? rosters_.alone[&workload] : rosters_.gangs[gang_id(workload.key.ns, name)];
    if (workload.created_seconds != 0 &&
        (roster.created_seconds == 0 || workload.created_seconds < roster.created_seconds)) {
      roster.created_seconds = workload.created_seconds;
    }
    if (!roster.objection) {
      roster.objection = workload.objection;
    }
    return roster;
  }

  Result<> take(const Workload& workload) {
    json::Reader read(workload.object.file, workload.object.value,
                      fmt::format("{} \"{}/{}\"", workload.key.kind, workload.key.ns, workload.key.name));
    const bool is_pod = workload.key.kind == "Pod";
    std::vector<Share> shares;
    for (const PodTemplate& part : workload.templates) {
      Share& share = shares.emplace_back(Share{.part = &part, .missing = part.count()});
      share.shape = read_pod_shape(read, part.spec, intake_.cluster.inventory());
    }
    if (!read.ok()) {
      return read.error();
    }
    if (!is_pod) {
      deal_out(workload, shares);
    }
    for (Share& share : shares) {
      Roster& roster = roster_for(workload, *share.part);
      const std::string_view gang = gang_name(share.part->labels(), share.part->annotations());
      if (is_pod && !gang.empty()) {
        Objection objection(workload.object.file, roster.objection);
        loose_[gang_id(workload.key.ns, gang)].push_back(
            {rank_of(workload.key.name, workload.annotations, objection), std::move(share.shape), &workload});
        roster.objection = objection.first();
      } else if (share.missing > 0) {
        add(workload, std::move(share), roster);
      }
    }
    return {};
  }

  // A template of a workload: what of it has a place, what exists and waits, what is to come.
  struct Share {
    const PodTemplate* part = nullptr;
    PodShape shape = {};
    int missing = 0;
    std::vector<Rank> waiting = {};
  };

  // The pods of a workload do not tell their template; what they request does, mostly.
  static Share* share_of(const PodRecord& pod, std::vector<Share>& shares) {
    const auto has_room = [&](const Share& share) { return share.missing > static_cast<int>(share.waiting.size()); };
    Share* any = nullptr;
    for (Share& share : shares) {
      const bool same_gang =
          gang_name(share.part->labels(), share.part->annotations()) == gang_name(pod.labels(), pod.annotations());
      if (has_room(share) && same_gang) {
        if (share.shape.requests == pod.requests) {
          return &share;
        }
        any = any == nullptr ? &share : any;
      }
    }
    return any;
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
    MemberSet set;
    set.label = workload.templates.size() > 1 ? share.part->role : workload.key.name;
    set.shape = std::move(share.shape);
    set.count = share.missing;
    set.spec = share.part->spec;
    set.file = workload.object.file;
    if (static_cast<int>(share.waiting.size()) == share.missing) {
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
        set.label = pod.workload->key.name;
        set.shape = it->first;
        set.spec = pod.workload->templates.front().spec;
        set.file = pod.workload->object.file;
      }
      MemberSet& set = roster.asking[it->second];
      ++set.count;
      set.pods.push_back(pod.workload->key.name);
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
