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
  bool after_another = false;  // whose last writes the watches may not have told of yet
};
// To be run on the loop's thread, which owns the state: a scrape of the metrics, say.
struct Errand {
  std::function<void()> run;
};
struct Listed {};  // a list is complete; perhaps all are
struct Stop {};

using Letter = std::variant<ObjectChanged, ObjectRemoved, WriteAnswered, LeadershipChanged, Errand, Listed, Stop>;
using LoopMailbox = Mailbox<Letter>;

}  // namespace gantree
