#include "apiserver/apply_merge.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>
#include <vector>

namespace gantree::apiserver {

namespace {

Value merge_values(const Schema* schema, const Value* live, const Value& config);

Value merge_members(const Schema* schema, const Object* live, const Object& config) {
  Object merged = live == nullptr ? Object() : *live;
  for (const auto& member : config) {
    const Value* there = live == nullptr ? nullptr : live->if_contains(member.key());
    const Schema* inner = schema == nullptr ? nullptr : schema->member(member.key());
    if (!member.value().is_null()) {
      merged[member.key()] = merge_values(inner, there, member.value());
    }
  }
  return merged;
}

struct Item {
  std::string step;
  const Value* value;
};

std::vector<Item> items_of(const Schema& schema, const Array* array) {
  std::vector<Item> items;
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
    items.push_back({item_step(schema, (*array)[i]), &(*array)[i]});
  }
  return items;
}

// The first of each name.
using Steps = std::unordered_map<std::string_view, const Value*>;
Steps by_step(const std::vector<Item>& items) {
  Steps steps;
  for (const Item& item : items) {
    steps.emplace(item.step, item.value);
  }
  return steps;
}

// Both lists' orders are kept where they agree; where they do not, the configuration's wins.
Value merge_items(const Schema& schema, const Array* live, const Array& config) {
  const std::vector<Item> old_items = items_of(schema, live);
  const std::vector<Item> new_items = items_of(schema, &config);
  const Steps old_steps = by_step(old_items);
  const Steps new_steps = by_step(new_items);
  Array merged;
  auto old_at = old_items.begin();
  for (const Item& item : new_items) {
    // What only the live list has, up to the next item that both have.
    for (; old_at != old_items.end() && !new_steps.contains(old_at->step); ++old_at) {
      merged.push_back(*old_at->value);
    }
    const auto found = old_steps.find(item.step);
    const Value* there = found == old_steps.end() ? nullptr : found->second;
    merged.push_back(merge_values(schema.items, there, *item.value));
    if (there != nullptr && old_at != old_items.end()) {
      ++old_at;
    }
  }
  for (; old_at != old_items.end(); ++old_at) {
    if (!new_steps.contains(old_at->step)) {
      merged.push_back(*old_at->value);
    }
  }
  return merged;
}

Value merge_values(const Schema* schema, const Value* live, const Value& config) {
  switch (sharing_of(schema, config)) {
    case Sharing::kMembers:
      return merge_members(schema, live == nullptr ? nullptr : live->if_object(), config.get_object());
    case Sharing::kItems:
      return merge_items(*schema, live == nullptr ? nullptr : live->if_array(), config.get_array());
    case Sharing::kWhole:
      break;
  }
  return config;
}

void remove_members(const Schema* schema, Object& object, const FieldSet& last, const FieldSet& owned) {
  std::vector<std::string> gone;
  for (auto& member : object) {
    const std::string step = field_step(member.key());
    const FieldSet* was = last.child(step);
    const FieldSet* is = owned.child(step);
    if (was == nullptr) {
      continue;
    }
    // A field is there for its members; a member of a map is there only by itself.
    const bool field = schema != nullptr && schema->find(member.key()) != nullptr;
    if ((was->member || field) && (is == nullptr || (!is->member && !field))) {
      gone.emplace_back(member.key());
      continue;
    }
    const Schema* inner = schema == nullptr ? nullptr : schema->member(member.key());
    remove_unowned(inner, member.value(), *was, is == nullptr ? FieldSet() : *is);
  }
  erase_keys(object, gone);
}

void remove_items(const Schema& schema, Array& array, const FieldSet& last, const FieldSet& owned) {
  Array kept;
  for (Value& item : array) {
    const std::string step = item_step(schema, item);
    const FieldSet* was = last.child(step);
    const FieldSet* is = owned.child(step);
    if (was != nullptr && was->member && (is == nullptr || !is->member)) {
      continue;
    }
    if (was != nullptr) {
      remove_unowned(schema.items, item, *was, is == nullptr ? FieldSet() : *is);
    }
    kept.push_back(std::move(item));
  }
  array = std::move(kept);
}

std::optional<std::string> unusable(const Schema* schema, const Value& value, const std::string& path) {
  const Sharing sharing = sharing_of(schema, value);
  if (sharing == Sharing::kMembers) {
    for (const auto& member : value.get_object()) {
      const Schema* inner = schema == nullptr ? nullptr : schema->member(member.key());
      if (auto problem = unusable(inner, member.value(), path + "." + std::string(member.key()))) {
        return problem;
      }
    }
  }
  if (sharing != Sharing::kItems) {
    return std::nullopt;
  }
  std::set<std::string> seen;
  const Array& array = value.get_array();
  for (std::size_t i = 0; i < array.size(); ++i) {
    const std::string step = item_step(*schema, array[i]);
    if (step.empty()) {
      return fmt::format("{}: element {}: associative list with keys has an element that omits key field", path, i);
    }
    if (!seen.insert(step).second) {
      return fmt::format("{}: duplicate entries for key {}", path, show_step(step));
    }
    if (auto problem = unusable(schema->items, array[i], path + show_step(step))) {
      return problem;
    }
  }
  return std::nullopt;
}

}  // namespace

Value merge_applied(const Schema& schema, const Value& live, const Value& config) {
  return merge_values(&schema, &live, config);
}

void remove_unowned(const Schema* schema, Value& value, const FieldSet& last, const FieldSet& owned) {
  switch (sharing_of(schema, value)) {
    case Sharing::kMembers:
      remove_members(schema, value.get_object(), last, owned);
      break;
    case Sharing::kItems:
      remove_items(*schema, value.get_array(), last, owned);
      break;
    case Sharing::kWhole:
      break;
  }
}

std::optional<std::string> unusable_items(const Schema& schema, const Value& config) {
  return unusable(&schema, config, {});
}

}  // namespace gantree::apiserver
