// Namespaces: what each is born with, and how one that is deleted is emptied before it goes. Api thread only.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "apiserver/status.h"
#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;
struct Kind;

class Namespaces {
 public:
  explicit Namespaces(Core& core) : core_(core) {}

  // Those that every cluster has, and whatever was left half done.
  void begin();
  void changed(std::string_view table, const Key& key, const Facts* now);
  // Whether something of that kind may be created there.
  [[nodiscard]] Outcome<> check_creation(const Kind& kind, std::string_view ns, std::string_view name) const;

 private:
  void schedule();
  void work();
  // Whether something is left. Asks for the deletion of what is not being deleted yet.
  bool empty_out(const std::string& ns);
  void tell_what_is_left(const std::string& ns);
  void give_account(const std::string& ns);
  // Who vouches for the server, where that was told.
  void give_authority(const std::string& ns);
  // The Service that leads to the server itself, and where it leads to.
  void give_own_service();

  Core& core_;
  std::set<std::string, std::less<>> ending_;
  bool scheduled_ = false;
};

}  // namespace gantree::apiserver
