#include "controllers/amounts.h"

#include <algorithm>
#include <map>

#include "base/quantity.h"

namespace gantree::controllers {

namespace {

using Sum = std::map<std::string, std::int64_t>;

constexpr std::int64_t kMost = std::int64_t{1} << 62;

std::int64_t plus(std::int64_t a, std::int64_t b) {
  return a > kMost - b ? kMost : a + b;
}

void add(Sum& sum, const Object* quantities) {
  for (const auto& [resource, amount] : amounts_in(quantities)) {
    sum[resource] = plus(sum[resource], amount);
  }
}

}  // namespace

Amounts amounts_in(const Object* quantities) {
  Amounts amounts;
  for (std::size_t i = 0; quantities != nullptr && i < quantities->size(); ++i) {
    const auto& member = *(quantities->begin() + static_cast<std::ptrdiff_t>(i));
    const std::string text =
        member.value().is_int64() ? std::to_string(member.value().get_int64()) : std::string(text_of(member.value()));
    const auto amount = parse_quantity(text, Unit::kMilli, Round::kUp);
    if (amount && *amount > 0) {
      amounts.emplace_back(std::string(member.key()), std::min(*amount, kMost));
    }
  }
  std::sort(amounts.begin(), amounts.end());
  return amounts;
}

Amounts requests_of(const Value& pod) {
  Sum sum;
  if (const Array* containers = array_at(pod, {"spec", "containers"})) {
    for (const Value& container : *containers) {
      add(sum, object_at(container, {"resources", "requests"}));
    }
  }
  Sum most;      // of init containers, one after the other
  Sum sidecars;  // that have started by then, and stay
  const Array* init = array_at(pod, {"spec", "initContainers"});
  for (std::size_t i = 0; init != nullptr && i < init->size(); ++i) {
    const Object* requests = object_at((*init)[i], {"resources", "requests"});
    if (text_at((*init)[i], {"restartPolicy"}) == "Always") {
      add(sum, requests);
      add(sidecars, requests);
    }
    Sum now = sidecars;
    if (text_at((*init)[i], {"restartPolicy"}) != "Always") {
      add(now, requests);
    }
    for (const auto& [resource, amount] : now) {
      most[resource] = std::max(most[resource], amount);
    }
  }
  for (const auto& [resource, amount] : most) {
    sum[resource] = std::max(sum[resource], amount);
  }
  add(sum, object_at(pod, {"spec", "overhead"}));
  sum["pods"] = 1000;
  return Amounts(sum.begin(), sum.end());
}

}  // namespace gantree::controllers
