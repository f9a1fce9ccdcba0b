// What may change of a pod that is there: little.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kFrozen =
    "of a pod only images, activeDeadlineSeconds, further tolerations and a negative "
    "terminationGracePeriodSeconds may change";
constexpr std::string_view kAdditionsOnly = "a gated pod's node affinity may only grow";

bool has_gates(const Object& spec) {
  const Array* gates = array_at(spec, {"schedulingGates"});
  return gates != nullptr && !gates->empty();
}

void check_gates(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  const Array* gates = array_at(new_spec, {"schedulingGates"});
  const Array* before = array_at(old_spec, {"schedulingGates"});
  std::unordered_set<std::string_view> known;
  for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
    known.insert(text_at((*before)[i], {"name"}));
  }
  for (std::size_t i = 0; gates != nullptr && i < gates->size(); ++i) {
    const std::string_view name = text_at((*gates)[i], {"name"});
    if (!known.contains(name)) {
      errors.push_back(forbidden(child_path(index_path("spec.schedulingGates", i), "name"),
                                 fmt::format("gates may only be taken away, and '{}' is new", name)));
    }
  }
}

// What a list has, to be looked up: there may be tens of thousands.
using Identities = std::unordered_set<std::string>;

Identities identities_of(const Array* list, std::string (*identity)(const Value&)) {
  Identities identities;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    identities.insert(identity((*list)[i]));
  }
  return identities;
}

// The same of tolerations that are equal but for how long they tolerate.
std::string toleration_text(const Value& toleration) {
  Value copy = toleration;
  if (copy.is_object()) {
    copy.get_object().stable_erase("tolerationSeconds");
  }
  return identity_text(copy);
}

void check_tolerations(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  const Array* before = array_at(old_spec, {"tolerations"});
  const Identities after = identities_of(array_at(new_spec, {"tolerations"}), toleration_text);
  for (std::size_t i = 0; before != nullptr && i < before->size(); ++i) {
    if (!after.contains(toleration_text((*before)[i]))) {
      errors.push_back(
          forbidden("spec.tolerations", "of a toleration that is there only tolerationSeconds may change"));
      return;
    }
  }
}

void check_deadline(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  const Value& before = value_at(old_spec, {"activeDeadlineSeconds"});
  const Value& after = value_at(new_spec, {"activeDeadlineSeconds"});
  if (after.is_int64() && (after.get_int64() < 1 || after.get_int64() > 2147483647)) {
    errors.push_back(invalid_value("spec.activeDeadlineSeconds", after, "must be between 1 and 2147483647, inclusive"));
  } else if (before.is_int64() && after.is_int64() && before.get_int64() < after.get_int64()) {
    errors.push_back(invalid_value("spec.activeDeadlineSeconds", after, "may only become less"));
  } else if (before.is_int64() && after.is_null()) {
    errors.push_back(invalid_value("spec.activeDeadlineSeconds", after, "cannot be taken back once it is set"));
  }
}

// Every old expression is still in the new list.
bool only_adds(const Value& old_term, const Value& new_term, std::string_view key) {
  const Array* before = array_at(old_term, {key});
  const Identities after = identities_of(array_at(new_term, {key}), identity_text);
  return before == nullptr || std::all_of(before->begin(), before->end(), [&](const Value& expression) {
           return after.contains(identity_text(expression));
         });
}

