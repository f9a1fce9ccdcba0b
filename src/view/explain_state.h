// How a gang that is explained stands, in a word and in a sentence: by what the cluster says of it, or else by the
// decision.
#pragma once

#include <string>
#include <vector>

#include "explain/why.h"
#include "view/present.h"
#include "view/terminal_text.h"

namespace gantree::view {

struct StateWords {
  std::string state;         // "Running", "Waiting", "Deactivated", ...
  std::string reason = {};   // in a word; "" where the state says it all
  std::string message = {};  // in a sentence; the same
  Tone tone = Tone::kGood;
};
// `is`: what the cluster says of it; nullptr where no cluster knows it.
[[nodiscard]] StateWords state_words(const Explanation& why, const PresentGang* is);
// By the decision alone.
[[nodiscard]] StateWords state_words(const Decision& decision);

// Whether what would be decided of it now says anything: it asks, and was not admitted already.
[[nodiscard]] bool is_open(const Explanation& why, const PresentGang* is);

// What it was given, and when: "queue \"main\", ClusterQueue \"research\", flavor h100, since ..."; one text each.
[[nodiscard]] std::vector<std::string> given(const Explanation& why);

}  // namespace gantree::view
