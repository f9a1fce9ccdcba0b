// An object that may be somebody's job, as the hooks look at it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dialects/core/metadata.h"
#include "dialects/object.h"
#include "json/patch.h"

namespace gantree::kueue {

// "" where there is none.
[[nodiscard]] std::string_view label_of(const Object& object, std::string_view key);
[[nodiscard]] std::string_view annotation_of(const Object& object, std::string_view key);
[[nodiscard]] std::string_view queue_of(const Object& object);
[[nodiscard]] std::string_view pod_group_of(const Object& pod);
[[nodiscard]] std::string_view prebuilt_of(const Object& object);
[[nodiscard]] Owner controller_of(const Object& object);
// Whether it would be what waits in a queue, and not something on its account.
[[nodiscard]] bool waits_itself(const Object& object);
// The field by which a job of its kind is stopped, and whether it is.
[[nodiscard]] json::Patch::Path suspend_field(const Object& object);
[[nodiscard]] bool is_suspended(const Object& object);

// Why it is not taken up although it names a queue: its workload is somebody else's.
[[nodiscard]] std::string prebuilt_warning(const Object& object);

// What no job may change: its queue and the like while it runs, its priority class away.
[[nodiscard]] std::optional<std::string> forbid_common_change(const Object& object, const Object& old, bool running);

// Labels and annotations as names of objects: small letters, digits, dashes and dots.
[[nodiscard]] bool is_object_name(std::string_view text);

}  // namespace gantree::kueue
