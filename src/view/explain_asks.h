// What a gang asks for, line by line: groups and pod sets with their constraints.
#pragma once

#include <string>
#include <vector>

#include "model/gang.h"
#include "view/explain_words.h"

namespace gantree::view {

struct AskLine {
  int depth = 0;
  std::string text;
};

// Siblings that ask for the same are one line; where there are still many, the last are counted only.
[[nodiscard]] std::vector<AskLine> ask_lines(const Gang& gang, const ExplainWords& words, const ResourceNames& names,
                                             bool unicode);

}  // namespace gantree::view
