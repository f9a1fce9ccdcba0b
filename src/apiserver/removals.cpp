#include "apiserver/removals.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{10'000};

}  // namespace

bool Removals::ask(const Store::Place& place, Call call, std::function<void()> look) {
  Attempt& attempt = attempts_[place];
  if (attempt.under_way || attempt.waits) {
    return false;
  }
  attempt.under_way = true;
  call.method = "DELETE";
  core_.ask(std::move(call),
            [this, place, look = std::move(look)](const Answer& answer) { answered(place, answer, look); });
  return true;
}

void Removals::answered(const Store::Place& place, const Answer& answer, const std::function<void()>& look) {
  const auto at = attempts_.find(place);
  if (answer.ok() || answer.status == 404) {
    if (at != attempts_.end()) {
      attempts_.erase(at);
    }
    look();
    return;
  }
  Attempt& attempt = at == attempts_.end() ? attempts_[place] : at->second;
  attempt.under_way = false;
  attempt.waits = true;
  attempt.pause = std::clamp(attempt.pause * 2, kFirstPause, kLongestPause);
  const auto status = parse_json(answer.text());
  std::string why(status ? text_at(*status, {"message"}) : std::string_view());
  if (why.empty()) {
    why = fmt::format("the answer was {}", answer.status);
  }
  if (attempt.why.empty()) {
    core_.trouble(fmt::format("{} \"{}/{}\" is to go and cannot: {}", place.table, place.key.ns, place.key.name, why));
  }
  attempt.why = std::move(why);
  core_.after(attempt.pause, [this, place, look] {
    if (const auto known = attempts_.find(place); known != attempts_.end()) {
      known->second.waits = false;
    }
    look();
  });
  look();
}

std::size_t Removals::under_way(std::string_view ns) const {
  return static_cast<std::size_t>(std::count_if(attempts_.begin(), attempts_.end(), [&](const auto& one) {
    return one.second.under_way && (ns.empty() || one.first.key.ns == ns);
  }));
}

const std::string* Removals::refusal(const Store::Place& place) const {
  const auto at = attempts_.find(place);
  return at == attempts_.end() || at->second.why.empty() ? nullptr : &at->second.why;
}

void Removals::gone(std::string_view table, const Key& key) {
  if (attempts_.empty()) {
    return;
  }
  if (const auto at = attempts_.find({std::string(table), key}); at != attempts_.end() && !at->second.under_way) {
    attempts_.erase(at);
  }
}

}  // namespace gantree::apiserver
