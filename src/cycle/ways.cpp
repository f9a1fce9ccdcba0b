#include "cycle/ways.h"

#include <algorithm>

#include "cycle/start.h"

namespace gantree {

namespace {

// Where all are tried, quota is looked at when they are.
WayDemands nothing_asked(const Submission& submission) {
  WayDemands demands;
  for (const std::vector<Alternative>& ways : submission.parts) {
    demands.emplace_back(ways.size());
  }
  return demands;
}

}  // namespace

Ways::Ways(const Submission& submission, const Quota& quota, std::set<PartWay> never)
    : submission_(submission),
      quota_(quota),
      total_(ways_to_start(submission)),
      all_(total_ <= kMostWaysTried),
      known_(never),
      full_(never),
      never_(std::move(never)) {}

bool Ways::allows(const QuotaDemand& demand) const {
  switch (reach_) {
    case Reach::kOwnQuota:
      return !quota_.would_borrow(demand);
    case Reach::kQuotaNow:
      return quota_.fits(demand, submission_.borrowing);
    case Reach::kQuota:
      break;
  }
  return quota_.could_fit(demand, submission_.borrowing);
}

void Ways::begin(Reach reach, std::size_t most) {
  gave_up_ = gave_up();
  reach_ = reach;
  left_ = most;
  cut_short_ = false;
  cursor_ = 0;
  if (is_simple()) {
    return;
  }
  walk_.reset();
  if (all_ && given_.size() == total_) {
    return;
  }
  if (all_) {
    demands_ = nothing_asked(submission_);
    walk_.emplace(demands_, [](const QuotaDemand&) { return true; });
    return;
  }
  demands_ = reach == Reach::kOwnQuota ? demands_of(submission_) : least_demands_of(submission_);
  walk_.emplace(demands_, [this](const QuotaDemand& demand) { return allows(demand); });
  for (const auto& [part, way] : full_) {
    walk_->rule_out(part, way);
  }
}

// By far most have one part and few ways, and very many of them are tried.
const Alternative* Ways::next_of_one_part() {
  const std::vector<Alternative>& ways = submission_.parts.front();
  done_.resize(ways.size(), false);
  for (; cursor_ < ways.size(); ++cursor_) {
    if (!done_[cursor_] && (reach_ != Reach::kOwnQuota || allows(demand_of(ways[cursor_])))) {
      done_[cursor_] = true;
      return &ways[cursor_++];
    }
  }
  return nullptr;
}

const Alternative* Ways::next() {
  if (is_simple()) {
    return next_of_one_part();
  }
  while (walk_ && walk_->next()) {
    const std::vector<std::size_t>& ways = walk_->ways();
    if (given_.contains(ways)) {
      continue;
    }
    const Alternative* way = whole(ways);
    if (all_ && reach_ == Reach::kOwnQuota && !allows(demand_of(*way))) {
      continue;
    }
    if (left_ == 0) {
      cut_short_ = true;
      return nullptr;
    }
    --left_;
    given_.insert(ways);
    return way;
  }
  cut_short_ = walk_ && walk_->gave_up();
  return nullptr;
}

const Alternative* Ways::whole(const std::vector<std::size_t>& ways) {
  return ways.size() == 1 ? &submission_.parts[0][ways[0]] : &wholes_.emplace_back(first_parts(ways.size()));
}

Alternative Ways::first_parts(std::size_t count) const {
  std::vector<const Alternative*> parts;
  for (std::size_t part = 0; part < count; ++part) {
    parts.push_back(&submission_.parts[part][walk_->ways()[part]]);
  }
  return together(parts);
}

void Ways::no_room(const std::function<Room(const Alternative&)>& find_room) {
  if (submission_.parts.size() == 1) {
    ++left_;
  }
  if (all_ || submission_.parts.size() == 1) {
    return;
  }
  const std::vector<std::size_t> ways = walk_->ways();
  bool blamed = false;
  for (std::size_t part = 0; part < ways.size(); ++part) {
    const PartWay one(part, ways[part]);
    if (!known_.insert(one).second) {
      continue;
    }
    const Room room = find_room(submission_.parts[part][ways[part]]);
    if (room == Room::kMaybe) {
      continue;
    }
    full_.insert(one);
    if (room == Room::kNever) {
      never_.insert(one);
    }
    walk_->rule_out(part, ways[part]);
    walk_->skip(part + 1);
    left_ += blamed ? 0 : 1;
    blamed = true;
  }
  for (std::size_t count = 2; !blamed && count < ways.size(); ++count) {
    if (find_room(first_parts(count)) != Room::kMaybe) {
      walk_->skip(count);
      blamed = true;
    }
  }
}

Room room_for(Cluster& cluster, const Alternative& alternative) {
  const Gang placed = to_place(alternative, alternative.gang);
  if (pod_sets(placed.root).empty()) {
    return Room::kMaybe;
  }
  const Outcome outcome = cluster.engine().place(placed);
  if (outcome.placement || outcome.refusal == Refusal::kSearchLimit) {
    return Room::kMaybe;
  }
  return outcome.refusal == Refusal::kTooLarge ? Room::kNever : Room::kNotNow;
}

}  // namespace gantree
