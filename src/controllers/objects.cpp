#include "controllers/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace gantree::controllers {

namespace {

std::optional<std::int64_t> number_of(const Value* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->is_int64()) {
    return value->get_int64();
  }
  return std::nullopt;
}

// The text of labels of a requirement: "a,b".
std::vector<std::string_view> values_of(const Value& requirement) {
  std::vector<std::string_view> values;
  if (const Array* all = array_at(requirement, {"values"})) {
    for (const Value& one : *all) {
      values.push_back(text_of(one));
    }
  }
  return values;
}

const std::string* find_label(const Labels& labels, std::string_view wanted) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), wanted,
                                   [](const auto& label, std::string_view key) { return label.first < key; });
  return at != labels.end() && at->first == wanted ? &at->second : nullptr;
}

bool meets(const Value& requirement, const Labels& labels) {
  const std::string* label = find_label(labels, text_at(requirement, {"key"}));
  const std::string_view op = text_at(requirement, {"operator"});
  if (op == "Exists") {
    return label != nullptr;
  }
  if (op == "DoesNotExist") {
    return label == nullptr;
  }
  const auto values = values_of(requirement);
  const bool among = label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
  return op == "In" ? among : op == "NotIn" && !among;
}

// Sorted by key, so that the order of members does not change the hash.
void append_sorted(std::string& out, const Value& value) {
  if (const Object* object = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& member : *object) {
      keys.push_back(member.key());
    }
    std::sort(keys.begin(), keys.end());
    out += '{';
    for (const std::string_view key : keys) {
      apiserver::append_json_text(out, key);
      append_sorted(out, object->at(key));
    }
    out += '}';
  } else if (const Array* array = value.if_array()) {
    out += '[';
    for (const Value& one : *array) {
      append_sorted(out, one);
      out += ',';
    }
    out += ']';
  } else {
    apiserver::append_json(out, value);
  }
}

}  // namespace

std::int64_t whole_at(const Value& value, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  return number_of(find(value, keys)).value_or(otherwise);
}

std::int64_t whole_at(const Object& object, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  return number_of(find(object, keys)).value_or(otherwise);
}

std::optional<std::int64_t> number_at(const Object& object, std::initializer_list<std::string_view> keys) {
  return number_of(find(object, keys));
}

bool flag_at(const Value& value, std::initializer_list<std::string_view> keys, bool otherwise) {
  const Value* found = find(value, keys);
  return found != nullptr && found->is_bool() ? found->get_bool() : otherwise;
}

bool flag_at(const Object& object, std::initializer_list<std::string_view> keys, bool otherwise) {
  const Value* found = find(object, keys);
  return found != nullptr && found->is_bool() ? found->get_bool() : otherwise;
}

std::int64_t share_at(const Object& object, std::initializer_list<std::string_view> keys, std::int64_t whole,
                      bool round_up, std::int64_t otherwise) {
  const Value* found = find(object, keys);
  if (found == nullptr) {
    return otherwise;
  }
  if (found->is_int64()) {
    return found->get_int64();
  }
  const std::string_view text = text_of(*found);
  std::int64_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end == text.data() + text.size() || *end != '%' || percent < 0 || percent > 1'000'000) {
    return otherwise;
  }
  return (whole * percent + (round_up ? 99 : 0)) / 100;
}

const Value* find_condition(const Value& root, std::string_view type) {
  return root.is_object() ? find_condition(root.get_object(), type) : nullptr;
}

const Value* find_condition(const Object& root, std::string_view type) {
  const Array* conditions = array_at(root, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (text_at((*conditions)[i], {"type"}) == type) {
      return &(*conditions)[i];
    }
  }
  return nullptr;
}

bool condition_is(const Object& root, std::string_view type, std::string_view status) {
  const Value* condition = find_condition(root, type);
  return condition != nullptr && text_at(*condition, {"status"}) == status;
}

Array conditions_of(const Object& root) {
  const Array* conditions = array_at(root, {"status", "conditions"});
  return conditions == nullptr ? Array() : *conditions;
}

bool set_condition(Array& conditions, const Condition& condition, Time now) {
  Object made;
  made["type"] = condition.type;
  made["status"] = condition.status;
  if (condition.observed_generation) {
    made["observedGeneration"] = *condition.observed_generation;
  }
  const std::string time = rfc3339(now);
  if (!condition.also.empty()) {
    made[condition.also] = time;
  }
  made["lastTransitionTime"] = time;
  for (const auto& [key, text] : {std::pair("reason", condition.reason), std::pair("message", condition.message)}) {
    if (!text.empty()) {
      made[key] = text;
    }
  }
  for (Value& one : conditions) {
    if (text_at(one, {"type"}) != condition.type) {
      continue;
    }
    const bool same_status = text_at(one, {"status"}) == condition.status;
    const bool same_rest =
        text_at(one, {"reason"}) == condition.reason && text_at(one, {"message"}) == condition.message &&
        (!condition.observed_generation || whole_at(one, {"observedGeneration"}) == *condition.observed_generation);
    if (same_status && same_rest) {
      return false;
    }
    if (same_status) {
      made["lastTransitionTime"] = text_at(one, {"lastTransitionTime"});
    }
    one = std::move(made);
    return true;
  }
  conditions.push_back(std::move(made));
  return true;
}

