// What `plan` says is what `run` does: every file of the scenarios and of the corpus that has gangs of live families is
// planned, and run live in virtual time, and the decisions are compared. The folder cases/ has further files, of which
// only that is asked.
//
// GANTREE_ONLY=TEXT runs the files alone whose name has that text, GANTREE_TRACE=1 tells what happens.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "plan_equals_run/differences.h"
#include "plan_equals_run/live_world.h"

namespace gantree::test {
namespace {

std::vector<std::filesystem::path> manifests_in(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_chosen(const std::string& name) {
  const char* only = std::getenv("GANTREE_ONLY");
  return only == nullptr || name.find(only) != std::string::npos;
}

// All files of a folder, both ways. At least so many have to have live families.
void compare(const std::string& prefix, const std::string& folder, int at_least) {
  const auto known = read_known_differences(GANTREE_TEST_FOLDER "/plan_equals_run/differences.txt");
  std::set<std::string> seen;
  int compared = 0;
  for (const std::filesystem::path& path : manifests_in(std::string(GANTREE_TEST_FOLDER) + "/" + folder)) {
    const std::string name = prefix + "/" + path.stem().string();
    if (!is_chosen(name)) {
      continue;
    }
    const ManifestFile file = read_manifests(path.string());
    const Answers plan = plan_answers(file);
    if (std::none_of(plan.gangs.begin(), plan.gangs.end(), [](const auto& gang) { return gang.second.live; })) {
      continue;
    }
    ++compared;
    LiveWorld world(file);
    if (!world.run()) {
      ADD_FAILURE() << name << ": does not come to rest";
    }
    for (const Difference& difference : differences(name, plan, world.answers(plan))) {
      seen.insert(difference.key());
      if (!known.contains(difference.key())) {
        ADD_FAILURE() << difference.key() << ": " << difference.what;
      }
    }
  }
  if (std::getenv("GANTREE_ONLY") != nullptr) {
    return;
  }
  EXPECT_GE(compared, at_least) << "hardly any file was run";
  for (const auto& [key, reason] : known) {
    if (key.starts_with(prefix + "/") && !seen.contains(key)) {
      ADD_FAILURE() << key << ": is listed in differences.txt, and does not occur";
    }
  }
}

TEST(PlanEqualsRun, InEveryScenario) {
  compare("scenario", "scenario", 35);
}

TEST(PlanEqualsRun, InEveryFurtherCase) {
  compare("case", "plan_equals_run/cases", 10);
}

TEST(PlanEqualsRun, InEveryCaseOfTheCorpus) {
  compare("corpus", "corpus/kueue/cases", 240);
}

}  // namespace
}  // namespace gantree::test
