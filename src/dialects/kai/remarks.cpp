#include "dialects/kai/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantree::kai {

void Remarks::add(std::string what, std::string_view subject) {
  const auto known =
      std::find_if(remarks_.begin(), remarks_.end(), [&](const Remark& remark) { return remark.what == what; });
  if (known != remarks_.end()) {
    ++known->count;
  } else {
    remarks_.push_back({.what = std::move(what), .subject = std::string(subject)});
  }
}

void Remarks::add_once(const Remarks& gang) {
  for (const Remark& remark : gang.remarks_) {
    add(remark.what, remark.subject);
  }
}

std::vector<std::string> Remarks::notes() const {
  std::vector<std::string> notes;
  for (const Remark& remark : remarks_) {
    notes.push_back(
        fmt::format("{} {}{} of KAI: {}", remark.count, remark.subject, remark.count == 1 ? "" : "s", remark.what));
  }
  return notes;
}

}  // namespace gantree::kai
