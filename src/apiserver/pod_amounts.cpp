#include "apiserver/pod_amounts.h"

#include "base/named_amounts.h"
#include "base/pod_total.h"

namespace gantree::apiserver {

namespace {

using Named = NamedAmounts<Amount>;

Named amounts_in(const Object* given) {
  AmountsByName amounts;
  for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
    const auto& member = *(given->begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto amount = parse_amount(member.value())) {
      amounts[member.key()] = *amount;
    }
  }
  return Named(std::move(amounts));
}

PodTotal<Named> total_of(const Object& spec, std::string_view part) {
  PodTotal<Named> total;
  if (const Array* first = array_at(spec, {"initContainers"})) {
    for (const Value& container : *first) {
      total.add_init_container(amounts_in(object_at(container, {"resources", part})),
                               text_at(container, {"restartPolicy"}) == "Always");
    }
  }
  if (const Array* containers = array_at(spec, {"containers"})) {
    for (const Value& container : *containers) {
      total.add_container(amounts_in(object_at(container, {"resources", part})));
    }
  }
  return total;
}

}  // namespace

AmountsByName container_amounts(const Object& spec, std::string_view part) {
  return total_of(spec, part).of_containers().map();
}

AmountsByName pod_amounts(const Object& spec, std::string_view part) {
  const PodTotal<Named> total = total_of(spec, part);
  const AmountsByName pod_level = amounts_in(object_at(spec, {"resources", part})).map();
  AmountsByName overhead = amounts_in(object_at(spec, {"overhead"})).map();
  if (part == "limits") {
    const Named limits = total.of_pod(pod_level, {});
    std::erase_if(overhead, [&](const auto& entry) { return !limits.map().contains(entry.first); });
  }
  return total.of_pod(pod_level, Named(std::move(overhead))).map();
}

}  // namespace gantree::apiserver
