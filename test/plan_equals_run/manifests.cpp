#include "plan_equals_run/manifests.h"

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "json/read.h"

namespace gantree::test {

namespace {

constexpr std::string_view kOptions = "# gantree plan ";

// As --fair-sharing has them.
std::vector<ShareStrategy> shares_in(const std::string& text) {
  const std::size_t at = text.find(kOptions);
  if (at == std::string::npos) {
    return {};
  }
  const std::string options = text.substr(at + kOptions.size(), text.find('\n', at) - at - kOptions.size());
  GANTREE_CHECK(options == "--fair-sharing true");  // no scenario has others so far
  return {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare};
}

}  // namespace

ManifestFile read_manifests(const std::string& path) {
  std::ifstream stream(path);
  GANTREE_CHECK(stream);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  ManifestFile file;
  file.shares = shares_in(bytes.str());
  auto documents = json::read_documents(path, bytes.str());
  GANTREE_CHECK(documents);
  file.documents = std::move(*documents);
  const auto taken = for_each_object(file.documents, [&](const Object& object) -> Result<> {
    Manifest manifest{.group = std::string(object.group),
                      .version = std::string(object.version),
                      .kind = std::string(object.kind),
                      .ns = {},
                      .name = {},
                      .tree = Tree::of(object.value)};
    manifest.ns = manifest.tree.str({"metadata", "namespace"});
    manifest.name = manifest.tree.str({"metadata", "name"});
    GANTREE_CHECK(!manifest.name.empty());
    file.objects.push_back(std::move(manifest));
    return {};
  });
  GANTREE_CHECK(taken);
  return file;
}

}  // namespace gantree::test
