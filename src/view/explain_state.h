// How a gang that is explained stands, in a word and in a sentence: by the decision, or by what its family has written
// down of it.
#pragma once

#include <string>
#include <vector>

#include "cycle/why.h"
#include "view/terminal_text.h"

namespace gantree::view {

struct StateWords {
  std::string state;         // "Running", "Waiting", "Deactivated", ...
  std::string reason = {};   // in a word; "" where the state says it all
  std::string message = {};  // in a sentence; the same
  Tone tone = Tone::kGood;
};
[[nodiscard]] StateWords state_words(const Explanation& why);

// What it was given, and when: "queue \"main\", ClusterQueue \"research\", flavor h100, since ..."; one text each.
[[nodiscard]] std::vector<std::string> given(const Explanation& why);

}  // namespace gantree::view
