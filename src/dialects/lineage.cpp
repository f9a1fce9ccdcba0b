#include "dialects/lineage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "dialects/core/metadata.h"
#include "dialects/kueue/members.h"
#include "dialects/object.h"
#include "dialects/workloads/workload.h"
#include "model/gang_name.h"

namespace gantree {

namespace {

// No controller nests deeper, and input may go round in circles.
constexpr std::size_t kDeepest = 32;

struct Origin {
  std::optional<GangKey> maker;
  std::optional<GangKey> group;  // of a pod that belongs to others without a maker
};

class Lineage {
 public:
  explicit Lineage(const std::vector<json::Document>& documents) {
    static_cast<void>(for_each_object(documents, [&](const Object& object) -> Result<> {
      add(object);
      return {};
    }));
  }

  [[nodiscard]] const std::map<GangKey, Origin>& origins() const { return origins_; }

  // The object itself, and what it is a part of.
  [[nodiscard]] std::vector<GangKey> ancestors(const GangKey& key) const {
    std::vector<GangKey> line = {key};
    for (auto it = origins_.find(key); it != origins_.end() && line.size() < kDeepest;) {
      if (it->second.group) {
        line.push_back(*it->second.group);
      }
      if (!it->second.maker) {
        break;
      }
      line.push_back(*it->second.maker);
      it = origins_.find(line.back());
    }
    return line;
  }

 private:
  void add(const Object& object) {
    const json::Value metadata = object.metadata();
    const json::Value name = metadata ? text_at(metadata, "name") : json::Value();
    if (!name) {
      return;
    }
    const json::Value ns = text_at(metadata, "namespace");
    const GangKey key{.ns = std::string(ns ? ns.text() : "default"),
                      .name = std::string(name.text()),
                      .kind = std::string(object.kind)};
    json::Reader read(object.file, object.value, key.name);
    Origin origin;
    if (const Owner owner = read_controller(read, metadata); read.ok() && owner.present()) {
      origin.maker = GangKey{.ns = key.ns, .name = std::string(owner.name), .kind = std::string(owner.kind)};
    }
    if (object.kind == "Pod") {
      if (const json::Value group = kueue::pod_group_of(map_at(metadata, "labels"), map_at(metadata, "annotations"))) {
        origin.group = GangKey{.ns = key.ns, .name = std::string(group.text()), .kind = key.kind};
      }
    }
    if (origin.maker || object.kind == "Pod") {
      origins_.insert_or_assign(key, std::move(origin));
    }
  }

  std::map<GangKey, Origin> origins_;
};

void add_once(std::vector<GangKey>& keys, const GangKey& key) {
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    keys.push_back(key);
  }
}

}  // namespace

std::vector<GangKey> relatives(const std::vector<json::Document>& documents, std::string_view text) {
  const Lineage lineage(documents);
  std::vector<GangKey> above;
  std::vector<GangKey> below;
  for (const auto& [key, origin] : lineage.origins()) {
    const std::vector<GangKey> line = lineage.ancestors(key);
    if (may_mean(text, key)) {
      for (const GangKey& one : line) {
        add_once(above, one);
      }
    } else if (key.kind == "Pod" &&
               std::any_of(line.begin(), line.end(), [&](const GangKey& one) { return may_mean(text, one); })) {
      below.push_back(key);
    }
  }
  above.insert(above.end(), below.begin(), below.end());
  return above;
}

}  // namespace gantree
