// The letters that reach the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "kube/reply.h"
#include "live/object.h"
#include "service/mailbox.h"

namespace gantree {

struct ObjectChanged {
  LiveObject object;
};
// One that was set aside, and has been read again.
struct ObjectRead {
  LiveObject object;
};
struct ObjectRemoved {
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
};
struct WriteAnswered {
  std::uint64_t order = 0;
  bool bind = false;
  std::chrono::steady_clock::time_point ordered;
  kube::Reply reply;
};
struct LeadershipChanged {
  bool leading = false;
  bool after_another = false;                        // whose last writes may still be on their way to the server
  std::uint64_t term = 1;                            // of leading; see kube::Client::set_term()
  std::chrono::steady_clock::time_point since = {};  // when the lease was had, or later
};
// To be run on the loop's thread, which owns the state: a scrape of the metrics, say.
struct Errand {
  std::function<void()> run;
};
struct Listed {};  // a list is complete; perhaps all are
struct Stop {};

using Letter =
    std::variant<ObjectChanged, ObjectRead, ObjectRemoved, WriteAnswered, LeadershipChanged, Errand, Listed, Stop>;
using LoopMailbox = Mailbox<Letter>;

}  // namespace gantree
