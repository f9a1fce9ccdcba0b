#include "dialects/kai/remarks.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::kai {

Remarks::Remarks(const GangKey& key) : subject_(fmt::format("{} {}/{}", key.kind, key.ns, key.name)) {}

void Remarks::add(std::string what) {
  add(std::move(what), subject_);
}

void Remarks::add(std::string what, const std::string& subject) {
  const auto known =
      std::find_if(remarks_.begin(), remarks_.end(), [&](const Remark& remark) { return remark.what == what; });
  if (known == remarks_.end()) {
    remarks_.push_back({.what = std::move(what), .first = subject, .last = subject});
  } else if (known->last != subject) {
    known->last = subject;
    ++known->more;
  }
}

void Remarks::add_all(const Remarks& other) {
  for (const Remark& remark : other.remarks_) {
    add(remark.what, remark.first);
  }
}

std::vector<std::string> Remarks::notes() const {
  std::vector<std::string> notes;
  for (const Remark& remark : remarks_) {
    const std::string others = remark.more == 0 ? "" : fmt::format(" and {} more", remark.more);
    notes.push_back(fmt::format("{}{} of KAI: {}", remark.first, others, remark.what));
  }
  return notes;
}

}  // namespace gantree::kai
