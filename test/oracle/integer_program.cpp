#include "oracle/integer_program.h"

#include <coin/Cbc_C_Interface.h>

#include <cmath>
#include <memory>

namespace gantree::oracle {
namespace {

struct DeleteModel {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};

std::size_t to(int index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

int IntegerProgram::add_column(int most) {
  most_.push_back(most);
  entries_.emplace_back();
  return static_cast<int>(most_.size()) - 1;
}

void IntegerProgram::add_row(double least, const Terms& terms, double most) {
  for (const auto& [column, factor] : terms) {
    entries_[to(column)].emplace_back(static_cast<int>(rows_.size()), factor);
  }
  rows_.push_back({least, most});
}

IntegerProgram::Answer IntegerProgram::minimize(const std::vector<int>& columns, double seconds) const {
  std::vector<int> starts{0};
  std::vector<int> rows;
  std::vector<double> factors;
  for (const auto& column : entries_) {
    for (const auto& [row, factor] : column) {
      rows.push_back(row);
      factors.push_back(factor);
    }
    starts.push_back(static_cast<int>(rows.size()));
  }
  const std::vector<double> lower(most_.size(), 0);
  const std::vector<double> upper(most_.begin(), most_.end());
  std::vector<double> cost(most_.size(), 0);
  for (const int column : columns) {
    cost[to(column)] += 1;
  }
  std::vector<double> least;
  std::vector<double> most;
  for (const Row& row : rows_) {
    least.push_back(row.least);
    most.push_back(row.most);
  }

  const std::unique_ptr<Cbc_Model, DeleteModel> model(Cbc_newModel());
  Cbc_loadProblem(model.get(), static_cast<int>(most_.size()), static_cast<int>(rows_.size()), starts.data(),
                  rows.data(), factors.data(), lower.data(), upper.data(), cost.data(), least.data(), most.data());
  for (std::size_t column = 0; column < most_.size(); ++column) {
    Cbc_setInteger(model.get(), static_cast<int>(column));
  }
  Cbc_setObjSense(model.get(), 1);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "slog", "0");
  Cbc_setMaximumSeconds(model.get(), seconds);
  Cbc_solve(model.get());

  Answer answer;
  if (Cbc_isProvenInfeasible(model.get()) != 0) {
    answer.status = Status::kInfeasible;
  } else if (Cbc_isProvenOptimal(model.get()) != 0) {
    answer.status = Status::kOptimal;
    const double* solution = Cbc_getColSolution(model.get());
    for (std::size_t column = 0; column < most_.size(); ++column) {
      answer.values.push_back(static_cast<int>(std::lround(solution[column])));
    }
  }
  return answer;
}

}  // namespace gantree::oracle
