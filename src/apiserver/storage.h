// The objects in one SQLite file, so that they outlive the process, however it ends.
//
// Written in whole batches, each one transaction that is on the disk when commit() returns. What changed lately is kept
// beside them (history.h). One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "apiserver/store.h"
#include "base/error.h"

namespace gantree::apiserver {

class Storage {
 public:
  // Opens or creates the file. Fails where it is no such file, or another process has it open. Without `sync` commits
  // do not wait for the disk: they outlive the process all the same, but not the machine.
  [[nodiscard]] static Result<std::unique_ptr<Storage>> open(const std::string& file, bool sync = true);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // All that was committed, into an empty store.
  [[nodiscard]] Result<> load(Store& store);
  // All changes and the revision, or nothing.
  [[nodiscard]] Result<> commit(std::span<const Store::Change> changes, std::uint64_t revision);

 private:
  struct Database;
  explicit Storage(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace gantree::apiserver
