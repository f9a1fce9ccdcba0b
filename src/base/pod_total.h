// What a pod asks for, worked out of what its parts ask for: the one place that knows kube-scheduler's rule. Who reads
// pods brings amounts of their own kind, and what is asked for where nothing is said.
#pragma once

namespace gantree {

// `Amounts` are by resource, and know add(Amounts), max(Amounts) and set(resource, amount).
template <class Amounts>
class PodTotal {
 public:
  void add_container(const Amounts& asks) { running_.add(asks); }

  // In the order of the spec. One that restarts (a sidecar) runs on, beside all that follow.
  void add_init_container(Amounts asks, bool restarts) {
    if (restarts) {
      sidecars_.add(asks);
      asks = sidecars_;
    } else {
      asks.add(sidecars_);
    }
    worst_.max(asks);
  }

  // The containers and sidecars together, or what init containers need at the worst moment where that is more.
  [[nodiscard]] Amounts of_containers() const {
    Amounts total = running_;
    total.add(sidecars_);
    total.max(worst_);
    return total;
  }

  // What the pod says of itself counts in place of its containers, for the resources that it names; overhead comes on
  // top.
  template <class Entries>
  [[nodiscard]] Amounts of_pod(const Entries& pod_level, const Amounts& overhead) const {
    Amounts total = of_containers();
    for (const auto& [resource, amount] : pod_level) {
      total.set(resource, amount);
    }
    total.add(overhead);
    return total;
  }

 private:
  Amounts running_;
  Amounts sidecars_;
  Amounts worst_;
};

}  // namespace gantree
