// Strings as small integers, so that the hot path compares ids.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/id.h"

namespace gantree {

using StringId = Id<struct StringTag>;

// Ids are handed out from 0 in order of first sight and never change; text()
// stays valid as long as the interner lives. Not thread safe.
//
// Nothing is ever forgotten, so that who may name ever new strings could fill
// the memory. intern_asked() is for theirs: beyond the limit those that are not
// known are all one, kTooMany, which is no label and no resource's name.
class Interner {
 public:
  static constexpr std::string_view kTooMany = "(one of too many names)";

  StringId intern(std::string_view text);
  StringId intern_asked(std::string_view text);
  // So many are kept that intern_asked() was the first to name; any number unless said.
  void limit_asked(std::size_t most) { most_asked_ = most; }
  [[nodiscard]] std::optional<StringId> find(std::string_view text) const;
  [[nodiscard]] std::string_view text(StringId id) const { return texts_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
  std::size_t asked_ = 0;
  std::size_t most_asked_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace gantree
