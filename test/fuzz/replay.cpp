// Puts to every fuzz target what its folder of the corpus holds. A target that finds something wrong aborts; the last
// line then names the input.
//
//   fuzz_corpus CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#define TARGET(name) extern "C" int name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef TARGET

namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

const std::map<std::string, Target> kTargets{
#define TARGET(name) {#name, &(name)},
#include "fuzz_targets.inc"
#undef TARGET
};

// How many inputs there were.
int replay(const std::filesystem::path& folder, Target target) {
  if (!std::filesystem::is_directory(folder)) {
    return 0;
  }
  std::set<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    inputs.insert(entry.path());
  }
  for (const std::filesystem::path& input : inputs) {
    std::printf("%s/%s\n", folder.filename().c_str(), input.filename().c_str());
    std::fflush(stdout);
    std::ifstream stream(input, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  return static_cast<int>(inputs.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("say where the corpus is\n", stderr);
    return 1;
  }
  const std::filesystem::path corpus(arguments[1]);
  int inputs = 0;
  int without = 0;
  for (const auto& [name, target] : kTargets) {
    const int own = replay(corpus / name, target);
    if (own == 0) {
      std::printf("%s has no inputs\n", name.c_str());
      ++without;
    }
    inputs += own;
  }
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    if (!kTargets.contains(entry.path().filename())) {
      std::printf("%s is the folder of no target\n", entry.path().filename().c_str());
      ++without;
    }
  }
  std::printf("%d passed, %d failed\n", inputs, without);
  return without == 0 ? 0 : 1;
}
