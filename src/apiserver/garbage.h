// Dependents follow their owners: the garbage collector.
//
//   an owner is gone ──► its dependents lose the reference, or go too where no other owner is left
//   an owner waits (finalizer foregroundDeletion) ──► dependents are deleted; when none blocks it any more, it goes
//   an owner lets go (finalizer orphan) ──► dependents lose the reference, then it goes
//   an owner is of a kind that is not served ──► nobody knows whether it is gone, and nothing is done
//
// Api thread only.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;

class Garbage {
 public:
  explicit Garbage(Core& core) : core_(core) {}

  void changed(std::string_view table, const Key& key, const Facts* before, const Facts* now);
  // There are other kinds than before.
  void kinds_changed();
  // After a start: whatever waits in the store.
  void look_at_all();

 private:
  void look_at(Store::Place place);
  void work();
  void process(const Store::Place& place);
  void release_dependents(const Store::Place& place, const std::string& uid);
  void finish_foreground(const Store::Place& place, const std::string& uid);
  void judge_owners(const Store::Place& place, const Facts& facts);
  void drop_references(const Store::Place& place, const std::set<std::string>& uids);
  void ask_deletion(const Store::Place& place, const std::string& uid, std::string_view policy);

  Core& core_;
  std::set<Store::Place> waiting_;
  std::set<Store::Place> unsure_;  // whose owners are of kinds that are not served
  std::set<std::string> gone_;     // owners that were seen to go, as long as somebody names them
  bool scheduled_ = false;
};

}  // namespace gantree::apiserver
