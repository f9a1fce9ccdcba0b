#include "property/kueue_quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gantree::test {

namespace {

// The tree of one flavor.
class Cells {
 public:
  Cells(const QuotaSetup& setup, std::string flavor) : setup_(setup), flavor_(std::move(flavor)) {
    for (std::size_t q = 0; q < setup.queues.size(); ++q) {
      add(fmt::format("c{}", q), setup.queues[q].cohort);
    }
    for (const auto& [name, cohort] : setup.cohorts) {
      add(name, cohort.parent);
    }
  }

  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

  [[nodiscard]] std::string parent(const std::string& name) const {
    const auto it = parents_.find(name);
    return it == parents_.end() ? std::string() : it->second;
  }
  // Its own and what those below lend it.
  [[nodiscard]] int total(const std::string& name) const {
    int sum = numbers(name).nominal;
    for (const auto& [child, above] : parents_) {
      const int has = above == name ? total(child) : 0;
      sum += std::min(has, numbers(child).lending.value_or(has));
    }
    return sum;
  }
  // What nobody else gets.
  [[nodiscard]] int own(const std::string& name) const {
    const auto lending = numbers(name).lending;
    return lending && !parent(name).empty() ? std::max(0, total(name) - *lending) : 0;
  }
  [[nodiscard]] std::optional<int> limit(const std::string& name) const {
    if (parent(name).empty()) {
      return total(name);
    }
    const auto borrowing = numbers(name).borrowing;
    return borrowing ? std::optional(total(name) + *borrowing) : std::nullopt;
  }
  [[nodiscard]] int used(const std::string& name, const CellAmounts& of_queues) const {
    const auto direct = of_queues.find(name + " " + flavor_);
    int sum = direct == of_queues.end() ? 0 : direct->second;
    for (const auto& [child, above] : parents_) {
      sum += above == name ? std::max(0, used(child, of_queues) - own(child)) : 0;
    }
    return sum;
  }

 private:
  void add(const std::string& name, const std::string& above) {
    names_.insert(name);
    if (!above.empty()) {
      names_.insert(above);
      parents_[name] = above;
    }
  }
  [[nodiscard]] QuotaNumbers numbers(const std::string& name) const {
    const auto cohort = setup_.cohorts.find(name);
    if (cohort != setup_.cohorts.end()) {
      const auto it = cohort->second.quota.find(flavor_);
      return it == cohort->second.quota.end() ? QuotaNumbers() : it->second;
    }
    if (!name.starts_with('c')) {
      return {};  // a cohort that only queues name
    }
    return setup_.queues[static_cast<std::size_t>(std::stoi(name.substr(1)))].quota.at(flavor_);
  }

  const QuotaSetup& setup_;
  std::string flavor_;
  std::set<std::string> names_;
  std::map<std::string, std::string> parents_;
};

}  // namespace

CellAmounts spread(const QuotaSetup& setup, const CellAmounts& of_queues) {
  CellAmounts all;
  for (const auto& [flavor, numbers] : setup.queues.front().quota) {
    const Cells cells(setup, flavor);
    for (const std::string& name : cells.names()) {
      all[name + " " + flavor] = cells.used(name, of_queues);
    }
  }
  return all;
}

std::string excess(const QuotaSetup& setup, const CellAmounts& used, const CellAmounts& before) {
  for (const auto& [flavor, numbers] : setup.queues.front().quota) {
    const Cells cells(setup, flavor);
    for (const std::string& name : cells.names()) {
      const std::string cell = name + " " + flavor;
      const auto limit = cells.limit(name);
      const auto old = before.find(cell);
      const int amount = used.at(cell);
      if (limit && amount > *limit && (old == before.end() || amount > old->second)) {
        return fmt::format("{} uses {} of {}", cell, amount, *limit);
      }
    }
  }
  return {};
}

}  // namespace gantree::test
