#include "apiserver/committer.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace gantree::apiserver {

Committer::Committer(std::unique_ptr<Storage> storage, std::function<void()> durable)
    : storage_(std::move(storage)), durable_(std::move(durable)), thread_([this] { work(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Committer::commit(std::span<const Store::Change> changes, std::uint64_t revision) {
  {
    const std::lock_guard lock(mutex_);
    GANTREE_CHECK(!asked_);
    changes_ = changes;
    revision_ = revision;
    asked_ = true;
  }
  wake_.notify_one();
}

void Committer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return asked_ || stopping_; });
    if (!asked_) {
      return;
    }
    const auto changes = changes_;
    const std::uint64_t revision = revision_;
    lock.unlock();
    if (const auto committed = storage_->commit(changes, revision); !committed) {
      fmt::print(stderr, "the cluster's data cannot be written, so it ends here: {}\n", committed.error().message);
      std::abort();
    }
    lock.lock();
    asked_ = false;
    lock.unlock();
    durable_();
    lock.lock();
  }
}

}  // namespace gantree::apiserver
