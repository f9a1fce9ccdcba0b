// How a gang stands by the word of an object of its own family: what it was given, and whether it is in line at all.
#pragma once

#include <cstdint>
#include <string>

#include "model/gang.h"

namespace gantree {

enum class Standing : std::uint8_t {
  kWaits,
  kAdmitted,
  kEvicted,      // it has to leave, and is not gone yet
  kDeactivated,  // somebody has to activate it again
  kSuspended,    // by its user
  kFinished,
};
[[nodiscard]] const char* to_string(Standing standing);

struct GangRecord {
  GangKey key;
  std::string object;  // that says so; in the namespace of the gang
  Standing standing = Standing::kWaits;
  std::string reason;               // of that, in a word; "" where there is nothing to say
  std::string message;              // the same in a sentence
  bool failed = false;              // it is finished, and has not succeeded
  std::string queue;                // that it is in, as its user names it
  std::string cluster_queue;        // that admitted it; "" where none has
  std::string flavors;              // what it was given
  std::string since;                // RFC 3339: when it was admitted
  int admitted = 0;                 // pods
  int asked = 0;                    // pods
  std::string pause;                // why it is not in line for a while; "" where it is
  std::int64_t queued_seconds = 0;  // Unix time: since when it has its place in line; 0: since it was created

  // Whether it neither starts nor holds up others.
  [[nodiscard]] bool out_of_line() const {
    return standing == Standing::kDeactivated || standing == Standing::kSuspended || standing == Standing::kFinished;
  }
};

}  // namespace gantree
