#include "model/record.h"

namespace gantree {

const char* to_string(Standing standing) {
  switch (standing) {
    case Standing::kWaits:
      return "Waiting";
    case Standing::kAdmitted:
      return "Admitted";
    case Standing::kEvicted:
      return "Evicted";
    case Standing::kDeactivated:
      return "Deactivated";
    case Standing::kSuspended:
      return "Suspended";
    case Standing::kFinished:
      return "Finished";
  }
  return "?";
}

}  // namespace gantree
