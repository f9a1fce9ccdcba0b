#include "controllers/amounts.h"

#include <algorithm>

#include "apiserver/pod_amounts.h"
#include "base/quantity.h"

namespace gantree::controllers {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;
constexpr const char* kPods = "pods";

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
  constexpr std::int64_t kNanos = 1'000'000;  // of a thousandth
  Amounts requests;
  if (const Object* spec = object_at(pod, {"spec"})) {
    for (const auto& [resource, amount] : apiserver::pod_amounts(*spec, "requests")) {
      const auto thousandths = (amount.nanos + kNanos - 1) / kNanos;
      if (thousandths > 0 && resource != kPods) {
        requests.emplace_back(resource, static_cast<std::int64_t>(thousandths > kMost ? kMost : thousandths));
      }
    }
  }
  requests.emplace_back(kPods, 1000);
  std::sort(requests.begin(), requests.end());
  return requests;
}

}  // namespace gantree::controllers
