#include "dialects/kueue/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/saturating.h"
#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "model/topology.h"

namespace gantree::kueue {

namespace {

// Few words can stand for any number of domains: more than these, in all slices together, are not believed.
constexpr std::int64_t kMostDomains = 200'000;

// What all of them begin with.
std::string_view common_prefix(const std::vector<std::string_view>& texts) {
  std::string_view prefix = texts.front();
  for (const std::string_view text : texts) {
    const auto end = std::mismatch(prefix.begin(), prefix.end(), text.begin(), text.end()).first;
    prefix = prefix.substr(0, static_cast<std::size_t>(end - prefix.begin()));
  }
  return prefix;
}

json::Out write_values(const std::vector<std::string_view>& values) {
  json::Out out = json::Out::object();
  const bool same = std::all_of(values.begin(), values.end(), [&](std::string_view v) { return v == values.front(); });
  if (same) {
    return std::move(out.add("universal", values.front()));
  }
  const std::string_view prefix = common_prefix(values);
  json::Out individual = json::Out::object();
  if (!prefix.empty()) {
    individual.add("prefix", prefix);
  }
  json::Out roots = json::Out::array();
  for (const std::string_view value : values) {
    roots.push(value.substr(prefix.size()));
  }
  individual.add("roots", std::move(roots));
  return std::move(out.add("individual", std::move(individual)));
}

json::Out write_counts(const std::vector<AssignedDomain>& domains) {
  json::Out out = json::Out::object();
  const bool same = std::all_of(domains.begin(), domains.end(),
                                [&](const AssignedDomain& domain) { return domain.count == domains.front().count; });
  if (same) {
    return std::move(out.add("universal", domains.front().count));
  }
  json::Out counts = json::Out::array();
  for (const AssignedDomain& domain : domains) {
    counts.push(domain.count);
  }
  return std::move(out.add("individual", std::move(counts)));
}

int read_count(json::Reader& read, json::Value value, std::string_view what) {
  return static_cast<int>(read.as_integer(value, what, 1, std::numeric_limits<int>::max()).value_or(1));
}

// A list that gives one entry a domain.
std::span<const json::NodeData> one_each(json::Reader& read, json::Value list, std::size_t domains) {
  if (!list) {
    return {};  // that was complained about
  }
  if (list.items().size() != domains) {
    read.complain(list, fmt::format("{} entries are expected, one a domain", domains));
    return {};
  }
  return list.items();
}

void read_level(json::Reader& read, json::Value values, std::span<AssignedDomain> domains) {
  if (const auto universal = read.text(values, "universal")) {
    for (AssignedDomain& domain : domains) {
      domain.values.emplace_back(*universal);
    }
    return;
  }
  const json::Value individual = read.require_object(values, "individual");
  const std::string_view prefix = read.text(individual, "prefix").value_or("");
  const std::string_view suffix = read.text(individual, "suffix").value_or("");
  const auto roots = one_each(read, read.require_array(individual, "roots"), domains.size());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    domains[i].values.push_back(fmt::format("{}{}{}", prefix, read.as_text(json::Value(&roots[i]), "root"), suffix));
  }
}

void read_slice(json::Reader& read, json::Value slice, TopologyAssignment& assignment) {
  const auto count = read.integer(slice, "domainCount", 1, kMostDomains);
  if (!count) {
    read.complain(slice, "domainCount is missing");
    return;
  }
  const std::size_t first = assignment.domains.size();
  const json::Value levels = read.require_array(slice, "valuesPerLevel");
  if (!levels || levels.items().size() != assignment.levels.size()) {
    read.complain(slice, "valuesPerLevel needs an entry for each level");
    return;
  }
  if (first + static_cast<std::size_t>(*count) > static_cast<std::size_t>(kMostDomains)) {
    read.complain(slice, fmt::format("the assignment has more than {} domains", kMostDomains));
    return;
  }
  assignment.domains.resize(first + static_cast<std::size_t>(*count));
  const std::span<AssignedDomain> domains = std::span(assignment.domains).subspan(first);
  for (const json::NodeData& level : levels.items()) {
    read_level(read, json::Value(&level), domains);
  }
  const json::Value counts = read.require_object(slice, "podCounts");
  if (const json::Value universal = read.any(counts, "universal")) {
    const int each = read_count(read, universal, "podCounts.universal");
    for (AssignedDomain& domain : domains) {
      domain.count = each;
    }
    return;
  }
  const auto each = one_each(read, read.require_array(counts, "individual"), domains.size());
  for (std::size_t i = 0; i < each.size(); ++i) {
    domains[i].count = read_count(read, json::Value(&each[i]), "podCounts.individual");
  }
}

}  // namespace

