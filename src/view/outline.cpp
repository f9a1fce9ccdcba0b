#include "view/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "view/words.h"

namespace gantree::view {

namespace {

OutlineEntry outline_of(const Scene& scene, Domain domain, bool unicode) {
  const DomainTree& tree = *scene.tree;
  OutlineEntry entry;
  entry.domain = domain;
  entry.label = domain.level < 0 ? std::string() : printable(tree.name(domain), unicode);
  if (domain.level + 1 >= tree.host_level()) {
    entry.row = true;
    entry.label = domain.level < 0 ? "hosts" : entry.label;
    entry.totals = totals(scene, tree.hosts(domain));
    return entry;
  }
  const Range range = tree.children(domain);
  std::vector<std::uint32_t> order(range.size());
  std::iota(order.begin(), order.end(), range.begin);
  const int level = domain.level + 1;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return natural_less(tree.name({level, a}), tree.name({level, b}));
  });
  for (const std::uint32_t index : order) {
    entry.children.push_back(outline_of(scene, {level, index}, unicode));
    entry.totals.add(entry.children.back().totals);
  }
  if (entry.children.size() == 1 && domain.level >= 0) {
    OutlineEntry only = std::move(entry.children.front());
    only.label = entry.label + "/" + only.label;
    return only;
  }
  return entry;
}

}  // namespace

OutlineEntry make_outline(const Scene& scene, bool unicode) {
  return outline_of(scene, kWholeTree, unicode);
}

std::vector<std::uint32_t> hosts_in_order(const DomainTree& tree, Domain domain) {
  const Range range = tree.hosts(domain);
  std::vector<std::uint32_t> order(range.size());
  std::iota(order.begin(), order.end(), range.begin);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::string& name_a = tree.name({tree.host_level(), a});
    const std::string& name_b = tree.name({tree.host_level(), b});
    return name_a == name_b ? a < b : natural_less(name_a, name_b);
  });
  return order;
}

std::string uniform_text(const Totals& totals, const std::string& resource) {
  if (totals.all(HostState::kFree)) {
    return "all free";
  }
  if (totals.all(HostState::kFull)) {
    return "all in use";
  }
  if (totals.all(HostState::kOff)) {
    return "all not ready or cordoned";
  }
  if (totals.all(HostState::kWithout)) {
    return "without " + resource;
  }
  return {};
}

std::string totals_text(const Scene& scene, const Totals& totals, bool present) {
  const auto amount = [&](std::int64_t value) { return amount_text(value, scene.resource); };
  std::string text = fmt::format("{}, {} {}: {} in use", counted(totals.hosts, "host"), amount(totals.total),
                                 scene.resource_name, amount(totals.before));
  if (totals.touched()) {
    text += present ? fmt::format(" by others, {} by gangs", amount(totals.placed))
                    : fmt::format(" before, {} placed now", amount(totals.placed));
  }
  text += fmt::format(", {} free", amount(totals.usable));
  const std::int64_t rest = plus(totals.total, -plus(plus(totals.before, totals.placed), totals.usable));
  if (rest > 0) {
    text += fmt::format(", {} out of service", amount(rest));
  }
  return text;
}

}  // namespace gantree::view
