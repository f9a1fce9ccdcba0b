// Strategic merge patch: a merge patch that knows which lists are keyed, and has directives ($patch, $retainKeys,
// $setElementOrder, $deleteFromPrimitiveList).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "apiserver/patch.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteValues = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";

bool is_directive(std::string_view key) {
  return key == kDirective || key == kRetainKeys || key.starts_with(kDeleteValues) || key.starts_with(kElementOrder);
}

// What a patch puts where nothing was: itself, without directives, nulls and what it only takes away.
Value without_directives(const Value& patch) {
  if (const Array* array = patch.if_array(); array != nullptr) {
    Array kept;
    for (const Value& item : *array) {
      if (text_at(item, {kDirective}) != "delete" &&
          !(text_at(item, {kDirective}) == "replace" && item.get_object().size() == 1)) {
        kept.push_back(without_directives(item));
      }
    }
    return kept;
  }
  const Object* object = patch.if_object();
  if (object == nullptr) {
    return patch;
  }
  Object kept;
  for (const auto& member : *object) {
    if (!is_directive(member.key()) && !member.value().is_null()) {
      kept[member.key()] = without_directives(member.value());
    }
  }
  return kept;
}

// How an item of a list is named: by its merge key, or by itself.
std::optional<std::string> merge_name_of(const Value& item, const std::string& merge_key) {
  if (merge_key.empty()) {
    return to_json(item);
  }
  const Value* key = find(item, {merge_key});
  return key == nullptr ? std::nullopt : std::optional(to_json(*key));
}

// Where each name stands first.
using Positions = std::unordered_map<std::string, std::size_t>;

std::optional<std::size_t> position_of(const Positions& names, const std::string& name) {
  const auto at = names.find(name);
  return at == names.end() ? std::nullopt : std::optional(at->second);
}

Positions names_of(const Array& items, const std::string& merge_key) {
  Positions names;
  for (std::size_t i = 0; i < items.size(); ++i) {
    names.emplace(merge_name_of(items[i], merge_key).value_or(std::string()), i);
  }
  return names;
}

// Items named in `order` come in that order; the others keep their place between those that stood behind them before.
void put_in_order(Array& items, const Array& order, const std::string& merge_key, const Positions& before) {
  const Positions wanted = names_of(order, merge_key);
  struct Placed {
    Value item;
    std::size_t rank;  // in the order, or where it stood before
    std::optional<std::size_t> stood;
  };
  std::vector<Placed> listed;
  std::vector<Placed> others;
  for (Value& item : items) {
    const std::string name = merge_name_of(item, merge_key).value_or(std::string());
    const auto rank = position_of(wanted, name);
    const auto stood = position_of(before, name);
    (rank ? listed : others).push_back({std::move(item), rank.value_or(0), stood});
  }
  std::stable_sort(listed.begin(), listed.end(), [](const Placed& a, const Placed& b) { return a.rank < b.rank; });
  Array sorted;
  auto other = others.begin();
  for (Placed& one : listed) {
    for (; other != others.end() && one.stood && other->stood && *other->stood < *one.stood; ++other) {
      sorted.push_back(std::move(other->item));
    }
    sorted.push_back(std::move(one.item));
  }
  for (; other != others.end(); ++other) {
    sorted.push_back(std::move(other->item));
  }
  items = std::move(sorted);
}

class StrategicMerge {
 public:
  Result<> merge_objects(Object& document, const Object& patch, const Schema* schema) {
    const std::string_view directive = text_at(patch, {kDirective});
    if (patch.if_contains(kDirective) != nullptr && directive != "merge") {
      if (directive != "replace" && directive != "delete") {
        return invalid(fmt::format("Unknown patch type found: {}", directive));
      }
      document = directive == "delete" ? Object() : without_directives(patch).get_object();
      return {};
    }
    if (auto done = retain_keys(document, patch); !done) {
      return done;
    }
    std::vector<std::string> gone;
    for (const auto& change : patch) {
      if (change.value().is_null() && !is_directive(change.key())) {
        gone.emplace_back(change.key());
      } else if (auto done = merge_member(document, change.key(), change.value(), patch, schema); !done) {
        return done;
      }
    }
    erase_keys(document, gone);
    return order_untouched(document, patch, schema);
  }

 private:
  static Result<> retain_keys(Object& document, const Object& patch) {
    const Value* list = patch.if_contains(kRetainKeys);
    if (list == nullptr) {
      return {};
    }
    if (!list->is_array()) {
      return invalid("$retainKeys is no list");
    }
    const Positions kept = names_of(list->get_array(), {});
    for (const auto& change : patch) {
      const std::string quoted = to_json(Value(change.key()));
      if (!is_directive(change.key()) && !change.value().is_null() && !position_of(kept, quoted)) {
        return invalid(fmt::format("{} is in the patch, but not in its $retainKeys", quoted));
      }
    }
    std::vector<std::string> gone;
    for (const auto& member : document) {
      if (!position_of(kept, to_json(Value(member.key())))) {
        gone.emplace_back(member.key());
      }
    }
    erase_keys(document, gone);
    return {};
  }

