// The ways in which a submission may start as a whole, one after the other.
//
// Up to 64 are all given out, so that a verdict can name each. Where there are more (several pod sets, many flavors),
// those come for which there is quota, and after one that finds no room no other with the pods that are to blame. So a
// way is found where there is one; where the search was cut short, gave_up() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "queue/combinations.h"
#include "queue/quota.h"
#include "queue/submission.h"
#include "state/cluster.h"

namespace gantree {

inline constexpr std::size_t kMostWaysTried = 64;

// Which ways are of use.
enum class Reach : std::uint8_t {
  kOwnQuota,  // those that borrow nothing
  kQuotaNow,  // those that there is quota for; all, where all can be tried
  kQuota,     // those that there could be quota for; the same
};

// Whether pods find room, as far as that is known.
enum class Room : std::uint8_t { kMaybe, kNotNow, kNever };

class Ways {
 public:
  // A part and one of its ways, by position.
  using PartWay = std::pair<std::size_t, std::size_t>;

  // Both are borrowed. `never`: what finds no room, whoever leaves.
  Ways(const Submission& submission, const Quota& quota, std::set<PartWay> never = {});
  Ways(const Ways&) = delete;
  Ways& operator=(const Ways&) = delete;

  // From now on so many are given out at most, of those that were not given out yet.
  void begin(Reach reach, std::size_t most = kMostWaysTried);
  // The next one in the order of preference; nullptr where there is none. It lives as long as this.
  [[nodiscard]] const Alternative* next();

  // The last one was turned down for want of room. Where not all can be tried, `find_room` is asked for its parts, each
  // by itself, then for the first two, three and so on together; what is to blame is in no other way that comes. One
  // that shows that a part has no room by itself does not count: there are few of those.
  void no_room(const std::function<Room(const Alternative&)>& find_room);

  [[nodiscard]] const std::set<PartWay>& never() const { return never_; }
  // Whether there are more than were given out since begin(); and whether one of those might start now.
  [[nodiscard]] bool is_cut_short() const { return cut_short_ || submission_.has_more_ways; }
  [[nodiscard]] bool gave_up() const { return gave_up_ || (is_cut_short() && reach_ != Reach::kQuota); }

 private:
  [[nodiscard]] bool is_simple() const { return all_ && submission_.parts.size() == 1; }
  [[nodiscard]] const Alternative* next_of_one_part();
  [[nodiscard]] bool allows(const QuotaDemand& demand) const;
  [[nodiscard]] const Alternative* whole(const std::vector<std::size_t>& ways);
  [[nodiscard]] Alternative first_parts(std::size_t count) const;

  const Submission& submission_;
  const Quota& quota_;
  const std::size_t total_;
  const bool all_;      // can be tried
  WayDemands demands_;  // those that the walk goes by
  Reach reach_ = Reach::kQuota;
  std::optional<Combinations> walk_;
  std::size_t left_ = 0;
  std::size_t cursor_ = 0;                    // of the only part
  std::vector<bool> done_;                    // the same: given out
  std::set<std::vector<std::size_t>> given_;  // by way of each part
  std::set<PartWay> known_;                   // asked for by themselves
  std::set<PartWay> full_;                    // of these, those without room
  std::set<PartWay> never_;                   // of those, whoever leaves
  std::deque<Alternative> wholes_;            // where there are several parts
  bool cut_short_ = false;
  bool gave_up_ = false;  // before
};

// Whether the engine finds room for pods now, and if not whether it ever could.
[[nodiscard]] Room room_for(Cluster& cluster, const Alternative& alternative);

}  // namespace gantree
