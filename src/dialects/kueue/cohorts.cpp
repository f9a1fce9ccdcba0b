#include "dialects/kueue/cohorts.h"

#include <fmt/format.h>

namespace gantree::kueue {

namespace {

constexpr int kMaxNesting = 64;

// The name of the cohort around it; "" where there is none.
std::string_view parent_of(std::string_view cohort, const Cohorts& cohorts) {
  const auto it = cohorts.find(cohort);
  return it == cohorts.end() ? std::string_view{} : std::string_view(it->second.parent_name);
}

}  // namespace

Result<> check_nesting(const Cohorts& cohorts) {
  for (const auto& [name, cohort] : cohorts) {
    int depth = 0;
    for (std::string_view at = cohort.parent_name; !at.empty(); at = parent_of(at, cohorts)) {
      if (at == name) {
        return invalid(fmt::format("{}: Cohort \"{}\" is its own ancestor", json::to_string(cohort.place), name));
      }
      // Somebody else's circle shows up here as well; it is named when that one's turn comes.
      if (++depth > kMaxNesting) {
        break;
      }
    }
  }
  for (const auto& [name, cohort] : cohorts) {
    int depth = 0;
    for (std::string_view at = cohort.parent_name; !at.empty(); at = parent_of(at, cohorts)) {
      if (++depth > kMaxNesting) {
        return fail(Errc::kLimit, fmt::format("{}: Cohort \"{}\" is nested more than {} deep",
                                              json::to_string(cohort.place), name, kMaxNesting));
      }
    }
  }
  return {};
}

std::string_view root_of(std::string_view cohort, const Cohorts& cohorts) {
  for (std::string_view parent = parent_of(cohort, cohorts); !parent.empty(); parent = parent_of(cohort, cohorts)) {
    cohort = parent;
  }
  return cohort;
}

CohortCells::CohortCells(const Cohorts& cohorts, const ResourceNames& names, Quota& quota)
    : cohorts_(cohorts), names_(names), quota_(quota) {
  for (const auto& [name, cohort] : cohorts) {
    for (const ResourceGroup& group : cohort.groups) {
      for (const FlavorQuota& flavor : group.flavors) {
        for (std::size_t i = 0; i < group.covered.size(); ++i) {
          own_[{name, flavor.flavor_name, group.covered[i]}] = {.quota = &flavor, .at = i};
        }
      }
    }
  }
}

QuotaId CohortCells::cell(std::string_view cohort, std::string_view flavor, ResourceId resource) {
  const Key key{cohort, flavor, resource};
  if (const auto known = cells_.find(key); known != cells_.end()) {
    return known->second;
  }
  QuotaCell cell{.queue = fmt::format("Cohort \"{}\"", cohort),
                 .flavor = std::string(flavor),
                 .resource = std::string(names_.name(resource)),
                 .unit = ResourceNames::unit(resource)};
  if (const auto object = cohorts_.find(cohort); object != cohorts_.end()) {
    cell.weight = object->second.weight;
  }
  if (const std::string_view parent = parent_of(cohort, cohorts_); !parent.empty()) {
    cell.parent = this->cell(parent, flavor, resource);
  }
  if (const auto own = own_.find(key); own != own_.end()) {
    cell.nominal = own->second.quota->nominal[own->second.at];
    cell.borrowing_limit = own->second.quota->borrowing_limit[own->second.at];
    cell.lending_limit = own->second.quota->lending_limit[own->second.at];
  }
  const QuotaId id = quota_.add(std::move(cell));
  cells_.emplace(key, id);
  return id;
}

void CohortCells::open_all() {
  for (const auto& [key, own] : own_) {
    static_cast<void>(cell(std::get<0>(key), std::get<1>(key), std::get<2>(key)));
  }
}

}  // namespace gantree::kueue
