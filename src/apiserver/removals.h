// Deletions that the server itself asks for: what is in a namespace that goes, objects of a definition that goes,
// dependents of owners that are gone. One that is refused, by a webhook perhaps, is tried again after a pause that
// grows. Api thread only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apiserver/api.h"
#include "apiserver/store.h"

namespace gantree::apiserver {

class Core;

class Removals {
 public:
  explicit Removals(Core& core) : core_(core) {}

  // Asks for it, unless that is under way or it is not time yet to try again. `look` is called when it is answered, and
  // once more when a refused one may be asked for again: whether it is still to go is for the caller to find out.
  // False: not asked.
  bool ask(const Store::Place& place, Call call, std::function<void()> look);
  // Asked for and not answered yet, of that namespace; "": of any.
  [[nodiscard]] std::size_t under_way(std::string_view ns) const;
  // Why it was refused the last time; nullptr where it was not.
  [[nodiscard]] const std::string* refusal(const Store::Place& place) const;
  // The object is gone.
  void gone(std::string_view table, const Key& key);

 private:
  struct Attempt {
    bool under_way = false;
    bool waits = false;  // until it may be tried again
    std::chrono::milliseconds pause{0};
    std::string why;
  };
  void answered(const Store::Place& place, const Answer& answer, const std::function<void()>& look);

  Core& core_;
  std::map<Store::Place, Attempt> attempts_;
};

}  // namespace gantree::apiserver
