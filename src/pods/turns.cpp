#include "pods/turns.h"

#include <algorithm>
#include <map>
#include <vector>

namespace gantree {

void Turns::go_round(GangTable& table, std::set<std::string>& changed, const Look& look) {
  std::map<std::string, std::vector<LinePlace>> wanted;
  for (const std::string& id : changed) {
    const LiveGang* gang = table.find(id);
    // What has no pods that wait may have partners that do.
    wanted[std::string(GangTable::namespace_of(id))].push_back(
        gang != nullptr && gang->place ? *gang->place
                                       : LinePlace{.settled = true, .behind = 0, .created_seconds = 0, .id = id});
  }
  if (wanted.empty()) {
    return;
  }
  const std::size_t share = std::clamp(kMostUnits / wanted.size(), kLeastShare, kMostShare);
  std::size_t spent = 0;
  auto at = wanted.lower_bound(next_);
  for (std::size_t i = 0; i < wanted.size(); ++i, ++at) {
    at = at == wanted.end() ? wanted.begin() : at;
    next_ = at->first;
    if (spent >= kMostUnits) {
      return;
    }
    std::sort(at->second.begin(), at->second.end());
    std::size_t here = 0;
    for (auto place = at->second.begin(); place != at->second.end() && here < share; ++place) {
      changed.erase(place->id);
      here += look(place->id);
    }
    spent += here;
  }
}

}  // namespace gantree
