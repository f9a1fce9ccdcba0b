// Gangs one by one: where they are or would go, or why they wait.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/decision.h"
#include "state/cluster.h"
#include "view/terminal_text.h"

namespace gantree::view {

struct GangRow {
  GangKey key;
  std::string pods;                               // how many
  std::span<const PodSetDecision> pod_sets = {};  // of one that has a place
  std::string where = {};                         // in words, where no hosts are known
  std::string reason = {};                        // "" where there is nothing to say
  std::string about = {};                         // goes on where the reason ends
  std::string message = {};
};

struct GangSection {
  std::string title;
  Tone tone = Tone::kPlain;
  bool placed = false;  // its gangs have letters, in the order of all sections, and a place
  std::vector<GangRow> rows;
};

// Sections without rows are left out. `resource` is the one whose sum is shown.
[[nodiscard]] std::vector<TextLine> draw_sections(Cluster& cluster, ResourceId resource,
                                                  const std::vector<GangSection>& sections, const TextOptions& options);

// What `plan` says of its gangs; "Would be placed" and so on where that is to be distinguished from what is.
enum class Mood : bool { kIs, kWould };
[[nodiscard]] std::vector<GangSection> sections_of(const Plan& plan, Mood mood, bool unicode);

// Placed gangs with their letters first, then those that are evicted for them, those that
// wait and those rejected; each in the order of the plan. `resource` is the one whose sum is shown.
[[nodiscard]] std::vector<TextLine> draw_gangs(Cluster& cluster, ResourceId resource, const Plan& plan,
                                               const TextOptions& options);

}  // namespace gantree::view
