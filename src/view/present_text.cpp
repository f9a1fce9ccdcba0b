#include "view/present_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "view/gang_table.h"
#include "view/gang_words.h"
#include "view/scene.h"
#include "view/text_plan.h"
#include "view/words.h"

namespace gantree::view {

namespace {

std::vector<GangSection> sections_of(const Present& present, bool unicode) {
  std::vector<GangSection> sections(kPresences);
  for (int i = 0; i < kPresences; ++i) {
    const auto state = static_cast<Presence>(i);
    GangSection& section = sections[static_cast<std::size_t>(i)];
    section.title = to_string(state);
    section.tone = tone_of(state);
    section.placed = has_place(state);
  }
  for (const PresentGang& gang : present.gangs) {
    GangRow& row = sections[static_cast<std::size_t>(gang.state)].rows.emplace_back();
    row.key = gang.key;
    row.pods = pods_text(gang.pod_sets);
    row.pod_sets =
        has_place(gang.state) ? std::span<const PodSetDecision>(gang.pod_sets) : std::span<const PodSetDecision>();
    row.where = place_of(gang, unicode);
    row.reason = printable(gang.why.reason, unicode);
    row.message = printable(gang.why.message, unicode);
  }
  for (GangSection& section : sections_of(present.planned, Mood::kWould, unicode)) {
    sections.push_back(std::move(section));
  }
  return sections;
}

// In the order of the sections, so that the letters in the trees are those of the table.
std::vector<Decision> places_of(const Present& present) {
  std::vector<Decision> places;
  for (const PresentGang& gang : present.gangs) {
    if (has_place(gang.state)) {
      Decision& decision = places.emplace_back();
      decision.key = gang.key;
      decision.state = GangState::kPlaced;
      decision.pod_sets = gang.pod_sets;
    }
  }
  for (const Decision& decision : present.planned.decisions) {
    places.push_back(decision);
  }
  return places;
}

}  // namespace

Tone tone_of(Presence state) {
  switch (state) {
    case Presence::kRunning:
    case Presence::kAdmitted:
      return Tone::kGood;
    case Presence::kWaiting:
      return Tone::kWarning;
    case Presence::kEvicting:
    case Presence::kInactive:
    case Presence::kRejected:
      break;
  }
  return Tone::kBad;
}

// "b1/r3, b1/r4 (8 pods)": domains above hosts; or else the flavors.
std::string place_of(const PresentGang& gang, bool unicode) {
  constexpr std::size_t kMostNamed = 4;
  std::set<std::string> names;
  for (const AdmittedSet& set : gang.domains) {
    for (const AdmittedDomain& domain : set.domains) {
      names.insert(fmt::format("{}", fmt::join(domain.values, "/")));
    }
  }
  if (names.size() > kMostNamed) {
    return counted(static_cast<std::int64_t>(names.size()), "domain");
  }
  const std::string places = fmt::format("{}", fmt::join(names, ", "));
  return printable(names.empty() && !gang.flavors.empty() ? "flavor " + gang.flavors : places, unicode);
}

std::vector<TextLine> draw_present(Cluster& cluster, const Present& present, const TextOptions& options) {
  const ResourceId resource = main_resource(cluster.inventory(), places_of(present));
  return draw_sections(cluster, resource, sections_of(present, options.unicode), options);
}

std::string present_to_text(Cluster& cluster, const Present& present, const TextOptions& options) {
  std::vector<TextLine> lines = draw_scenes(cluster, places_of(present), options);
  if (!present.gangs.empty() || !present.planned.decisions.empty()) {
    append(lines, draw_present(cluster, present, options));
    lines.emplace_back();
  }
  lines.emplace_back().add(summary(present));
  return render(lines, options.color);
}

std::string summary(const Present& present) {
  std::vector<std::string> parts;
  for (int i = 0; i < kPresences; ++i) {
    const auto state = static_cast<Presence>(i);
    const auto count = std::count_if(present.gangs.begin(), present.gangs.end(),
                                     [&](const PresentGang& gang) { return gang.state == state; });
    if (count > 0 || state == Presence::kRunning || state == Presence::kWaiting) {
      std::string word = to_string(state);
      word[0] = static_cast<char>(word[0] + ('a' - 'A'));
      parts.push_back(fmt::format("{} {}", count, word));
    }
  }
  const std::string text = fmt::format("{}", fmt::join(parts, ", "));
  return present.planned.decisions.empty()
             ? text
             : fmt::format("{}; in manifests alone, as a plan has it: {}", text, summary(present.planned));
}

}  // namespace gantree::view
