// Sets of fields of an object, as managedFields[].fieldsV1 writes them: who owns what.
//
// Steps of a path are kept as they are written: "f:name" is a field or a member of a map, k:{"name":"a"} an item of a
// list with keys, v:"a" an item of a set.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

struct FieldSet {
  bool member = false;  // the path itself is in the set
  std::map<std::string, FieldSet, std::less<>> children;

  [[nodiscard]] bool empty() const { return !member && children.empty(); }
  [[nodiscard]] const FieldSet* child(std::string_view step) const;
  friend bool operator==(const FieldSet&, const FieldSet&) = default;
};

// What is no set (a hand-made managedFields) reads as an empty one.
[[nodiscard]] FieldSet read_field_set(const Value& fields);
[[nodiscard]] Object write_field_set(const FieldSet& set);

void unite(FieldSet& set, const FieldSet& other);
// Paths that are in both; paths that are only in the first.
[[nodiscard]] FieldSet intersection(const FieldSet& one, const FieldSet& other);
void subtract(FieldSet& set, const FieldSet& other);
// The same questions of a set that is still JSON: whether it has one of the paths, or all.
[[nodiscard]] bool touches(const Value& fields, const FieldSet& set);
[[nodiscard]] bool covers(const Value& fields, const FieldSet& set);
// Takes out the step and all below it.
void erase_below(FieldSet& set, std::string_view step);

// `.name`, `[name="a"]`, `[="a"]`: how a step is shown.
[[nodiscard]] std::string show_step(std::string_view step);
// Every path of the set, as ".spec.containers[name=\"a\"].image".
[[nodiscard]] std::vector<std::string> paths_of(const FieldSet& set);

// The step to an item of a list that is a set or a map; "" where it lacks a key that has no default.
[[nodiscard]] std::string item_step(const Schema& list, const Value& item);
[[nodiscard]] std::string field_step(std::string_view name);

// How a value is shared: whole, by members, or by items. Without a schema objects are shared and lists are not.
enum class Sharing : std::uint8_t { kWhole, kMembers, kItems };
[[nodiscard]] Sharing sharing_of(const Schema* schema, const Value& value);

// The fields that an applied configuration claims.
[[nodiscard]] FieldSet claimed_fields(const Schema& schema, const Value& value);

struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;
};
[[nodiscard]] Comparison compare(const Schema& schema, const Value& before, const Value& after);

}  // namespace gantree::apiserver
