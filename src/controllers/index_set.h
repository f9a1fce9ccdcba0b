// Completion indexes as a Job's status writes them: "0-2,5,7-9".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantree::controllers {

// Held as ranges, so that "0-2147483646" costs no more than "0".
class IndexSet {
 public:
  IndexSet() = default;
  // What cannot be read, and what is not below `limit`, is passed over.
  IndexSet(std::string_view text, std::int64_t limit);

  // Indexes in any order, also some that are in it already.
  void add(const std::vector<std::int64_t>& indexes);
  [[nodiscard]] bool has(std::int64_t index) const;
  // The first index from there on that is not in it.
  [[nodiscard]] std::int64_t first_missing(std::int64_t from) const;
  // How many are in both.
  [[nodiscard]] std::int64_t common(const IndexSet& other) const;
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::string text() const;

 private:
  struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  void join();
  [[nodiscard]] const Range* range_of(std::int64_t index) const;

  std::vector<Range> ranges_;  // sorted, with gaps between them
};

}  // namespace gantree::controllers