json::Out write_assignment(const TopologyAssignment& assignment) {
  json::Out out = json::Out::object();
  json::Out levels = json::Out::array();
  for (const std::string& level : assignment.levels) {
    levels.push(level);
  }
  out.add("levels", std::move(levels));
  json::Out slices = json::Out::array();
  if (!assignment.domains.empty()) {
    json::Out slice = json::Out::object();
    slice.add("domainCount", assignment.domains.size());
    json::Out values = json::Out::array();
    for (std::size_t level = 0; level < assignment.levels.size(); ++level) {
      std::vector<std::string_view> column;
      for (const AssignedDomain& domain : assignment.domains) {
        column.push_back(domain.values[level]);
      }
      values.push(write_values(column));
    }
    slice.add("valuesPerLevel", std::move(values)).add("podCounts", write_counts(assignment.domains));
    slices.push(std::move(slice));
  }
  return std::move(out.add("slices", std::move(slices)));
}

AssignmentSize assignment_size(json::Value value) {
  AssignmentSize size;
  const auto levels = static_cast<std::int64_t>(items_of(value["levels"]).size());
  for (const json::NodeData& item : items_of(value["slices"])) {
    const json::Value slice(&item);
    const json::Value count = slice["domainCount"];
    const bool number = count && count.kind() == json::Kind::kNumber;
    // What is no number of domains is complained about when it is read.
    const std::int64_t domains =
        number ? whole_number<std::int64_t>(count.text(), 0).value_or(kMostDomains + 1) : std::int64_t{0};
    std::int64_t text = 0;
    for (const json::NodeData& level : items_of(slice["valuesPerLevel"])) {
      const json::Value values(&level);
      const auto length = [](json::Value one) {
        return one && one.kind() == json::Kind::kString ? static_cast<std::int64_t>(one.text().size()) : 0;
      };
      const json::Value individual = values["individual"];
      // The roots are there one by one, so that they are no more than what came in.
      text += length(values["universal"]) + length(individual["prefix"]) + length(individual["suffix"]);
    }
    size.values = saturated_sum(size.values, saturated_product(domains, levels + 1));
    size.bytes = saturated_sum(size.bytes, saturated_product(domains, text));
  }
  const auto domains = static_cast<std::int64_t>(items_of(value["domains"]).size());
  size.values = saturated_sum(size.values, saturated_product(domains, levels + 1));
  return size;
}

TopologyAssignment read_assignment(json::Reader& read, json::Value value) {
  TopologyAssignment assignment;
  const json::Value levels = read.array(value, "levels");
  for (const json::NodeData& level : levels ? levels.items() : std::span<const json::NodeData>()) {
    assignment.levels.emplace_back(read.as_text(json::Value(&level), "level"));
  }
  if (assignment.levels.size() > kMaxLevels) {
    read.complain(levels,
                  fmt::format("the assignment has {} levels; {} are allowed", assignment.levels.size(), kMaxLevels));
    return {};
  }
  const json::Value slices = read.array(value, "slices");
  for (const json::NodeData& slice : slices ? slices.items() : std::span<const json::NodeData>()) {
    read_slice(read, read.as_object(json::Value(&slice), "slice"), assignment);
  }
  const json::Value domains = read.array(value, "domains");
  for (const json::NodeData& item : domains ? domains.items() : std::span<const json::NodeData>()) {
    const json::Value domain = read.as_object(json::Value(&item), "domain");
    AssignedDomain& added = assignment.domains.emplace_back();
    const json::Value values = read.require_array(domain, "values");
    for (const json::NodeData& one : values ? values.items() : std::span<const json::NodeData>()) {
      added.values.emplace_back(read.as_text(json::Value(&one), "value"));
    }
    added.count = static_cast<int>(read.integer(domain, "count", 1, std::numeric_limits<int>::max()).value_or(1));
  }
  for (const AssignedDomain& domain : assignment.domains) {
    if (domain.values.size() != assignment.levels.size()) {
      read.complain(value, "a domain of the assignment has not one value a level");
      return {};
    }
  }
  return assignment;
}

}  // namespace gantree::kueue
