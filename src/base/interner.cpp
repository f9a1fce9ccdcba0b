#include "base/interner.h"

namespace gantree {

StringId Interner::intern(std::string_view text) {
  if (auto it = ids_.find(text); it != ids_.end()) {
    return it->second;
  }
  const auto id = make_id<StringTag>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

StringId Interner::intern_asked(std::string_view text) {
  if (auto it = ids_.find(text); it != ids_.end()) {
    return it->second;
  }
  if (asked_ >= most_asked_ && !text.empty()) {
    return intern(kTooMany);
  }
  ++asked_;
  return intern(text);
}

std::optional<StringId> Interner::find(std::string_view text) const {
  auto it = ids_.find(text);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace gantree
