#include "live/turns.h"

#include <algorithm>
#include <limits>

namespace gantree {

namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

}  // namespace

void Turns::start_round(const std::map<std::string, Line, std::less<>>& lines) {
  for (const auto& [ns, line] : lines) {
    const auto [it, fresh] = rounds_.try_emplace(ns);
    it->second.again = !fresh;
  }
}

bool Turns::go_round(const std::map<std::string, Line, std::less<>>& lines, GangTable& table,
                     std::set<std::string>& changed, const Look& look) {
  std::map<std::string, Places> wanted;
  for (const auto& [ns, round] : rounds_) {
    wanted.try_emplace(ns);
  }
  for (const std::string& id : changed) {
    const LiveGang* gang = table.find(id);
    // What has no pods that wait may have partners that do.
    wanted[std::string(GangTable::namespace_of(id))].push_back(
        gang != nullptr && gang->place ? *gang->place
                                       : LinePlace{.settled = true, .behind = 0, .created_seconds = 0, .id = id});
  }
  if (wanted.empty()) {
    return false;
  }
  const std::size_t share = std::clamp(kMostUnits / wanted.size(), kLeastShare, kMostShare);
  std::size_t spent = 0;
  auto at = wanted.lower_bound(next_);
  for (std::size_t i = 0; i < wanted.size(); ++i, ++at) {
    at = at == wanted.end() ? wanted.begin() : at;
    next_ = at->first;
    if (spent >= kMostUnits) {
      break;
    }
    const auto line = lines.find(at->first);
    std::sort(at->second.begin(), at->second.end());
    spent += serve(at->first, line == lines.end() ? nullptr : &line->second, at->second, share, changed, look);
  }
  return !rounds_.empty() || !changed.empty();
}

// A quarter of the share goes to the first of the line, half to what has changed, a quarter to the others in their
// turn. Who weighs more than a quarter has its turn with the others, or it would be looked at in every cycle.
std::size_t Turns::serve(const std::string& ns, const Line* line, const Places& changed, std::size_t share,
                         std::set<std::string>& unseen, const Look& look) {
  std::size_t spent = 0;
  const auto round = rounds_.find(ns);
  if (round != rounds_.end() && line != nullptr) {
    spent += look_at_first(*line, share / 4, look);
  }
  std::size_t on_changed = 0;
  const std::size_t for_changed = round == rounds_.end() ? share : share / 2;
  for (const LinePlace& place : changed) {
    if (on_changed >= for_changed) {
      break;
    }
    unseen.erase(place.id);
    on_changed += look(place.id, kAny).value_or(0);
  }
  spent += on_changed;
  if (round == rounds_.end()) {
    return spent;
  }
  Round& here = round->second;
  const std::size_t for_others = std::max<std::size_t>(share / 4, share - std::min(share, spent));
  std::size_t on_others = 0;
  auto next = line == nullptr ? Line::const_iterator() : here.after ? line->upper_bound(*here.after) : line->begin();
  for (; line != nullptr && next != line->end() && on_others < for_others; ++next) {
    here.after = *next;
    unseen.erase(next->id);
    on_others += look(next->id, kAny).value_or(0);
  }
  if (line == nullptr || next == line->end()) {
    here.after.reset();
    if (!here.again) {
      rounds_.erase(round);
    } else {
      here.again = false;
    }
  }
  return spent + on_others;
}

std::size_t Turns::look_at_first(const Line& line, std::size_t share, const Look& look) {
  std::size_t spent = 0;
  std::size_t passed = 0;
  for (const LinePlace& place : line) {
    if (spent >= share || ++passed > share) {
      break;
    }
    spent += look(place.id, share - spent).value_or(0);
  }
  return spent;
}

}  // namespace gantree
