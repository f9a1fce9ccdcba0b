// How much memory something has at a time: what is allocated with `new` is counted in every program that this file is
// linked into. For one thread.
#pragma once

#include <cstddef>

namespace gantree::test {

// From its construction on. At most one at a time.
class MemoryPeak {
 public:
  MemoryPeak();
  // The most there was at any moment since, above what there was at the beginning.
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::size_t before_;
};

}  // namespace gantree::test
