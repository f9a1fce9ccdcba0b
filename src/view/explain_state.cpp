#include "view/explain_state.h"

#include <fmt/format.h>

#include <utility>

#include "view/present_text.h"

namespace gantree::view {

namespace {

StateWords by_record(const GangRecord& record) {
  StateWords words{.state = to_string(record.standing), .reason = record.reason, .message = record.message};
  if (record.standing == Standing::kDeactivated || words.reason == words.state) {
    words.reason.clear();
  }
  const bool well =
      record.standing == Standing::kAdmitted || (record.standing == Standing::kFinished && !record.failed);
  words.tone = well ? Tone::kGood : record.standing == Standing::kWaits ? Tone::kWarning : Tone::kBad;
  return words;
}

bool says_it_all(Reason reason) {
  return reason == Reason::kDeactivated || reason == Reason::kSuspended || reason == Reason::kEvicted;
}

}  // namespace

StateWords state_words(const Explanation& why, const PresentGang* is) {
  if (why.over && why.record) {
    return by_record(*why.record);
  }
  if (is != nullptr) {
    StateWords words{.state = to_string(is->state),
                     .reason = is->why.reason,
                     .message = is->why.message,
                     .tone = tone_of(is->state)};
    if (is->state == Presence::kInactive) {
      words.state = std::exchange(words.reason, "");
    }
    return words;
  }
  return why.running ? StateWords{.state = "Running"} : state_words(why.decision);
}

StateWords state_words(const Decision& decision) {
  if (decision.state == GangState::kPlaced) {
    return {.state = to_string(decision.state)};
  }
  StateWords words{.state = to_string(decision.state),
                   .reason = to_string(decision.reason),
                   .message = decision.message,
                   .tone = decision.state == GangState::kWaiting ? Tone::kWarning : Tone::kBad};
  if (says_it_all(decision.reason)) {
    words.state = std::exchange(words.reason, "");
    words.tone = Tone::kBad;
  }
  return words;
}

bool is_open(const Explanation& why, const PresentGang* is) {
  return !why.running && !why.over && (is == nullptr || is->state != Presence::kAdmitted);
}

std::vector<std::string> given(const Explanation& why) {
  std::vector<std::string> parts;
  if (!why.record) {
    return parts;
  }
  const GangRecord& record = *why.record;
  if (!record.queue.empty()) {
    parts.push_back(fmt::format("queue \"{}\"", record.queue));
  }
  if (record.cluster_queue.empty()) {
    return parts;
  }
  parts.push_back(fmt::format("ClusterQueue \"{}\"", record.cluster_queue));
  if (!record.flavors.empty()) {
    parts.push_back(fmt::format("flavor \"{}\"", record.flavors));
  }
  if (record.admitted < record.asked) {
    parts.push_back(fmt::format("{} of {} pods admitted", record.admitted, record.asked));
  }
  if (!record.since.empty()) {
    parts.push_back(fmt::format("admitted at {}", record.since));
  }
  return parts;
}

}  // namespace gantree::view
