// An API object as the live scheduler keeps it: only the fields that decisions depend on.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace gantree {

struct LiveObject {
  std::string group;  // "" for the core group
  std::string version;
  std::string kind;
  std::string ns;  // "" where the kind is not namespaced
  std::string name;
  std::string uid;
  std::string text;        // JSON on one line
  bool oversized = false;  // a pod or PodGroup of more than kLargestObject: most of it is left out, and it cannot start
};

// What is kept of one pod or PodGroup. Nobody's need more, and all of them are kept, and read time and again.
inline constexpr std::size_t kLargestObject = 64 * 1024;
// Annotations of pods and PodGroups that no family reads are left out where they are longer; those of families are cut.
inline constexpr std::size_t kLongestAnnotation = 1024;
inline constexpr std::size_t kLongestFamilyAnnotation = 32 * 1024 + 1;

// Reads what the API server sent, which may lack apiVersion and kind, and drops what nobody looks at. Of pods and
// nodes little is left; of other kinds all but the bookkeeping of field managers. Any thread.
[[nodiscard]] Result<LiveObject> prune(std::string_view group, std::string_view version, std::string_view kind,
                                       std::string_view json);

// The text of a pod that has no node, as if it had that one; and the other way round.
[[nodiscard]] std::string with_node(const std::string& text, std::string_view node);
[[nodiscard]] std::string without_node(const std::string& text, std::string_view node);

// What the scheduler calls objects in messages instead of a file. See without_places().
inline constexpr std::string_view kNoFile = "api";
// A message as users of the API see it: they have objects, not files and lines.
[[nodiscard]] std::string without_places(std::string message);

}  // namespace gantree
