#include "controllers/room.h"

namespace gantree::controllers {

bool Room::take(Kind kind, const std::string& ns, std::size_t bytes) {
  // Of what belongs to no namespace, nothing is made but for what was counted already.
  if (ns.empty()) {
    return true;
  }
  const bool pod = kind == Kind::kPod;
  const Amount there = pod ? view_.waiting(ns) : view_.amount(kind, ns);
  const auto at = making_.find({kind, ns});
  const Making making = at == making_.end() ? Making() : at->second;
  const std::size_t most = pod ? limits_.waiting_pods : limits_.objects;
  if (there.objects + making.objects >= most || there.bytes + making.bytes + bytes > limits_.bytes ||
      (pod && view_.all_waiting().objects + making_pods_ >= limits_.all_waiting_pods)) {
    return false;
  }
  Making& now = making_[{kind, ns}];
  ++now.objects;
  now.bytes += bytes;
  making_pods_ += pod ? 1 : 0;
  return true;
}

void Room::give_back(Kind kind, const std::string& ns, std::size_t bytes) {
  const auto at = making_.find({kind, ns});
  if (at == making_.end()) {
    return;
  }
  making_pods_ -= kind == Kind::kPod ? 1 : 0;
  at->second.bytes -= bytes;
  if (--at->second.objects == 0) {
    making_.erase(at);
  }
}

}  // namespace gantree::controllers
