// What the user is told beside the plan: the same remark about many gangs is made once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gantree::kai {

class Remarks {
 public:
  // `what` is a predicate: "names no topology: ...".
  void add(std::string what, std::string_view subject = "gang");
  // All that is remarked of one gang, each thing once.
  void add_once(const Remarks& gang);
  // "3 gangs: ...", in the order in which they came up.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Remark {
    std::string what;
    std::string subject;
    int count = 1;
  };
  std::vector<Remark> remarks_;
};

}  // namespace gantree::kai
