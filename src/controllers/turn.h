// One look of a controller at one object: what it may read, what it wants written, when it wants to look again.
//
// Writes carry preconditions: a patch the uid of what it was decided on, a status its resourceVersion, a deletion the
// uid. A refused write does no harm: the object is looked at again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "controllers/events.h"
#include "controllers/notice.h"
#include "controllers/objects.h"
#include "controllers/room.h"
#include "controllers/time_zone.h"
#include "controllers/view.h"
#include "controllers/write.h"

namespace gantree::controllers {

// Who tells.
struct Voice {
  std::string_view component = {};
  Events* events = nullptr;
};

struct Options {
  double speed = 1;                              // so many times faster than real
  std::chrono::milliseconds start_delay{1000};   // from a pod's binding to Running
  std::chrono::milliseconds node_grace{40'000};  // from a node's failure, or its end, until it is given up
  std::size_t finished_pods = 12'500;            // so many are kept; the oldest go
  std::uint64_t seed = 1;                        // of names
  RoomLimits room = {};
};

class Turn {
 public:
  Turn(const View& view, const Options& options, std::mt19937_64& random, Time now, Voice voice, TimeZones& zones,
       Room& room)
      : view_(view), options_(options), random_(random), now_(now), voice_(voice), zones_(zones), room_(room) {}

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] TimeZones& zones() const { return zones_; }
  [[nodiscard]] std::int64_t seconds() const {
    return std::chrono::floor<std::chrono::seconds>(now_).time_since_epoch().count();
  }
  // How long that takes here, where time runs faster.
  [[nodiscard]] std::chrono::milliseconds scaled(std::chrono::milliseconds real) const;
  // A moment after another, that far away.
  [[nodiscard]] Time after(std::int64_t unix_seconds, std::chrono::milliseconds real) const;

  // False where the namespace has as many of them as it may (room.h): nothing is written then, `about` is told why, and
  // looks again later.
  bool create(const Item& about, Kind kind, const Object& object, const std::shared_ptr<Notice>& notice = nullptr);
  // To be given to creations: once they are carried out it is told of the object that `message` was done, with names.
  [[nodiscard]] std::shared_ptr<Notice> will_tell(const Item& about, std::string message) const;
  // What is told of the object once the last write is carried out, or refused.
  void tell_when_done(const Item& about, Notice::Words words);
  void patch(const Item& item, Object patch);
  // By way of the status, where they do not count as something else that is wanted.
  void annotate(const Item& item, Object annotations);
  // Only where it differs from the status that the object has.
  void patch_status(const Item& item, Object status);
  // The same for what was computed from this very version of the object.
  void remove(const Item& item, std::optional<std::int64_t> grace = std::nullopt, std::string_view propagation = {});
  void bind(const Item& pod, const std::string& node);
  void tell(const Item& about, std::string_view type, std::string_view reason, std::string_view message);
  // That these are being deleted: the first ones by name, the others together. `message` comes before each name.
  void tell_deleted(const Item& about, const std::vector<const Item*>& items, std::string_view message);

  // Look again at that moment, also if nothing happens.
  void again(Time at);
  // Five letters that are in no other name.
  [[nodiscard]] std::string suffix();
  // So many objects were looked at: large ones are not looked at for every small change.
  void looked_at(std::size_t objects) { looked_at_ += objects; }

  [[nodiscard]] std::vector<Write>& writes() { return writes_; }
  [[nodiscard]] std::optional<Time> due() const { return due_; }
  [[nodiscard]] std::size_t effort() const { return looked_at_; }
  // Something was not made for want of room. So often it was so in a row before: it is told the first time only, and
  // looks again less and less often.
  [[nodiscard]] bool lacked_room() const { return lacked_room_; }
  void lacked_room_before(int times) { lacked_before_ = times; }

 private:
  void write(Verb verb, const Item& item, const Object& body, const std::string& node = {});

  const View& view_;
  const Options& options_;
  std::mt19937_64& random_;
  Time now_;
  Voice voice_;
  TimeZones& zones_;
  Room& room_;
  bool lacked_room_ = false;
  int lacked_before_ = 0;
  std::vector<Write> writes_;
  std::optional<Time> due_;
  std::size_t looked_at_ = 0;
};

}  // namespace gantree::controllers
