// Pods of queues that are ours to bind: where room is kept for them, and nowhere else.
#include "pods/pod_family.h"

namespace gantree {

// Queues have decided where they go, so nothing is searched for, and nobody else can get that room.
void PodFamily::bind_promised(Time now, Step& step) {
  for (auto it = queued_.begin(); promises_ != nullptr && it != queued_.end();) {
    const std::string& key = *it;
    const LivePod* pod = table_.find_pod(key);
    if (pod == nullptr || !pod->waits()) {
      it = queued_.erase(it);
      continue;
    }
    const auto kept = promises_->kept_for(key);
    const LiveGang* gang = table_.find(pod->gang);
    if (!kept || kept->node.empty() || gang->retry_at > now) {
      if (gang->retry_at > now) {
        step.wake_by(gang->retry_at);
      }
      ++it;
      continue;
    }
    promises_->redeem(key);
    cluster_.upsert_pod({.key = key, .node = kept->node, .requests = kept->requests});
    settle_on(key, kept->node, now);
    order_pod(step, {.verb = WriteVerb::kBind, .pod = key});
    step.figures.pods_placed += 1;
    it = queued_.erase(it);
  }
}

std::set<std::string> PodFamily::promised_gangs() {
  std::set<std::string> gangs;
  for (const std::string& key : promises_ == nullptr ? std::set<std::string>() : queued_) {
    const LivePod* pod = table_.find_pod(key);
    if (pod != nullptr && pod->waits() && promises_->kept_for(key)) {
      gangs.insert(pod->gang);
    }
  }
  return gangs;
}

}  // namespace gantree
