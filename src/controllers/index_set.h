// Completion indexes as a Job's status writes them: "0-2,5,7-9".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantree::controllers {

class IndexSet {
 public:
  IndexSet() = default;
  // What cannot be read, and what is not below `limit`, is passed over.
  IndexSet(std::string_view text, std::int64_t limit);

  // Indexes in any order, also some that are in it already.
  void add(const std::vector<std::int64_t>& indexes);
  [[nodiscard]] bool has(std::int64_t index) const;
  // How many are in both.
  [[nodiscard]] std::int64_t common(const IndexSet& other) const;
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(indexes_.size()); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::int64_t> indexes_;  // sorted
};

}  // namespace gantree::controllers
