// Whether an object that somebody is about to store makes sense, as far as it can be said without its cluster.
//
// A family adds its own kinds in all_validators(). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/object.h"

namespace gantree {

struct Admission {
  std::optional<std::string> refusal;  // one sentence; nothing where the object is good
  std::vector<std::string> warnings;   // for whoever stores it: what has no effect
};

struct Mutation;

struct Validator {
  std::string_view plural;  // of the kind, as in paths of the API
  ApiKind kind;
  Admission (*validate)(const NamedObject& named) = nullptr;
  // What of `old` must not become what it is now: one sentence; nothing where the change is good.
  std::optional<std::string> (*forbidden)(const NamedObject& named, const Object& old) = nullptr;
  bool has_status = true;  // one that Gantree keeps
  // What only those may store who administer queues (and Gantree itself): one sentence; nothing where all may who may
  // write objects of the kind. `old` is nullptr where it is created.
  std::optional<std::string> (*reserved)(const NamedObject& named, const Object* old) = nullptr;
  // What of a status that somebody writes in place of that of `old` makes no sense: one sentence; nothing where it is
  // good. nullptr where every status is taken.
  std::optional<std::string> (*wrong_status)(const NamedObject& named, const Object& old) = nullptr;
  // What is added to a new one; nullptr where nothing is.
  Mutation (*made)(const NamedObject& named) = nullptr;
  // Why one may not be deleted, in one sentence; nothing where it may. nullptr where all may.
  std::optional<std::string> (*needed)(const NamedObject& named) = nullptr;
  // Where the API server asks about it, below /validate/; the plural where it is "". Two families may have kinds of one
  // plural.
  std::string_view path = {};

  [[nodiscard]] std::string_view route() const { return path.empty() ? plural : path; }
};

[[nodiscard]] std::span<const Validator> all_validators();

// Whether it is being deleted and only waits for its finalizers.
[[nodiscard]] bool is_leaving(const Object& object);

// The verdict on a new object, or on one that replaces `old` (nullptr where there is none). What was wrong before
// and is wrong in the same way now may stay, with a warning: whoever changes something else, or takes the object
// away, must not be held up. Requires an object of the validator's kind.
[[nodiscard]] Admission admit(const Validator& validator, const NamedObject& named, const Object* old);

}  // namespace gantree
