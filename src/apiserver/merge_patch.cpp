// JSON merge patch (RFC 7386).
#include "apiserver/patch.h"

namespace gantree::apiserver {

void merge_patch(Value& document, const Value& patch) {
  const Object* changes = patch.if_object();
  if (changes == nullptr) {
    document = patch;
    return;
  }
  if (!document.is_object()) {
    document = Object();
  }
  Object& object = document.get_object();
  std::vector<std::string> gone;
  for (const auto& change : *changes) {
    if (change.value().is_null()) {
      gone.emplace_back(change.key());
    } else {
      merge_patch(object[change.key()], change.value());
    }
  }
  erase_keys(object, gone);
}

Value merge_diff(const Value& from, const Value& to) {
  const Object* old = from.if_object();
  const Object* wanted = to.if_object();
  if (old == nullptr || wanted == nullptr) {
    return to;
  }
  Object patch;
  for (const auto& member : *old) {
    if (wanted->if_contains(member.key()) == nullptr) {
      patch[member.key()] = nullptr;
    }
  }
  for (const auto& member : *wanted) {
    const Value* before = old->if_contains(member.key());
    if (before == nullptr) {
      patch[member.key()] = member.value();
    } else if (!same(*before, member.value())) {
      patch[member.key()] = merge_diff(*before, member.value());
    }
  }
  return patch;
}

}  // namespace gantree::apiserver
