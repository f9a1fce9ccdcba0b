#include "kube/watches.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace gantree::kube {

// Discovery and the reflectors that it starts and stops, on the transport's thread.
class Watches::Set {
 public:
  Set(Client& client, std::vector<WatchRequest> requests) : client_(client) {
    for (WatchRequest& request : requests) {
      slots_.push_back({.request = std::move(request), .served = std::nullopt, .reflector = nullptr});
    }
  }

  void served(const std::vector<std::optional<Resource>>& resources) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (slot.served == resources[i]) {
        continue;
      }
      std::unique_ptr<Reflector> former;
      {
        const std::lock_guard lock(mutex_);
        former = std::move(slot.reflector);
        slot.served = resources[i];
      }
      if (former != nullptr) {
        former->remove_all();
      }
      if (resources[i].has_value()) {
        auto reflector = std::make_unique<Reflector>(client_, *resources[i], *slot.request.sink, slot.request.options);
        const std::lock_guard lock(mutex_);
        slot.reflector = std::move(reflector);
      }
    }
    discovered_ = true;
  }

  // Not under the lock: a reflector waits for the transport's thread, which may want it.
  void stop() {
    std::vector<Slot> slots;
    {
      const std::lock_guard lock(mutex_);
      slots.swap(slots_);
    }
  }

  [[nodiscard]] std::vector<WatchState> states() const {
    std::vector<WatchState> states;
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
      WatchState state{.wanted = slot.request.wanted, .served = slot.served.has_value()};
      if (slot.reflector != nullptr) {
        state.synced = slot.reflector->synced();
        state.objects = slot.reflector->size();
      }
      states.push_back(std::move(state));
    }
    return states;
  }

  void prove_fresh(http::Clock::time_point since) {
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
      if (slot.reflector != nullptr) {
        slot.reflector->prove_fresh(since);
      }
    }
  }

  [[nodiscard]] std::vector<std::string> stale(http::Clock::time_point since) const {
    std::vector<std::string> names;
    const std::lock_guard lock(mutex_);
    for (const Slot& slot : slots_) {
      if (slot.reflector != nullptr && slot.reflector->fresh_as_of() < since) {
        const Wanted& wanted = slot.request.wanted;
        names.push_back(wanted.group.empty() ? wanted.plural : wanted.plural + "." + wanted.group);
      }
    }
    return names;
  }

  [[nodiscard]] bool discovered() const { return discovered_; }

 private:
  struct Slot {
    WatchRequest request;
    std::optional<Resource> served;
    std::unique_ptr<Reflector> reflector;
  };

  Client& client_;
  mutable std::mutex mutex_;  // of the slots, between the transport's thread and readers
  std::vector<Slot> slots_;
  std::atomic<bool> discovered_{false};
};

namespace {

std::vector<Wanted> wanted_of(const std::vector<WatchRequest>& requests) {
  std::vector<Wanted> wanted;
  for (const WatchRequest& request : requests) {
    wanted.push_back(request.wanted);
  }
  return wanted;
}

}  // namespace

Watches::Watches(Client& client, std::vector<WatchRequest> requests, DiscoveryOptions options) {
  std::vector<Wanted> wanted = wanted_of(requests);
  set_ = std::make_unique<Set>(client, std::move(requests));
  discovery_ = std::make_unique<Discovery>(
      client, std::move(wanted),
      [set = set_.get()](const std::vector<std::optional<Resource>>& served) { set->served(served); },
      std::move(options));
}

Watches::~Watches() {
  discovery_.reset();  // first: it starts reflectors
  set_->stop();
}

bool Watches::synced() const {
  if (!set_->discovered()) {
    return false;
  }
  for (const WatchState& state : set_->states()) {
    if (state.served && !state.synced) {
      return false;
    }
  }
  return true;
}

std::vector<WatchState> Watches::states() const {
  return set_->states();
}

void Watches::prove_fresh(http::Clock::time_point since) {
  set_->prove_fresh(since);
}

std::vector<std::string> Watches::stale(http::Clock::time_point since) const {
  return set_->stale(since);
}

void Watches::poll_now() {
  discovery_->poll_now();
}

}  // namespace gantree::kube
