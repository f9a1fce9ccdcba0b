#include "dialects/kueue/hooks/job_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/kueue/hooks/hooks.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/waiting_job.h"
#include "dialects/workloads/workload.h"

namespace gantree::kueue {

namespace {

constexpr std::size_t kLongestName = 253;

std::string_view text_in(const Object& object, std::string_view map, std::string_view key) {
  const json::Value value = text_at(map_at(object.metadata(), map), key);
  return value ? value.text() : std::string_view{};
}

std::string quoted(std::string_view text) {
  return text.empty() ? "none" : fmt::format("\"{}\"", text);
}

}  // namespace

std::string_view label_of(const Object& object, std::string_view key) {
  return text_in(object, "labels", key);
}

std::string_view annotation_of(const Object& object, std::string_view key) {
  return text_in(object, "annotations", key);
}

std::string_view queue_of(const Object& object) {
  return label_of(object, kQueueName);
}

std::string_view pod_group_of(const Object& pod) {
  const std::string_view named = annotation_of(pod, kPodGroup);
  return named.empty() ? label_of(pod, kPodGroup) : named;
}

bool waits_itself(const Object& object) {
  const bool has_node = object.kind == "Pod" && text_at(object.value["spec"], "nodeName");
  return prebuilt_of(object).empty() && !has_node && !is_guest(object) && !is_part_of_workload(object);
}

std::string_view queue_to_join(const Object& object, bool has_default) {
  if (!queue_of(object).empty() || !waits_itself(object)) {
    return {};
  }
  const std::string_view named = annotation_of(object, kQueueName);
  return named.empty() && has_default ? kDefaultQueue : named;
}

bool takes_default_class(const Object& object) {
  return !queue_of(object).empty() && label_of(object, kPriorityClass).empty() && waits_itself(object);
}

std::string_view prebuilt_of(const Object& object) {
  const std::string_view label = label_of(object, kPrebuiltWorkload);
  return label.empty() ? annotation_of(object, kPrebuiltWorkload) : label;
}

Owner controller_of(const Object& object) {
  json::Reader read(object.file, std::string(object.kind));
  return read_controller(read, object.metadata());
}

json::Patch::Path suspend_field(const Object& object) {
  return object.group == kTrainingGroup ? json::Patch::Path{"spec", "runPolicy", "suspend"}
                                        : json::Patch::Path{"spec", "suspend"};
}

bool is_suspended(const Object& object) {
  json::Value suspend = object.value;
  for (const std::string_view name : suspend_field(object)) {
    suspend = suspend ? suspend[name] : json::Value();
  }
  return suspend && suspend.kind() == json::Kind::kBool && suspend.text() == "true";
}

std::string prebuilt_warning(const Object& object) {
  return fmt::format("{} \"{}\": prebuilt workloads are not supported, so this {} starts without waiting for its queue",
                     kPrebuiltWorkload, prebuilt_of(object), object.kind);
}

std::optional<std::string> forbid_common_change(const Object& object, const Object& old, bool running) {
  const std::pair<std::string_view, std::pair<std::string_view, std::string_view>> kFixed[] = {
      {kQueueName, {queue_of(old), queue_of(object)}},
      {kPrebuiltWorkload, {prebuilt_of(old), prebuilt_of(object)}},
      {kMaxSeconds, {label_of(old, kMaxSeconds), label_of(object, kMaxSeconds)}},
  };
  for (const auto& [name, values] : kFixed) {
    if (running && values.first != values.second) {
      return fmt::format("{} cannot change from {} to {} while the {} runs", name, quoted(values.first),
                         quoted(values.second), object.kind);
    }
  }
  const std::string_view before = label_of(old, kPriorityClass);
  const std::string_view after = label_of(object, kPriorityClass);
  if (!before.empty() && after.empty()) {
    return fmt::format("{} \"{}\" cannot be taken away, only changed", kPriorityClass, before);
  }
  if (running && before.empty() && !after.empty()) {
    return fmt::format("{} cannot be added while the {} runs", kPriorityClass, object.kind);
  }
  return std::nullopt;
}

bool is_object_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > kLongestName) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Each part between dots begins and ends with a letter or digit.
    const bool at_edge = i == 0 || i + 1 == text.size() || text[i - 1] == '.' || text[i + 1] == '.';
    const bool good = letter(text[i]) || (!at_edge && text[i] == '-') ||
                      (text[i] == '.' && i > 0 && i + 1 < text.size() && letter(text[i - 1]) && letter(text[i + 1]));
    if (!good) {
      return false;
    }
  }
  return true;
}

}  // namespace gantree::kueue