// Gated pods may be narrowed: more labels to match, more expressions in each term; terms may not come or go.
void check_narrowing(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  if (const Object* before = object_at(old_spec, {"nodeSelector"}); before != nullptr) {
    for (const auto& member : *before) {
      const Value* still = find(new_spec, {"nodeSelector", member.key()});
      if (still == nullptr || !same(*still, member.value())) {
        errors.push_back(invalid_value("spec.nodeSelector", value_at(new_spec, {"nodeSelector"}),
                                       "a gated pod's node selector may only grow"));
        break;
      }
    }
  }
  const auto terms_of = [](const Object& spec) {
    return array_at(
        spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  };
  const std::string field =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const Array* before = terms_of(old_spec);
  const Array* after = terms_of(new_spec);
  if (before == nullptr || before->empty()) {
    return;
  }
  if (after == nullptr || after->size() != before->size()) {
    errors.push_back(invalid_value(field, after == nullptr ? Value() : Value(*after),
                                   "a gated pod's terms may be made narrower, but neither more nor fewer"));
    return;
  }
  for (std::size_t i = 0; i < before->size(); ++i) {
    const bool added =
        only_adds((*before)[i], (*after)[i], "matchExpressions") && only_adds((*before)[i], (*after)[i], "matchFields");
    if (!added) {
      errors.push_back(invalid_value(index_path(field, i), (*after)[i], kAdditionsOnly));
    }
  }
}

void take_over(Object& spec, const Object& from, std::string_view key) {
  if (const Value* value = from.if_contains(key); value != nullptr) {
    spec[key] = *value;
  } else {
    spec.stable_erase(key);
  }
}

// The new spec with everything that may change put back, so that what differs still is forbidden.
Object put_back(const Object& old_spec, const Object& new_spec) {
  Object spec = new_spec;
  for (const std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    take_over(spec, old_spec, key);
  }
  const Value& grace = value_at(old_spec, {"terminationGracePeriodSeconds"});
  const Value& new_grace = value_at(new_spec, {"terminationGracePeriodSeconds"});
  if (grace.is_int64() && grace.get_int64() < 0 && new_grace.is_int64() && new_grace.get_int64() == 1) {
    take_over(spec, old_spec, "terminationGracePeriodSeconds");
  }
  if (has_gates(old_spec)) {
    take_over(spec, old_spec, "nodeSelector");
    Object affinity = object_at(spec, {"affinity"}) == nullptr ? Object() : *object_at(spec, {"affinity"});
    const Object* before = object_at(old_spec, {"affinity"});
    take_over(affinity, before == nullptr ? Object() : *before, "nodeAffinity");
    if (before == nullptr && affinity.empty()) {
      spec.stable_erase("affinity");
    } else {
      spec["affinity"] = std::move(affinity);
    }
  }
  for (const std::string_view key : {"containers", "initContainers"}) {
    Value* list = spec.if_contains(key);
    const Array* before = array_at(old_spec, {key});
    for (std::size_t i = 0; list != nullptr && list->is_array() && before != nullptr && i < before->size() &&
                            i < list->get_array().size() && list->get_array()[i].is_object();
         ++i) {
      if (!text_at(list->get_array()[i], {"image"}).empty() && (*before)[i].is_object()) {
        take_over(list->get_array()[i].get_object(), (*before)[i].get_object(), "image");
      }
    }
  }
  return spec;
}

// Whether they are as many as before, each with an image.
bool check_containers_stay(const Object& old_spec, const Object& new_spec, FieldErrors& errors) {
  const std::size_t before = errors.size();
  for (const std::string_view key : {"containers", "initContainers"}) {
    const Array* old_list = array_at(old_spec, {key});
    const Array* new_list = array_at(new_spec, {key});
    const std::size_t count = new_list == nullptr ? 0 : new_list->size();
    if (count != (old_list == nullptr ? 0 : old_list->size())) {
      errors.push_back(forbidden(child_path("spec", key), "containers neither come nor go"));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (text_at((*new_list)[i], {"image"}).empty()) {
        errors.push_back(required(child_path(index_path(child_path("spec", key), i), "image")));
      }
    }
  }
  return errors.size() == before;
}

}  // namespace

void check_pod_update(const Object& old_pod, const Object& new_pod, FieldErrors& errors) {
  static const Object kEmpty;
  const Object* old_spec = object_at(old_pod, {"spec"});
  const Object* new_spec = object_at(new_pod, {"spec"});
  old_spec = old_spec == nullptr ? &kEmpty : old_spec;
  new_spec = new_spec == nullptr ? &kEmpty : new_spec;
  check_gates(*old_spec, *new_spec, errors);
  check_tolerations(*old_spec, *new_spec, errors);
  check_deadline(*old_spec, *new_spec, errors);
  if (has_gates(*old_spec)) {
    check_narrowing(*old_spec, *new_spec, errors);
  }
  if (check_containers_stay(*old_spec, *new_spec, errors) &&
      !same(Value(put_back(*old_spec, *new_spec)), Value(*old_spec))) {
    errors.push_back(forbidden("spec", kFrozen));
  }
}

}  // namespace gantree::apiserver
