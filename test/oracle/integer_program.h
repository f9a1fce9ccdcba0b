// A small integer program, solved by CBC.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gantree::oracle {

class IntegerProgram {
 public:
  using Terms = std::vector<std::pair<int, double>>;  // column, factor

  // An integer column from 0 to `most`; its number.
  int add_column(int most);
  void add_row(double least, const Terms& terms, double most);

  static constexpr double kNoLimit = 1e30;

  enum class Status : std::uint8_t {
    kOptimal,
    kInfeasible,
    kGaveUp,  // out of time: nothing is proven
  };
  struct Answer {
    Status status = Status::kGaveUp;
    std::vector<int> values;  // by column, where optimal
  };
  // Makes the sum of the columns as small as it can be, within some seconds. Prints nothing.
  [[nodiscard]] Answer minimize(const std::vector<int>& columns, double seconds = 10) const;

 private:
  struct Row {
    double least;
    double most;
  };
  std::vector<int> most_;
  std::vector<std::vector<std::pair<int, double>>> entries_;  // by column: row, factor
  std::vector<Row> rows_;
};

}  // namespace gantree::oracle
