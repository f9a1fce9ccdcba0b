// Pods that a job made without what its start adds to them: of the moment in which somebody else had started it. Its
// controller may make them even after the job was stopped and started again, since it acts on what it saw before.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/object.h"

namespace gantree::kueue {

class Strays {
 public:
  // Whether the text of a pod may be that of a pod of a job.
  [[nodiscard]] static bool may_be_one(std::string_view text);

  // A pod as it is now, by namespace/name. The uids of the jobs for which that changes anything; mostly none.
  std::vector<std::string> see(const std::string& key, const Object& pod);
  std::vector<std::string> lose(const std::string& key);
  // Whether the job of that uid has any that are not on their way out.
  [[nodiscard]] bool any(const std::string& job_uid) const { return by_job_.contains(job_uid); }

 private:
  std::map<std::string, std::vector<std::string>> jobs_of_;  // uids by pod
  std::map<std::string, std::set<std::string>> by_job_;      // none is empty
};

}  // namespace gantree::kueue
