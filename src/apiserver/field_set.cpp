#include "apiserver/field_set.h"

#include <algorithm>

namespace gantree::apiserver {

namespace {

// The steps of a walk.
using Path = std::vector<std::string>;

// The set at the end of a path that grows and shrinks with the walk; made only when something is put in.
class Cursor {
 public:
  explicit Cursor(FieldSet& root) : made_{&root} {}
  // Requires that the path was never shorter than now since the last call of leave().
  void put(const Path& path) {
    while (made_.size() <= path.size()) {
      made_.push_back(&made_.back()->children[path[made_.size() - 1]]);
    }
    made_.back()->member = true;
  }
  // The path has become so long, and has other steps from there on.
  void leave(std::size_t length) {
    if (made_.size() > length + 1) {
      made_.resize(length + 1);
    }
  }

 private:
  std::vector<FieldSet*> made_;  // as far as they are made: the root, and one for each step
};

void collect_paths(const FieldSet& set, const std::string& prefix, std::vector<std::string>& into) {
  if (set.member) {
    into.push_back(prefix);
  }
  for (const auto& [step, child] : set.children) {
    collect_paths(child, prefix + show_step(step), into);
  }
}

class Claims {
 public:
  explicit Claims(FieldSet& set) : cursor_(set) {}

  void walk(const Schema* schema, const Value& value) {
    switch (sharing_of(schema, value)) {
      case Sharing::kWhole:
        cursor_.put(path_);
        return;
      case Sharing::kMembers:
        walk_members(schema, value.get_object());
        return;
      case Sharing::kItems:
        walk_items(*schema, value.get_array());
        return;
    }
  }

 private:
  void walk_members(const Schema* schema, const Object& object) {
    for (const auto& member : object) {
      const Property* property = schema == nullptr ? nullptr : schema->find(member.key());
      const Schema* inner = schema == nullptr ? nullptr : schema->member(member.key());
      path_.push_back(field_step(member.key()));
      walk(inner, member.value());
      const bool bare = member.value().is_object() && member.value().get_object().empty();
      const bool empty_list = member.value().is_array() && member.value().get_array().empty();
      if (member.value().is_null() || bare || empty_list || property == nullptr) {
        cursor_.put(path_);
      }
      leave();
    }
  }

  void walk_items(const Schema& schema, const Array& array) {
    for (const Value& item : array) {
      std::string step = item_step(schema, item);
      if (step.empty()) {
        continue;
      }
      path_.push_back(std::move(step));
      walk(schema.items, item);
      cursor_.put(path_);
      leave();
    }
  }

  void leave() {
    path_.pop_back();
    cursor_.leave(path_.size());
  }

  Path path_;
  Cursor cursor_;
};

class Comparing {
 public:
  explicit Comparing(Comparison& result) : added_(result.added), modified_(result.modified), removed_(result.removed) {}

  // Exactly one of both may be missing. Most of an object stays as it is, and is not walked.
  void walk(const Schema* schema, const Value* before, const Value* after) {
    if (before != nullptr && after != nullptr && same(*before, *after)) {
      return;
    }
    const Value& shape = after != nullptr && !after->is_null() ? *after : before != nullptr ? *before : *after;
    const Sharing sharing = sharing_of(schema, shape);
    if (sharing == Sharing::kWhole) {
      note(before, after);
      return;
    }
    // A change of kind is a change of the whole.
    const bool differs = before != nullptr && after != nullptr && before->kind() != after->kind() &&
                         !before->is_null() && !after->is_null();
    if (differs) {
      modified_.put(path_);
      return;
    }
    if (sharing == Sharing::kMembers) {
      walk_members(schema, before == nullptr ? nullptr : before->if_object(),
                   after == nullptr ? nullptr : after->if_object());
    } else {
      walk_items(*schema, before == nullptr ? nullptr : before->if_array(),
                 after == nullptr ? nullptr : after->if_array());
    }
    if (before == nullptr) {
      added_.put(path_);
    } else if (after == nullptr) {
      removed_.put(path_);
    }
  }

