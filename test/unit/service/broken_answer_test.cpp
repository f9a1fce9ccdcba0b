#include "service/broken_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace gantree {
namespace {

using ::testing::StartsWith;

class BrokenAnswersTest : public ::testing::Test {
 protected:
  BrokenAnswersTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~BrokenAnswersTest() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gantree-broken-answers-" + std::to_string(getpid()));
};

TEST_F(BrokenAnswersTest, KeepWhatWasAskedBelowWhatWasWrong) {
  BrokenAnswers answers(folder_);
  const std::string path = answers.keep({.gang = "default/train", .fault = "too many", .input = "levels rack\n"});
  EXPECT_THAT(path, StartsWith(folder_.string()));
  EXPECT_EQ(content(path), "# default/train: too many\nlevels rack\n");
}

TEST_F(BrokenAnswersTest, KeepTheFirstOfAGangAndOfFewGangs) {
  BrokenAnswers answers(folder_);
  const std::string first = answers.keep({.gang = "a/0", .fault = "x", .input = "first\n"});
  for (std::size_t i = 1; i < BrokenAnswers::kMostFiles; ++i) {
    EXPECT_THAT(answers.keep({.gang = "a/" + std::to_string(i), .fault = "x", .input = "y"}), StartsWith("/"));
  }
  EXPECT_EQ(answers.keep({.gang = "a/more", .fault = "x", .input = "y"}), "(not kept: there are 8 already)");
  EXPECT_EQ(answers.keep({.gang = "a/0", .fault = "x", .input = ""}), first);
  EXPECT_EQ(content(first), "# a/0: x\nfirst\n");
}

TEST_F(BrokenAnswersTest, WriteToNothingThatIsThereAlready) {
  const BrokenAnswer broken{.gang = "a/b", .fault = "x", .input = "y"};
  const std::string path = BrokenAnswers(folder_).keep(broken);
  std::filesystem::remove(path);
  const std::filesystem::path elsewhere = folder_ / "elsewhere";
  std::ofstream(elsewhere) << "theirs";
  std::filesystem::create_symlink(elsewhere, path);
  EXPECT_EQ(BrokenAnswers(folder_).keep(broken), path);
  EXPECT_EQ(content(elsewhere), "theirs");
}

TEST_F(BrokenAnswersTest, SayWhyNothingIsKept) {
  BrokenAnswers answers(folder_ / "missing");
  EXPECT_THAT(answers.keep({.gang = "a/b", .fault = "x", .input = "y"}), StartsWith("(not kept: "));
}

}  // namespace
}  // namespace gantree
