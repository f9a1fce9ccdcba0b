// Strings as small integers, so that the hot path compares ids.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/id.h"

namespace gantree {

using StringId = Id<struct StringTag>;

// Ids are handed out from 0 in order of first sight and never change; text()
// stays valid as long as the interner lives. Not thread safe.
class Interner {
 public:
  StringId intern(std::string_view text);
  [[nodiscard]] std::optional<StringId> find(std::string_view text) const;
  [[nodiscard]] std::string_view text(StringId id) const { return texts_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace gantree