 private:
  void note(const Value* before, const Value* after) {
    if (before == nullptr) {
      added_.put(path_);
    } else if (after == nullptr) {
      removed_.put(path_);
    } else if (!same(*before, *after)) {
      modified_.put(path_);
    }
  }

  void walk_step(std::string step, const Schema* schema, const Value* before, const Value* after) {
    path_.push_back(std::move(step));
    walk(schema, before, after);
    path_.pop_back();
    for (Cursor* cursor : {&added_, &modified_, &removed_}) {
      cursor->leave(path_.size());
    }
  }

  void walk_members(const Schema* schema, const Object* before, const Object* after) {
    const auto inner = [&](std::string_view key) { return schema == nullptr ? nullptr : schema->member(key); };
    if (before != nullptr) {
      std::size_t place = 0;
      for (const auto& member : *before) {
        const Value* other = member_near(after, place++, member.key());
        walk_step(field_step(member.key()), inner(member.key()), &member.value(), other);
      }
    }
    if (after != nullptr) {
      std::size_t place = 0;
      for (const auto& member : *after) {
        if (member_near(before, place++, member.key()) == nullptr) {
          walk_step(field_step(member.key()), inner(member.key()), nullptr, &member.value());
        }
      }
    }
  }

  // The member of that name, which mostly is at that place; nullptr where there is none.
  static const Value* member_near(const Object* object, std::size_t place, std::string_view key) {
    if (object == nullptr) {
      return nullptr;
    }
    if (place < object->size()) {
      if (const auto& there = *(object->begin() + place); there.key() == key) {
        return &there.value();
      }
    }
    return object->if_contains(key);
  }

  // Items that come twice under one name are compared by the last of them.
  static std::map<std::string, const Value*> by_step(const Schema& schema, const Array* array) {
    std::map<std::string, const Value*> items;
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (std::string step = item_step(schema, (*array)[i]); !step.empty()) {
        items[std::move(step)] = &(*array)[i];
      }
    }
    return items;
  }

  void walk_items(const Schema& schema, const Array* before, const Array* after) {
    const auto old_items = by_step(schema, before);
    const auto new_items = by_step(schema, after);
    for (const auto& [step, item] : old_items) {
      const auto other = new_items.find(step);
      walk_step(step, schema.items, item, other == new_items.end() ? nullptr : other->second);
    }
    for (const auto& [step, item] : new_items) {
      if (!old_items.contains(step)) {
        walk_step(step, schema.items, nullptr, item);
      }
    }
  }

  Path path_;
  Cursor added_;
  Cursor modified_;
  Cursor removed_;
};

}  // namespace

const FieldSet* FieldSet::child(std::string_view step) const {
  const auto found = children.find(step);
  return found == children.end() ? nullptr : &found->second;
}

std::string show_step(std::string_view step) {
  const std::string_view rest = step.substr(2);
  if (step.starts_with("f:")) {
    return "." + std::string(rest);
  }
  if (step.starts_with("k:")) {
    std::string keys;
    const auto object = parse_json(rest);
    if (object && object->is_object()) {
      for (const auto& member : object->get_object()) {
        keys += (keys.empty() ? "" : ",") + std::string(member.key()) + "=" + to_json(member.value());
      }
    }
    return "[" + keys + "]";
  }
  return step.starts_with("v:") ? "[=" + std::string(rest) + "]" : "[" + std::string(rest) + "]";
}

FieldSet read_field_set(const Value& fields) {
  FieldSet set;
  const Object* object = fields.if_object();
  if (object == nullptr) {
    return set;
  }
  for (const auto& entry : *object) {
    const std::string_view step = entry.key();
    if (step == ".") {
      set.member = true;
    } else if (step.size() >= 2 && step[1] == ':') {
      FieldSet child = read_field_set(entry.value());
      child.member |= child.children.empty();
      set.children.emplace(step, std::move(child));
    }
  }
  return set;
}

