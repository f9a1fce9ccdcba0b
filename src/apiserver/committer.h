// Writes batches of changes to the disk on a thread of its own, so that the api thread prepares the next one meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "apiserver/storage.h"

namespace gantree::apiserver {

class Committer {
 public:
  // `durable` is called on the committer's thread after each batch. Where the disk fails, the process ends: going on
  // would acknowledge what may be lost.
  Committer(std::unique_ptr<Storage> storage, std::function<void()> durable);
  // Lets the batch under way become durable; `durable` may be called until then.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // One at a time: not before `durable` was called for the one before. The changes must stay as they are until then.
  void commit(std::span<const Store::Change> changes, std::uint64_t revision);

 private:
  void work();

  std::unique_ptr<Storage> storage_;
  std::function<void()> durable_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::span<const Store::Change> changes_;  // under mutex_, as the next three
  std::uint64_t revision_ = 0;
  bool asked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gantree::apiserver
