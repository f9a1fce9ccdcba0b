// How a gang stands by the word of an object of its own family: what it was given, and whether it is in line at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// So many pods in one domain of the lowest level that an admission names.
struct AdmittedDomain {
  std::vector<std::string> values;  // by level of the admission
  int count = 0;
};

// Where the pods of one set were admitted to.
struct AdmittedSet {
  std::string name;
  int count = 0;
  std::vector<std::string> levels = {};      // labels; the host alone where it is the lowest level
  std::vector<AdmittedDomain> domains = {};  // in rank order; none where no topology was asked of it
};

struct GangRecord {
  GangKey key;
  std::string object;  // that says so; in the namespace of the gang
  Standing standing = Standing::kWaits;
  std::string reason;               // of that, in a word; "" where there is nothing to say
  std::string message;              // the same in a sentence
  std::string told;                 // RFC 3339: since when that is said
  bool failed = false;              // it is finished, and has not succeeded
  std::string queue;                // that it is in, as its user names it
  std::string cluster_queue;        // that admitted it; "" where none has
  std::string flavors;              // what it was given
  std::string since;                // RFC 3339: when it was admitted
  int admitted = 0;                 // pods
  int asked = 0;                    // pods
  bool reserved = false;            // it has its quota and its place, and may not start yet
  std::vector<AdmittedSet> sets;    // where it was admitted to
  std::string pause;                // why it is not in line for a while; "" where it is
  std::int64_t queued_seconds = 0;  // Unix time: since when it has its place in line; 0: since it was created

  // Whether it neither starts nor holds up others.
  [[nodiscard]] bool out_of_line() const {
    return standing == Standing::kDeactivated || standing == Standing::kSuspended || standing == Standing::kFinished;
  }
};

// What somebody said of pods, in a word and in a sentence.
struct Saying {
  std::string reason;
  std::string message;
  std::string since;  // RFC 3339; "" where it is not known

  [[nodiscard]] bool empty() const { return reason.empty() && message.empty(); }
};

// What the pods of a gang say of it, and the object that defines it.
struct GangSigns {
  bool stored = false;                // they are objects of a cluster, and no manifests
  int bound = 0;                      // pods that have a node
  int begun = 0;                      // of those, that run
  int leaving = 0;                    // of those, that are being deleted
  int pending = 0;                    // pods that have none
  Saying waits = {};                  // why they have none, by whoever schedules them
  Saying leaves = {};                 // why they are being deleted
  std::optional<GangKey> maker = {};  // of a pod by itself: what made it
};

}  // namespace gantree