Object write_field_set(const FieldSet& set) {
  Object object;
  if (set.member && !set.children.empty()) {
    object["."] = Object();
  }
  for (const auto& [step, child] : set.children) {
    object[step] = write_field_set(child);
  }
  return object;
}

void unite(FieldSet& set, const FieldSet& other) {
  set.member |= other.member;
  for (const auto& [step, child] : other.children) {
    unite(set.children[step], child);
  }
}

FieldSet intersection(const FieldSet& one, const FieldSet& other) {
  FieldSet both;
  both.member = one.member && other.member;
  for (const auto& [step, child] : one.children) {
    if (const FieldSet* match = other.child(step); match != nullptr) {
      if (FieldSet inner = intersection(child, *match); !inner.empty()) {
        both.children.emplace(step, std::move(inner));
      }
    }
  }
  return both;
}

void subtract(FieldSet& set, const FieldSet& other) {
  set.member &= !other.member;
  for (auto at = set.children.begin(); at != set.children.end();) {
    if (const FieldSet* match = other.child(at->first); match != nullptr) {
      subtract(at->second, *match);
    }
    at = at->second.empty() ? set.children.erase(at) : std::next(at);
  }
}

namespace {

// A path is in the set by itself where it has no members, or "." among them.
bool is_member(const Value& fields) {
  const Object* object = fields.if_object();
  return object != nullptr && (object->empty() || object->if_contains(".") != nullptr);
}

}  // namespace

bool touches(const Value& fields, const FieldSet& set) {
  const Object* object = fields.if_object();
  return object != nullptr && std::any_of(set.children.begin(), set.children.end(), [&](const auto& entry) {
           const Value* there = object->if_contains(entry.first);
           return there != nullptr && ((entry.second.member && is_member(*there)) || touches(*there, entry.second));
         });
}

bool covers(const Value& fields, const FieldSet& set) {
  const Object* object = fields.if_object();
  return object != nullptr && std::all_of(set.children.begin(), set.children.end(), [&](const auto& entry) {
           const Value* there = object->if_contains(entry.first);
           return there != nullptr && (!entry.second.member || is_member(*there)) && covers(*there, entry.second);
         });
}

void erase_below(FieldSet& set, std::string_view step) {
  if (const auto found = set.children.find(step); found != set.children.end()) {
    set.children.erase(found);
  }
}

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> paths;
  collect_paths(set, {}, paths);
  return paths;
}

std::string field_step(std::string_view name) {
  return "f:" + std::string(name);
}

std::string item_step(const Schema& list, const Value& item) {
  if (list.list_type == ListType::kSet) {
    return "v:" + to_json(item);
  }
  std::vector<std::string> names = list.list_keys;
  std::sort(names.begin(), names.end());
  Object keys;
  for (const std::string& name : names) {
    const Value* value = find(item, {name});
    const Property* property = list.items == nullptr ? nullptr : list.items->find(name);
    if (value == nullptr && property != nullptr && property->fallback) {
      value = &*property->fallback;
    }
    if (value != nullptr) {
      keys[name] = *value;
    }
  }
  return keys.empty() ? std::string() : "k:" + to_json(keys);
}

Sharing sharing_of(const Schema* schema, const Value& value) {
  if (value.is_object()) {
    return schema != nullptr && schema->atomic_map ? Sharing::kWhole : Sharing::kMembers;
  }
  const bool keyed = schema != nullptr && schema->list_type != ListType::kAtomic;
  return value.is_array() && keyed ? Sharing::kItems : Sharing::kWhole;
}

FieldSet claimed_fields(const Schema& schema, const Value& value) {
  FieldSet set;
  Claims(set).walk(&schema, value);
  set.member = false;
  return set;
}

Comparison compare(const Schema& schema, const Value& before, const Value& after) {
  Comparison result;
  Comparing(result).walk(&schema, &before, &after);
  return result;
}

}  // namespace gantree::apiserver