Object owner_reference(const Item& owner, bool blocks) {
  return Object{{"apiVersion", api_version(owner.kind)},
                {"kind", facts(owner.kind).name},
                {"name", owner.name},
                {"uid", owner.uid},
                {"controller", true},
                {"blockOwnerDeletion", blocks}};
}

Object pod_from_template(const Object& pod_template, const Item& owner) {
  Object metadata;
  for (const std::string_view key : {"labels", "annotations", "finalizers"}) {
    if (const Value* part = find(pod_template, {"metadata", key})) {
      metadata[key] = *part;
    }
  }
  metadata["namespace"] = owner.ns;
  metadata["ownerReferences"] = Array{owner_reference(owner)};
  const Object* spec = object_at(pod_template, {"spec"});
  return Object{{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", std::move(metadata)},
                {"spec", spec == nullptr ? Object() : *spec}};
}

Object headless_service(const Item& owner, std::string_view name, Object selector) {
  Object metadata{{"name", name}, {"namespace", owner.ns}};
  metadata["ownerReferences"] = Array{owner_reference(owner)};
  Object spec{{"clusterIP", "None"}, {"publishNotReadyAddresses", true}};
  spec["selector"] = std::move(selector);
  return Object{
      {"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

void set_label(Object& object, std::string_view key, std::string_view value) {
  object_in(object_in(object, "metadata"), "labels")[key] = value;
}

void set_annotation(Object& object, std::string_view key, std::string_view value) {
  object_in(object_in(object, "metadata"), "annotations")[key] = value;
}

void add_environment(Object& pod_spec, std::string_view name, const Value& source) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    Value* containers = find(pod_spec, {list});
    for (std::size_t i = 0; containers != nullptr && containers->is_array() && i < containers->get_array().size();
         ++i) {
      Value& container = containers->get_array()[i];
      if (!container.is_object()) {
        continue;
      }
      Value& environment = container.get_object()["env"];
      if (!environment.is_array()) {
        environment = Array();
      }
      Array& all = environment.get_array();
      const bool has =
          std::any_of(all.begin(), all.end(), [&](const Value& one) { return text_at(one, {"name"}) == name; });
      if (!has) {
        Object variable = source.is_object() ? source.get_object() : Object();
        variable["name"] = name;
        all.insert(all.begin(), std::move(variable));
      }
    }
  }
}

bool selects(const Object* selector, const Labels& labels) {
  if (selector == nullptr) {
    return true;
  }
  if (const Object* wanted = object_at(*selector, {"matchLabels"})) {
    for (const auto& [key, value] : *wanted) {
      const std::string* label = find_label(labels, key);
      if (label == nullptr || *label != text_of(value)) {
        return false;
      }
    }
  }
  if (const Array* expressions = array_at(*selector, {"matchExpressions"})) {
    return std::all_of(expressions->begin(), expressions->end(), [&](const Value& one) { return meets(one, labels); });
  }
  return true;
}

std::string selector_text(const Object& selector) {
  std::vector<std::string> parts;
  if (const Object* wanted = object_at(selector, {"matchLabels"})) {
    for (const auto& [key, value] : *wanted) {
      parts.push_back(fmt::format("{}={}", std::string_view(key), text_of(value)));
    }
  }
  std::sort(parts.begin(), parts.end());
  if (const Array* expressions = array_at(selector, {"matchExpressions"})) {
    for (const Value& one : *expressions) {
      const std::string_view op = text_at(one, {"operator"});
      const std::string_view key = text_at(one, {"key"});
      if (op == "Exists" || op == "DoesNotExist") {
        parts.push_back(fmt::format("{}{}", op == "Exists" ? "" : "!", key));
      } else {
        parts.push_back(fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin", fmt::join(values_of(one), ",")));
      }
    }
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string short_hash(const Value& value, std::int64_t collisions) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  append_sorted(text, value);
  if (collisions > 0) {
    text += std::to_string(collisions);
  }
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  std::string out;
  for (int i = 0; i < 10; ++i) {
    out += kLetters[hash % kLetters.size()];
    hash /= kLetters.size();
  }
  return out;
}

namespace {

bool says_nothing(const Value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_int64() && value.get_int64() == 0) || (value.is_bool() && !value.get_bool()) ||
         (value.is_array() && value.get_array().empty()) ||
         (value.is_object() && std::all_of(value.get_object().begin(), value.get_object().end(),
                                           [](const auto& member) { return says_nothing(member.value()); }));
}

bool has_all(const Object& one, const Object& other) {
  return std::all_of(other.begin(), other.end(), [&](const auto& member) {
    const Value* there = one.if_contains(member.key());
    return there == nullptr ? says_nothing(member.value()) : means_the_same(*there, member.value());
  });
}

}  // namespace

bool means_the_same(const Value& one, const Value& other) {
  if (one.is_object() && other.is_object()) {
    return has_all(one.get_object(), other.get_object()) &&
           std::all_of(one.get_object().begin(), one.get_object().end(), [&](const auto& member) {
             return other.get_object().contains(member.key()) || says_nothing(member.value());
           });
  }
  if (one.is_array() && other.is_array()) {
    return std::equal(one.get_array().begin(), one.get_array().end(), other.get_array().begin(),
                      other.get_array().end(), means_the_same);
  }
  return apiserver::same(one, other) || (says_nothing(one) && says_nothing(other));
}

}  // namespace gantree::controllers
