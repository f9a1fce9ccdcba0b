// What is told of writes once they are answered, and not before: they may be refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "controllers/events.h"
#include "controllers/item.h"

namespace gantree::controllers {

class Notice {
 public:
  // Of several like creations: the first ones by name, the others together, and that some were refused. `message` comes
  // before each name: "Created pod: ".
  Notice(const Item& about, std::string_view component, std::string message);
  // Of one write of any kind: this where it is carried out, and that it was refused where a message for that is given.
  struct Words {
    std::string reason;
    std::string message;
    std::string refused_reason = {};
    std::string refused_message = {};  // before the reason why
  };
  Notice(const Item& about, std::string_view component, Words words);

  void expect() { ++open_; }
  // Whether the next answer's name will be told. To look for it in vain costs time where there are many.
  [[nodiscard]] bool wants_name() const;
  // One of the creations is answered; `name` of what was made, or why there is none. How it is told, if it is.
  [[nodiscard]] std::optional<Write> made(std::string_view name, Events& events, Time now);
  [[nodiscard]] std::optional<Write> refused(std::string_view why, Events& events, Time now);

 private:
  [[nodiscard]] std::optional<Write> others(Events& events, Time now);

  Item about_;  // only what an event needs
  std::string_view component_;
  std::string message_;
  std::optional<Words> words_;
  std::size_t open_ = 0;
  std::int64_t told_ = 0;
  std::int64_t untold_ = 0;
  std::string last_made_;
  bool told_refusal_ = false;
};

}  // namespace gantree::controllers
