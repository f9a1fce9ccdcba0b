// Holds the engine's answers for gangs of many groups against an integer program.
#pragma once

#include <cstdint>
#include <string>

#include "oracle/problem.h"

namespace gantree::oracle {

enum class Finding : std::uint8_t {
  kRight,        // and proven to be
  kUnproven,     // nothing wrong was found; the solver ran out of time for the rest
  kIllegal,      // a placement that breaks a rule
  kMissed,       // "no", but there is a placement
  kGaveUp,       // search limit, but there is a placement
  kUnsure,       // search limit, and there is none
  kWrongReason,  // busy instead of too large, or the other way round
  kTooFew,       // fewer pods than could start
  kWorse,        // more domains than needed
};
inline constexpr int kFindings = static_cast<int>(Finding::kWorse) + 1;
[[nodiscard]] const char* to_string(Finding finding);

struct CrowdVerdict {
  Finding finding = Finding::kRight;
  bool placed = false;
  std::string detail;  // of a fault, in a sentence
  // Where placed: the first part of the score that is not the best, and how many percent more it is.
  double excess = 0;
  double seconds = 0;  // of processor time that the engine took
};

// About the last gang of the instance; those before it are placed as they come.
[[nodiscard]] CrowdVerdict judge_crowd(const Instance& instance, double seconds);

}  // namespace gantree::oracle
