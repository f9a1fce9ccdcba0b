// What the containers of a pod may come to ask for while it is there.
#include <algorithm>

#include "apiserver/defaults.h"
#include "apiserver/rules.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

// Whether something that was asked for no longer is.
bool lacks(const Object* now, const Object* before) {
  return before != nullptr && std::any_of(before->begin(), before->end(), [&](const auto& member) {
           return now == nullptr || !now->contains(member.key());
         });
}

// Other resources than these are given to a container once and for all.
Object without_cpu_and_memory(const Object* amounts) {
  Object rest = amounts == nullptr ? Object() : *amounts;
  rest.stable_erase("cpu");
  rest.stable_erase("memory");
  return rest;
}

void check_container(const Value& before, const Value& now, const std::string& path, FieldErrors& errors) {
  bool others_stay =
      same(value_at(before.get_object(), {"resources", "claims"}), value_at(now.get_object(), {"resources", "claims"}));
  for (const std::string_view key : {"requests", "limits"}) {
    const Object* old_amounts = object_at(before, {"resources", key});
    const Object* new_amounts = object_at(now, {"resources", key});
    if (lacks(new_amounts, old_amounts)) {
      errors.push_back(
          forbidden(child_path(child_path(path, "resources"), key), "what is asked for cannot be taken back"));
    }
    others_stay = others_stay && same(without_cpu_and_memory(old_amounts), without_cpu_and_memory(new_amounts));
  }
  const bool same_policy =
      same(value_at(before.get_object(), {"resizePolicy"}), value_at(now.get_object(), {"resizePolicy"}));
  if (!others_stay || !same_policy) {
    errors.push_back(forbidden("spec", "nothing but cpu and memory may become another"));
  }
}

}  // namespace

FieldErrors check_resize(const Object& old_pod, const Object& new_pod) {
  FieldErrors errors = check_create("", "Pod", new_pod);
  static const Object kEmpty;
  const Object* spec = object_at(new_pod, {"spec"});
  const std::string_view quality = text_at(old_pod, {"status", "qosClass"});
  if (!quality.empty() && quality != quality_of(spec == nullptr ? kEmpty : *spec)) {
    errors.push_back(invalid_value("spec", Value(quality), "the pod must stay in its class of service"));
  }
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Array* before = array_at(old_pod, {"spec", key});
    const Array* now = array_at(new_pod, {"spec", key});
    for (std::size_t i = 0; before != nullptr && now != nullptr && i < std::min(before->size(), now->size()); ++i) {
      if ((*before)[i].is_object() && (*now)[i].is_object()) {
        check_container((*before)[i], (*now)[i], index_path(child_path("spec", key), i), errors);
      }
    }
  }
  return errors;
}

}  // namespace gantree::apiserver
