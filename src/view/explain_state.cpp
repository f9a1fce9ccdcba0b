#include "view/explain_state.h"

#include <fmt/format.h>

#include <utility>

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

StateWords state_words(const Explanation& why) {
  if (why.over && why.record) {
    return by_record(*why.record);
  }
  if (why.running) {
    const bool leaves = why.record && why.record->standing == Standing::kEvicted;
    return leaves ? by_record(*why.record) : StateWords{.state = "Running"};
  }
  const Decision& decision = why.decision;
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
