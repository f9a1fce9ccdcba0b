#include "controllers/revision.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::controllers {

namespace {

std::int64_t number_of(const Item& revision) {
  return whole_at(revision.value(), {"revision"});
}

}  // namespace

KeptRevision keep_revision(const Item& owner, const Value& data, const Object& labels, std::int64_t collisions,
                           Turn& turn) {
  const auto name_of = [&] { return fmt::format("{}-{}", owner.name, short_hash(data, collisions)); };
  std::string name = name_of();
  const auto taken = [&] {
    const Item* other = turn.view().find(Kind::kControllerRevision, owner.ns, name);
    return other != nullptr && other->owner != owner.uid;
  };
  while (taken()) {
    ++collisions;
    name = name_of();
  }
  std::int64_t last = 0;
  const Item* mine = nullptr;
  for (const Item* revision : turn.view().controlled_by(owner, Kind::kControllerRevision)) {
    last = std::max(last, number_of(*revision));
    mine = revision->name == name ? revision : mine;
  }
  if (mine == nullptr) {
    Object metadata{{"name", name}, {"namespace", owner.ns}};
    metadata["labels"] = labels;
    metadata["ownerReferences"] = Array{owner_reference(owner)};
    turn.create(owner, Kind::kControllerRevision,
                Object{{"apiVersion", "apps/v1"},
                       {"kind", "ControllerRevision"},
                       {"metadata", std::move(metadata)},
                       {"data", data},
                       {"revision", last + 1}});
  } else if (number_of(*mine) < last) {
    turn.patch(*mine, Object{{"revision", last + 1}});
  }
  return {name, collisions};
}

std::optional<Object> revision_data(const Item& owner, const std::string& name, const Turn& turn) {
  const Item* revision = turn.view().find(Kind::kControllerRevision, owner.ns, name);
  if (revision == nullptr) {
    return std::nullopt;
  }
  const Object root = revision->value();
  const Object* data = object_at(root, {"data"});
  return data == nullptr ? std::nullopt : std::optional(*data);
}

void drop_revisions(const Item& owner, const std::vector<std::string>& used, std::int64_t limit, Turn& turn) {
  std::vector<std::pair<std::int64_t, const Item*>> unused;
  for (const Item* revision : turn.view().controlled_by(owner, Kind::kControllerRevision)) {
    if (std::find(used.begin(), used.end(), revision->name) == used.end() && !revision->deleting()) {
      unused.emplace_back(number_of(*revision), revision);
    }
  }
  std::sort(unused.begin(), unused.end());
  for (std::size_t i = 0; i + static_cast<std::size_t>(std::max<std::int64_t>(limit, 0)) < unused.size(); ++i) {
    turn.remove(*unused[i].second);
  }
}

}  // namespace gantree::controllers
