#include "dialects/kai/remarks.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::kai {

void Remarks::add(std::string what) {
  const auto known =
      std::find_if(remarks_.begin(), remarks_.end(), [&](const auto& remark) { return remark.first == what; });
  if (known != remarks_.end()) {
    ++known->second;
  } else {
    remarks_.emplace_back(std::move(what), 1);
  }
}

void Remarks::add_once(const Remarks& gang) {
  for (const auto& [what, count] : gang.remarks_) {
    add(what);
  }
}

std::vector<std::string> Remarks::notes() const {
  std::vector<std::string> notes;
  for (const auto& [what, count] : remarks_) {
    notes.push_back(fmt::format("{} of KAI: {}", count == 1 ? "1 gang" : fmt::format("{} gangs", count), what));
  }
  return notes;
}

}  // namespace gantree::kai
