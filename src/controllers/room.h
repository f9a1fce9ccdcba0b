// How much the controllers may still make. A workload may ask for 2^31 pods, and all that is made is held in memory: so
// of pods without a node, and of other objects, one namespace gets so many and no more. The rest is made as these are
// bound or go. What people make themselves is not held back, but counts.
//
// One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "controllers/kinds.h"
#include "controllers/view.h"

namespace gantree::controllers {

struct RoomLimits {
  std::size_t waiting_pods = 20'000;           // without a node, of one namespace
  std::size_t all_waiting_pods = 100'000;      // of all namespaces together
  std::size_t objects = 20'000;                // of another kind, of one namespace
  std::size_t bytes = std::size_t{512} << 20;  // of one kind, of one namespace, as JSON
};

class Room {
 public:
  Room(const View& view, RoomLimits limits) : view_(view), limits_(limits) {}

  // Takes the place of an object that is about to be made; false where there is none. give_back() must follow once the
  // creation is answered: from then on the view counts the object.
  [[nodiscard]] bool take(Kind kind, const std::string& ns, std::size_t bytes);
  void give_back(Kind kind, const std::string& ns, std::size_t bytes);

 private:
  using Place = std::pair<Kind, std::string>;
  struct Making {
    std::size_t objects = 0;
    std::size_t bytes = 0;
  };
  const View& view_;
  RoomLimits limits_;
  std::map<Place, Making> making_;  // writes that are not answered
  std::size_t making_pods_ = 0;
};

}  // namespace gantree::controllers
