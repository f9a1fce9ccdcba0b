#include "service/metrics.h"

#include <fmt/format.h>

namespace gantree {

struct Metrics::Families {
  std::uint64_t steps = 0;
  std::uint64_t pods_placed = 0;
  std::uint64_t binds = 0;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}
Metrics::~Metrics() = default;

void Metrics::stepped(const StepFigures& figures, std::chrono::nanoseconds) {
  families_->steps += figures.decided ? 1 : 0;
  families_->pods_placed += static_cast<std::uint64_t>(figures.pods_placed);
}

void Metrics::answered(const WriteAnswered& answer) {
  families_->binds += answer.bind && answer.reply.ok() ? 1 : 0;
}

std::string Metrics::page(const MetricSources& sources) {
  return fmt::format(
      "gantree_leading {}\ngantree_cycles_total {}\ngantree_pods_placed_total {}\ngantree_binds_total {}\n",
      sources.leading ? 1 : 0, families_->steps, families_->pods_placed, families_->binds);
}

}  // namespace gantree
