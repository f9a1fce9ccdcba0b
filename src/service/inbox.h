// Watches to letters: each object is read and pruned on the watch's own thread, so that what waits for the loop is
// small.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "dialects/object.h"
#include "kube/watches.h"
#include "service/letters.h"
#include "service/log.h"

namespace gantree {

class Inbox {
 public:
  // Mailbox and log must outlive it, and it the watches.
  Inbox(LoopMailbox& mailbox, Log& log, const std::vector<ApiKind>& kinds, kube::ReflectorOptions options = {});
  ~Inbox();

  [[nodiscard]] std::vector<kube::WatchRequest> requests();

 private:
  class KindSink;
  kube::ReflectorOptions options_;
  std::vector<std::unique_ptr<KindSink>> sinks_;
};

}  // namespace gantree
