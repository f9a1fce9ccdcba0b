// Where a run decides otherwise than a plan, and the list of those differences that are known.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan_equals_run/answers.h"

namespace gantree::test {

struct Difference {
  std::string file;  // folder/name, without its ending
  std::string gang;  // namespace/name
  std::string kind;  // state, reason, place, ranks or eviction
  std::string what;  // what the plan says, and what the run did

  [[nodiscard]] std::string key() const { return file + ": " + gang + ": " + kind; }
};

// Of the gangs of live families.
[[nodiscard]] std::vector<Difference> differences(const std::string& file, const Answers& plan, const Answers& run);

// The known ones by key, with their reason: lines of `file: gang: kind of difference: reason`. Empty lines and those
// that begin with # are comments. Requires that every reason begins with one of the causes that the file explains.
[[nodiscard]] std::map<std::string, std::string> read_known_differences(const std::string& path);

}  // namespace gantree::test
