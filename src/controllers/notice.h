// Events, as kubectl shows them: who tells of what.
//
// Their names ascend with time, and within a moment with the order in which they were told: whoever lists them gets
// them in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "controllers/item.h"

namespace gantree::controllers {

// Who tells. `last` is the number of the last event that anybody told.
struct Voice {
  std::string_view component = {};
  std::uint64_t* last = nullptr;
};

struct Told {
  std::string_view type = "Normal";
  std::string_view reason = {};
  std::string_view message = {};
  std::int64_t count = 1;
};

[[nodiscard]] Object make_event(const Item& about, const Voice& voice, const Told& told, Time now);

// What is told of several like creations, once each is answered: the first ones by name, the others together, and that
// some were refused.
class Notice {
 public:
  // `message` comes before each name: "Created pod: ".
  Notice(const Item& about, std::string_view component, std::string message);

  void expect() { ++open_; }
  // Whether the next answer's name will be told. To look for it in vain costs time where there are many.
  [[nodiscard]] bool wants_name() const;
  // One of the creations is answered; `name` of what was made, or why there is none. The event to be stored, if any.
  [[nodiscard]] std::optional<Object> made(std::string_view name, std::uint64_t& last, Time now);
  [[nodiscard]] std::optional<Object> refused(std::string_view why, std::uint64_t& last, Time now);
  [[nodiscard]] const std::string& ns() const { return about_.ns; }

 private:
  [[nodiscard]] std::optional<Object> others(std::uint64_t& last, Time now);

  Item about_;  // only what an event needs
  std::string_view component_;
  std::string message_;
  std::size_t open_ = 0;
  std::int64_t told_ = 0;
  std::int64_t untold_ = 0;
  std::string last_made_;
  bool told_refusal_ = false;
};

// So many like events are told one by one; what follows in one.
inline constexpr std::int64_t kToldOneByOne = 10;

}  // namespace gantree::controllers
