// What is to be changed about an object that somebody is about to store, and which changes to it are refused.
//
// A family adds its own kinds in all_mutators(). Pure: the same object, the same answer. Answers are idempotent: what
// was changed as asked needs no further change.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/admission.h"
#include "json/write.h"

namespace gantree {

struct Mutation {
  std::optional<std::string> refusal = {};  // one sentence
  json::Out::Array patch = {};              // operations of a JSON Patch; none where the object is good as it is
  std::vector<std::string> warnings = {};   // for whoever stores it
};

// Of objects of other people's kinds, which are not read otherwise than as somebody's job.
struct Mutator {
  std::string_view plural;  // of the kind, as in paths of the API
  ApiKind kind;
  // `old` is what the object replaces; nullptr where it is created.
  Mutation (*mutate)(const NamedObject& named, const Object* old) = nullptr;
  // As of a Validator.
  Admission (*validate)(const NamedObject& named) = nullptr;
  // Why the object may not replace the old one, in one sentence.
  std::optional<std::string> (*forbid)(const NamedObject& named, const Object& old) = nullptr;
  // Of what others than Gantree itself change; absent where that makes no difference: what is added to the change, and
  // why nobody else may make it.
  Mutation (*heed)(const NamedObject& named, const Object& old) = nullptr;
  std::optional<std::string> (*reserved)(const NamedObject& named, const Object& old) = nullptr;
};

[[nodiscard]] std::span<const Mutator> all_mutators();

// What becomes of an object; `old` as above. A new one is judged as well, so that the API server need not ask twice.
[[nodiscard]] Mutation change(const Mutator& mutator, const NamedObject& named, const Object* old);

// What a cluster has for new objects that name nothing of their own.
struct JobDefaults {
  bool queue = false;           // a LocalQueue `default` in their namespace
  bool priority_class = false;  // a WorkloadPriorityClass `default`
  bool serves_kai = false;      // pods of KAI's scheduler are Gantree's to bind
};

// The same of a new object, with the class that it gets where it names none.
[[nodiscard]] Mutation create(const Mutator& mutator, const NamedObject& named, const JobDefaults& defaults);

// What becomes of a new object that does not carry the label of a queue: it is put into the one that it names
// otherwise, or into that of its namespace, and held back like any other. Most are left alone.
[[nodiscard]] Mutation enqueue(const Mutator& mutator, const NamedObject& named, const JobDefaults& defaults);

// The verdict on an object as it will be stored; `old` as above. An object that is being taken away is never held up.
[[nodiscard]] Admission admit(const Mutator& mutator, const NamedObject& named, const Object* old);

}  // namespace gantree
