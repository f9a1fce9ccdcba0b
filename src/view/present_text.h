// What is, as text: the gangs one by one, and the whole picture with the domains they are in.
#pragma once

#include <string>
#include <vector>

#include "state/cluster.h"
#include "view/present.h"
#include "view/terminal_text.h"

namespace gantree::view {

[[nodiscard]] Tone tone_of(Presence state);

// Where it was admitted to, if no hosts are named: domains above them, or else flavors; "" where neither is known.
[[nodiscard]] std::string place_of(const PresentGang& gang, bool unicode);

// The gangs with their letters, by state; then those that are in no cluster, under headings that say "would".
[[nodiscard]] std::vector<TextLine> draw_present(Cluster& cluster, const Present& present, const TextOptions& options);
// The same below the trees of their topologies.
[[nodiscard]] std::string present_to_text(Cluster& cluster, const Present& present, const TextOptions& options);

// "9 running, 1 admitted, 2 waiting"; running and waiting gangs are always counted. Of those in no cluster: "; of 3 in
// manifests alone 2 would be placed, 1 would wait".
[[nodiscard]] std::string summary(const Present& present);

}  // namespace gantree::view
