// Drafts to submissions: levels looked up, shapes read, alternatives laid out.
#pragma once

#include "dialects/kai/draft.h"

namespace gantree::kai {

struct Assembled {
  Submission submission;
  bool preemptible = true;
};

// Fails where a pod template is malformed; what is wrong in the request itself is the submission's rejection.
[[nodiscard]] Result<Assembled> assemble(const Draft& draft, Intake& intake, Remarks& remarks);

}  // namespace gantree::kai
