#include "apiserver/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <vector>

namespace gantree::apiserver {

namespace {

constexpr std::size_t kLongestPrefix = 58;  // room for the suffix of a generated name

void take_over(const Object& old, Object& desired, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Value* value = old.if_contains(name)) {
      desired[name] = *value;
    } else if (const auto it = desired.find(name); it != desired.end()) {
      desired.stable_erase(it);
    }
  }
}

std::vector<std::string> texts(const Array* array) {
  std::vector<std::string> result;
  if (array != nullptr) {
    for (const Value& value : *array) {
      result.emplace_back(text_of(value));
    }
  }
  return result;
}

}  // namespace

Random::Random() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  engine_.seed(seed);
}

std::string Random::uid() {
  const std::uint64_t a = engine_();
  const std::uint64_t b = engine_();
  // Version 4, variant 1.
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::string Random::suffix() {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += kLetters[engine_() % kLetters.size()];
  }
  return text;
}

Outcome<> prepare_new(const Kind& kind, std::string_view ns, std::string_view now, Random& random, Object& object) {
  Object& metadata = object_in(object, "metadata");
  if (kind.namespaced) {
    if (const std::string_view given = text_at(metadata, {"namespace"}); !given.empty() && given != ns) {
      return tl::unexpected(
          bad_request("the namespace of the provided object does not match the namespace sent on the "
                      "request"));
    }
    metadata["namespace"] = ns;
  } else {
    metadata.stable_erase("namespace");
  }
  if (!text_at(metadata, {"resourceVersion"}).empty()) {
    return tl::unexpected(bad_request("resourceVersion should not be set on objects to be created"));
  }
  if (text_at(metadata, {"name"}).empty()) {
    const std::string prefix(text_at(metadata, {"generateName"}));
    if (!prefix.empty()) {
      metadata["name"] = prefix.substr(0, kLongestPrefix) + random.suffix();
    }
  }
  for (const std::string_view name : {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"}) {
    metadata.stable_erase(name);
  }
  metadata["uid"] = random.uid();
  metadata["creationTimestamp"] = now;
  if (kind.generation) {
    metadata["generation"] = 1;
  }
  return {};
}

void carry_metadata(const Object& old, Object& desired) {
  const Object* from = object_at(old, {"metadata"});
  Object& to = object_in(desired, "metadata");
  if (from == nullptr) {
    return;
  }
  to.stable_erase("selfLink");
  // An empty one stands for "whatever it is".
  for (const std::string_view name : {"name", "namespace", "uid"}) {
    if (text_at(to, {name}).empty()) {
      take_over(*from, to, {name});
    }
  }
  take_over(*from, to,
            {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "generateName"});
}

Outcome<> check_versions(const Kind& kind, const Object& old, const Object& desired, bool must_have_version) {
  const std::string_view name = text_at(old, {"metadata", "name"});
  const std::string_view uid = text_at(desired, {"metadata", "uid"});
  const std::string_view old_uid = text_at(old, {"metadata", "uid"});
  if (!uid.empty() && uid != old_uid) {
    return tl::unexpected(
        conflict(kind.what(), name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, old_uid)));
  }
  const std::string_view version = text_at(desired, {"metadata", "resourceVersion"});
  if (version.empty() && must_have_version) {
    FieldErrors errors{
        {Cause::kInvalid, "metadata.resourceVersion", "Invalid value: 0x0: must be specified for an update"}};
    return tl::unexpected(Failure{422, invalid_status(kind.group, kind.resource, name, errors)});
  }
  if (!version.empty() && version != text_at(old, {"metadata", "resourceVersion"})) {
    return tl::unexpected(modified(kind.what(), name));
  }
  return {};
}

FieldErrors check_metadata_change(const Object& old, const Object& desired) {
  FieldErrors errors;
  const Object* from = object_at(old, {"metadata"});
  const Object* to = object_at(desired, {"metadata"});
  for (const std::string_view name : {"name", "namespace"}) {
    if (text_at(*from, {name}) != text_at(*to, {name})) {
      errors.push_back(invalid_value(child_path("metadata", name), Value(text_at(*to, {name})), "field is immutable"));
    }
  }
  if (is_deleting(old)) {
    const std::vector<std::string> list = texts(array_at(*from, {"finalizers"}));
    const std::unordered_set<std::string> before(list.begin(), list.end());
    std::string added;
    for (const std::string& finalizer : texts(array_at(*to, {"finalizers"}))) {
      if (!before.contains(finalizer)) {
        added += fmt::format("{}\"{}\"", added.empty() ? "" : ", ", finalizer);
      }
    }
    if (!added.empty()) {
      errors.push_back(forbidden(
          "metadata.finalizers",
          fmt::format(
              "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
              added)));
    }
  }
  return errors;
}

bool wants_differ(const Object& a, const Object& b, bool has_status) {
  const auto counts = [&](std::string_view key) {
    return key != "metadata" && key != "apiVersion" && key != "kind" && !(has_status && key == "status");
  };
  const auto covers = [&](const Object& left, const Object& right) {
    return std::all_of(left.begin(), left.end(), [&](const auto& member) {
      if (!counts(member.key())) {
        return true;
      }
      const Value* other = right.if_contains(member.key());
      return other != nullptr && same(member.value(), *other);
    });
  };
  return !covers(a, b) || !covers(b, a);
}

bool has_finalizer(const Object& object, std::string_view finalizer) {
  const Array* finalizers = array_at(object, {"metadata", "finalizers"});
  return finalizers != nullptr && std::any_of(finalizers->begin(), finalizers->end(),
                                              [&](const Value& value) { return text_of(value) == finalizer; });
}

bool has_finalizers(const Object& object) {
  const Array* finalizers = array_at(object, {"metadata", "finalizers"});
  return finalizers != nullptr && !finalizers->empty();
}

void add_finalizer(Object& object, std::string_view finalizer) {
  if (has_finalizer(object, finalizer)) {
    return;
  }
  Value& finalizers = object_in(object, "metadata")["finalizers"];
  if (!finalizers.is_array()) {
    finalizers.emplace_array();
  }
  finalizers.get_array().push_back(Value(finalizer));
}

void remove_finalizer(Object& object, std::string_view finalizer) {
  Object& metadata = object_in(object, "metadata");
  Value* finalizers = metadata.if_contains("finalizers");
  if (finalizers == nullptr || !finalizers->is_array()) {
    return;
  }
  Array kept;
  for (const Value& value : finalizers->get_array()) {
    if (text_of(value) != finalizer) {
      kept.push_back(value);
    }
  }
  if (kept.empty()) {
    metadata.stable_erase("finalizers");
  } else {
    *finalizers = std::move(kept);
  }
}

bool is_deleting(const Object& object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

Object in_usual_order(Object object) {
  Object ordered;
  ordered.reserve(object.size());
  for (const std::string_view name : {"apiVersion", "kind", "metadata"}) {
    if (Value* value = object.if_contains(name)) {
      ordered.emplace(name, std::move(*value));
    }
  }
  for (auto& member : object) {
    ordered.emplace(member.key(), std::move(member.value()));
  }
  return ordered;
}

}  // namespace gantree::apiserver
