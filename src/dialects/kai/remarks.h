// What the user is told beside the plan: the same remark about many gangs is made once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/gang.h"

namespace gantree::kai {

class Remarks {
 public:
  // Of all gangs together.
  Remarks() = default;
  // Of one gang or one queue.
  explicit Remarks(std::string subject) : subject_(std::move(subject)) {}
  explicit Remarks(const GangKey& key);

  // Says it once, however often it is added.
  void add(std::string what);
  // All that is remarked of one subject.
  void add_all(const Remarks& other);
  // "Job default/a and 2 more of KAI: ...", in the order in which they came up.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Remark {
    std::string what;
    std::string first;  // the subject of which it was remarked first
    std::string last;
    int more = 0;  // other subjects
  };

  void add(std::string what, const std::string& subject);

  std::string subject_;
  std::vector<Remark> remarks_;
};

}  // namespace gantree::kai
