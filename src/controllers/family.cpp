#include "controllers/family.h"

#include <algorithm>
#include <utility>

namespace gantree::controllers {

namespace {

// Orphans are looked at faster than what a controller has.
constexpr std::size_t kOrphansPerLook = 10;

// The selector as a LabelSelector; nothing where it selects all or is none.
std::optional<Object> selector_of(const Item& owner, const Object& root) {
  const Object* selector = object_at(root, {"spec", "selector"});
  if (selector == nullptr || selector->empty()) {
    return std::nullopt;
  }
  if (owner.kind == Kind::kReplicationController) {
    return Object{{"matchLabels", *selector}};
  }
  return *selector;
}

Array without(const Array* list, const std::function<bool(const Value&)>& unwanted) {
  Array left;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (!unwanted((*list)[i])) {
      left.push_back((*list)[i]);
    }
  }
  return left;
}

// The lists are written as a whole: somebody else's entry that comes meanwhile is not to be lost.
void write(const Item& item, Array owners, std::optional<Array> finalizers, Turn& turn) {
  Object metadata{{"resourceVersion", std::to_string(item.version)}};
  metadata["ownerReferences"] = owners.empty() ? Value() : Value(std::move(owners));
  if (finalizers) {
    metadata["finalizers"] = finalizers->empty() ? Value() : Value(std::move(*finalizers));
  }
  turn.patch(item, Object{{"metadata", std::move(metadata)}});
}

void adopt(const Item& owner, const Item& item, std::string_view finalizer, Turn& turn) {
  const Object root = item.value();
  const auto mine = [&](const Value& one) { return text_at(one, {"uid"}) == owner.uid; };
  Array owners = without(array_at(root, {"metadata", "ownerReferences"}), mine);
  owners.push_back(owner_reference(owner));
  std::optional<Array> finalizers;
  if (!finalizer.empty()) {
    finalizers = without(array_at(root, {"metadata", "finalizers"}),
                         [&](const Value& one) { return text_of(one) == finalizer; });
    finalizers->push_back(Value(finalizer));
  }
  write(item, std::move(owners), std::move(finalizers), turn);
}

void release(const Item& owner, const Item& item, std::string_view finalizer, Turn& turn) {
  const Object root = item.value();
  Array owners = without(array_at(root, {"metadata", "ownerReferences"}),
                         [&](const Value& one) { return text_at(one, {"uid"}) == owner.uid; });
  std::optional<Array> finalizers;
  if (!finalizer.empty()) {
    finalizers = without(array_at(root, {"metadata", "finalizers"}),
                         [&](const Value& one) { return text_of(one) == finalizer; });
  }
  write(item, std::move(owners), std::move(finalizers), turn);
}

}  // namespace

bool may_select(const Item& owner, const Labels& labels) {
  return (owner.more_selection || !owner.wanted_labels.empty()) &&
         std::includes(labels.begin(), labels.end(), owner.wanted_labels.begin(), owner.wanted_labels.end());
}

Family claim(const Item& owner, const Object& root, const Claim& claim, Turn& turn) {
  Family family;
  family.members = turn.view().controlled_by(owner, claim.kind);
  turn.looked_at(family.members.size());
  const auto selector = owner.deleting() ? std::nullopt : selector_of(owner, root);
  if (!selector) {
    return family;
  }
  std::erase_if(family.members, [&](const Item* item) {
    if (selects(&*selector, item->labels)) {
      return false;
    }
    release(owner, *item, claim.finalizer, turn);
    family.settled = false;
    return true;
  });
  std::size_t seen = 0;
  const auto adoptable = turn.view().orphans(claim.kind, owner.ns, [&](const Item& item) {
    ++seen;
    return !item.deleting() && selects(&*selector, item.labels) && (claim.adopts == nullptr || claim.adopts(item));
  });
  turn.looked_at(seen / kOrphansPerLook);
  for (const Item* item : adoptable) {
    adopt(owner, *item, claim.finalizer, turn);
    family.settled = false;
  }
  return family;
}

}  // namespace gantree::controllers