  Result<> merge_member(Object& document, std::string_view key, const Value& change, const Object& patch,
                        const Schema* schema) {
    if (key.starts_with(kDeleteValues)) {
      return delete_values(document, key.substr(kDeleteValues.size()), change);
    }
    if (is_directive(key)) {
      return {};
    }
    const Property* property = schema == nullptr ? nullptr : schema->find(key);
    Value* there = document.if_contains(key);
    const bool keyed = change.is_array() && property != nullptr && property->patch.merge;
    if (there == nullptr || there->kind() != change.kind()) {
      const bool ordered = keyed && !property->patch.merge_key.empty();
      if (auto done = ordered ? check_keys(change.get_array(), property->patch.merge_key) : Result<>(); !done) {
        return done;
      }
      document[key] = without_directives(change);
      return {};
    }
    if (change.is_object()) {
      const Schema* inner = schema == nullptr ? nullptr : schema->member(key);
      return merge_objects(there->get_object(), change.get_object(), inner);
    }
    if (!keyed) {
      *there = change.is_array() ? without_directives(change) : change;
      return {};
    }
    const Array* order = array_at(patch, {std::string(kElementOrder) + std::string(key)});
    return merge_lists(there->get_array(), change.get_array(), *property, order);
  }

  static Result<> delete_values(Object& document, std::string_view key, const Value& values) {
    if (!values.is_array()) {
      return invalid(fmt::format("{}{} is no list", kDeleteValues, key));
    }
    Value* there = document.if_contains(key);
    if (there == nullptr || !there->is_array()) {
      return {};
    }
    Array& array = there->get_array();
    const Positions gone = names_of(values.get_array(), {});
    array.erase(std::remove_if(array.begin(), array.end(),
                               [&](const Value& item) { return position_of(gone, to_json(item)).has_value(); }),
                array.end());
    return {};
  }

  static Result<> check_keys(const Array& items, const std::string& merge_key) {
    for (const Value& item : items) {
      const bool replaces = text_at(item, {kDirective}) == "replace";
      if (!item.is_object() || (!replaces && find(item, {merge_key}) == nullptr)) {
        return invalid(fmt::format("map: {} does not contain declared merge key: {}", to_json(item), merge_key));
      }
    }
    return {};
  }

  Result<> merge_lists(Array& document, const Array& patch, const Property& property, const Array* order) {
    const std::string& key = property.patch.merge_key;
    const Positions before = names_of(document, key);
    if (key.empty()) {
      merge_values(document, patch);
    } else if (auto done = merge_items(document, patch, property); !done) {
      return done;
    }
    // Without an order of its own, the patch's is meant: what is new in it goes before what it does not name.
    put_in_order(document, order != nullptr ? *order : kept_items(patch), key, before);
    return {};
  }

  static Array kept_items(const Array& patch) {
    Array kept;
    for (const Value& item : patch) {
      if (find(item, {kDirective}) == nullptr) {
        kept.push_back(item);
      }
    }
    return kept;
  }

  static void merge_values(Array& document, const Array& patch) {
    Positions there = names_of(document, {});
    for (const Value& value : patch) {
      if (there.emplace(to_json(value), document.size()).second) {
        document.push_back(value);
      }
    }
  }

  Result<> merge_items(Array& document, const Array& patch, const Property& property) {
    const std::string& key = property.patch.merge_key;
    if (auto done = check_keys(patch, key); !done) {
      return done;
    }
    const bool replaces = std::any_of(patch.begin(), patch.end(), [&](const Value& item) {
      return text_at(item, {kDirective}) == "replace" && find(item, {key}) == nullptr;
    });
    if (replaces) {
      document.clear();
    }
    return merge_named(document, patch, property);
  }

  Result<> merge_named(Array& document, const Array& patch, const Property& property) {
    const std::string& key = property.patch.merge_key;
    Positions there = names_of(document, key);
    std::vector<bool> gone(document.size());
    for (const Value& item : patch) {
      const auto name = merge_name_of(item, key);
      if (!name) {
        continue;
      }
      const auto found = there.find(*name);
      if (text_at(item, {kDirective}) == "delete") {
        if (found != there.end()) {
          gone[found->second] = true;
          there.erase(found);
        }
      } else if (found == there.end()) {
        there.emplace(*name, document.size());
        gone.push_back(false);
        document.push_back(without_directives(item));
      } else if (auto done =
                     merge_objects(document[found->second].get_object(), item.get_object(), property.schema->items);
                 !done) {
        return done;
      }
    }
    Array kept;
    for (std::size_t i = 0; i < document.size(); ++i) {
      if (!gone[i]) {
        kept.push_back(std::move(document[i]));
      }
    }
    document = std::move(kept);
    return {};
  }

  // $setElementOrder may stand without changes of the list.
  static Result<> order_untouched(Object& document, const Object& patch, const Schema* schema) {
    for (const auto& member : patch) {
      const std::string_view key = member.key();
      if (!key.starts_with(kElementOrder)) {
        continue;
      }
      if (!member.value().is_array()) {
        return invalid(fmt::format("{} is no list", key));
      }
      const std::string_view name = key.substr(kElementOrder.size());
      const Property* property = schema == nullptr ? nullptr : schema->find(name);
      Value* there = document.if_contains(name);
      if (property == nullptr || there == nullptr || !there->is_array() || patch.if_contains(name) != nullptr) {
        continue;
      }
      const std::string& merge_key = property->patch.merge_key;
      const Positions before = names_of(there->get_array(), merge_key);
      put_in_order(there->get_array(), member.value().get_array(), merge_key, before);
    }
    return {};
  }
};

}  // namespace

Result<> strategic_merge_patch(Value& document, const Value& patch, const Schema& schema) {
  if (!document.is_object() || !patch.is_object()) {
    return invalid("a strategic merge patch is an object, and so is what it changes");
  }
  return StrategicMerge().merge_objects(document.get_object(), patch.get_object(), &schema);
}

}  // namespace gantree::apiserver
