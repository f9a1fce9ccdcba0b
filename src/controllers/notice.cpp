#include "controllers/notice.h"

#include <fmt/format.h>

#include <utility>

namespace gantree::controllers {

Notice::Notice(const Item& about, std::string_view component, std::string message)
    : component_(component), message_(std::move(message)) {
  about_.kind = about.kind;
  about_.ns = about.ns;
  about_.name = about.name;
  about_.uid = about.uid;
  about_.version = about.version;
}

Notice::Notice(const Item& about, std::string_view component, Words words) : Notice(about, component, std::string()) {
  words_ = std::move(words);
}

bool Notice::wants_name() const {
  return !words_ && (told_ < kToldOneByOne || open_ <= 1);
}

std::optional<Write> Notice::made(std::string_view name, Events& events, Time now) {
  --open_;
  if (words_) {
    return events.tell(about_, component_, {.reason = words_->reason, .message = words_->message}, now);
  }
  if (told_ < kToldOneByOne) {
    ++told_;
    const std::string message = message_ + std::string(name);
    return events.tell(about_, component_, {.reason = "SuccessfulCreate", .message = message}, now);
  }
  ++untold_;
  last_made_ = name;
  return others(events, now);
}

std::optional<Write> Notice::refused(std::string_view why, Events& events, Time now) {
  --open_;
  if (words_) {
    const std::string message = words_->refused_message + std::string(why);
    return words_->refused_reason.empty()
               ? std::nullopt
               : std::optional(events.tell(about_, component_, {"Warning", words_->refused_reason, message}, now));
  }
  if (!std::exchange(told_refusal_, true)) {
    const std::string message = fmt::format("Error creating: {}", why);
    return events.tell(about_, component_, {"Warning", "FailedCreate", message}, now);
  }
  return others(events, now);
}

std::optional<Write> Notice::others(Events& events, Time now) {
  if (open_ > 0 || untold_ == 0) {
    return std::nullopt;
  }
  const std::string message = fmt::format("{}{}{}", kCombined, message_, last_made_);
  return events.tell(about_, component_, {"Normal", "SuccessfulCreate", message, std::exchange(untold_, 0)}, now);
}

}  // namespace gantree::controllers
