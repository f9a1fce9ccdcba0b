#include "kueue/flavors.h"

#include <fmt/format.h>

#include <set>
#include <span>

#include "dialects/core/metadata.h"
#include "json/copy.h"
#include "live/parsed.h"

namespace gantree::kueue {

void add_flavors(const std::map<std::string, std::string, std::less<>>& admin, const SetAssignment& assigned,
                 SetStart& start) {
  std::set<std::string> flavors;
  for (const auto& [resource, flavor] : assigned.flavors) {
    flavors.insert(flavor);
  }
  for (const std::string& name : flavors) {
    const auto text = admin.find(fmt::format("ResourceFlavor /{}", name));
    const auto parsed = text == admin.end() ? tl::unexpected(Error{}) : parse(text->second);
    if (!parsed) {
      continue;
    }
    const json::Value spec = map_at(parsed->object.value, "spec");
    const json::Value labels = spec ? map_at(spec, "nodeLabels") : json::Value();
    for (const json::MemberData& label : labels ? labels.members() : std::span<const json::MemberData>()) {
      start.node_selector.emplace(label.key, json::Value(&label.value).text());
    }
    const json::Value tolerations = spec ? spec["tolerations"] : json::Value();
    if (tolerations && tolerations.kind() == json::Kind::kArray) {
      for (const json::NodeData& one : tolerations.items()) {
        start.tolerations.push_back(json::copy(json::Value(&one)));
      }
    }
  }
}

}  // namespace gantree::kueue
