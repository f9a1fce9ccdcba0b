// Replays everything that the fuzz targets were seeded with or once found.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/show.h"

namespace gantree::json {
namespace {

TEST(FuzzCorpus, EveryFileIsReadOrRefusedWithItsLineAndReadsBack) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GANTREE_SOURCE_DIR "/test/fuzz/corpus")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    ++files;
    std::ifstream stream(entry.path(), std::ios::binary);
    const auto documents = read_documents("f", std::string(std::istreambuf_iterator<char>(stream), {}));
    if (!documents) {
      EXPECT_TRUE(documents.error().message.starts_with("f:")) << entry.path() << documents.error().message;
      continue;
    }
    for (const Document& document : *documents) {
      const Out out = to_out(document.root());
      EXPECT_EQ(shown(out.to_json(false)), out.to_json(false)) << entry.path();
      EXPECT_EQ(shown(out.to_yaml()), out.to_json(false)) << entry.path();
    }
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace gantree::json
