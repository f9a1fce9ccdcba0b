#include "plan_equals_run/differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "base/check.h"

namespace gantree::test {

namespace {

constexpr std::array<std::string_view, 4> kCauses = {"two schedulers, ", "not live, ", "by design, ", "fault, "};

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words;
}

// The kind of difference between two answers; nothing where they agree.
std::optional<std::string> kind_of(const GangAnswer& plan, const GangAnswer& run) {
  if (plan.state != run.state) {
    return "state";
  }
  if (plan.state != "Placed") {
    return plan.reason == run.reason ? std::nullopt : std::optional<std::string>("reason");
  }
  std::optional<std::string> kind;
  for (const auto& [name, set] : plan.pod_sets) {
    const auto other = run.pod_sets.find(name);
    if (other == run.pod_sets.end() || sorted(other->second.places) != sorted(set.places)) {
      return "place";
    }
    if (other->second.places != set.places) {
      kind = "ranks";
    }
  }
  return kind;
}

}  // namespace

std::vector<Difference> differences(const std::string& file, const Answers& plan, const Answers& run) {
  std::vector<Difference> found;
  for (const auto& [name, planned] : plan.gangs) {
    if (!planned.live) {
      continue;
    }
    const GangAnswer& done = run.gangs.at(name);
    if (const auto kind = kind_of(planned, done)) {
      found.push_back({file, name, *kind, fmt::format("plan: {}, run: {}", planned.text(), done.text())});
    }
  }
  const auto of = [](const Answers& answers, const std::string& gang) {
    const auto it = answers.evictions.find(gang);
    return it == answers.evictions.end() ? std::string() : it->second;
  };
  std::set<std::string> victims;
  for (const Answers* answers : {&plan, &run}) {
    for (const auto& [gang, why] : answers->evictions) {
      victims.insert(gang);
    }
  }
  for (const std::string& gang : victims) {
    const std::string planned = of(plan, gang);
    const std::string done = of(run, gang);
    if (planned != done) {
      const auto words = [](const std::string& why) { return why.empty() ? "stays" : "evicted " + why; };
      found.push_back({file, gang, "eviction", fmt::format("plan: {}, run: {}", words(planned), words(done))});
    }
  }
  return found;
}

std::map<std::string, std::string> read_known_differences(const std::string& path) {
  std::ifstream stream(path);
  GANTREE_CHECK(stream);
  std::map<std::string, std::string> known;
  std::string line;
  while (std::getline(stream, line)) {
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    std::size_t at = 0;
    for (int field = 0; field < 3; ++field) {
      at = line.find(": ", at);
      GANTREE_CHECK(at != std::string::npos);
      at += 2;
    }
    const std::string reason = line.substr(at);
    GANTREE_CHECK(
        std::any_of(kCauses.begin(), kCauses.end(), [&](std::string_view cause) { return reason.starts_with(cause); }));
    GANTREE_CHECK(known.emplace(line.substr(0, at - 2), reason).second);
  }
  return known;
}

}  // namespace gantree::test
