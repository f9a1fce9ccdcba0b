#include "kueue/circles.h"

#include <fmt/format.h>

#include <string_view>

namespace gantree::kueue {

namespace {

// Deeper than this nobody nests; what is as deep goes in a circle, its own or one above it.
constexpr int kMostNesting = 60;

std::string_view parent_of(std::string_view cohort, const Cohorts& cohorts) {
  const auto it = cohorts.find(cohort);
  return it == cohorts.end() ? std::string_view() : std::string_view(it->second.parent_name);
}

// "" where it is well.
std::string fault_of(const Cohort& cohort, const Cohorts& cohorts) {
  int depth = 0;
  for (std::string_view at = cohort.parent_name; !at.empty(); at = parent_of(at, cohorts)) {
    if (at == cohort.name) {
      return fmt::format("Cohort \"{}\" is its own ancestor", cohort.name);
    }
    if (++depth > kMostNesting) {
      return fmt::format("Cohort \"{}\" is nested too deep", cohort.name);
    }
  }
  return {};
}

}  // namespace

std::map<std::string, std::string, std::less<>> break_circles(Cohorts& cohorts) {
  std::map<std::string, std::string, std::less<>> broken;
  for (const auto& [name, cohort] : cohorts) {
    if (std::string fault = fault_of(cohort, cohorts); !fault.empty()) {
      broken.emplace(name, std::move(fault));
    }
  }
  for (const auto& [name, fault] : broken) {
    cohorts.find(name)->second.parent_name.clear();
  }
  return broken;
}

void stop_queues_below(const std::map<std::string, std::string, std::less<>>& broken, Setup& setup) {
  if (broken.empty()) {
    return;
  }
  for (auto& [name, queue] : setup.cluster_queues) {
    const auto fault = broken.find(root_of(queue.cohort_name, setup.cohorts));
    if (queue.inactive.empty() && fault != broken.end()) {
      queue.inactive = fault->second;
    }
  }
  for (auto& [key, queue] : setup.local_queues) {
    if (queue.inactive.empty() && queue.cluster_queue != nullptr) {
      queue.inactive = queue.cluster_queue->inactive;
    }
  }
}

}  // namespace gantree::kueue
