// Names and numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/resources.h"
#include "model/topology.h"

namespace gantree::view {

// What the domains of a level are called, from its label: "example.com/topology-rack"
// is "rack", kubernetes.io/hostname is "host".
[[nodiscard]] std::string level_word(std::string_view label);
// The words of a topology's levels, coarse to fine; "host" is added where the lowest
// level is not the hosts.
[[nodiscard]] std::vector<std::string> level_words(const Topology& topology);

// "1 rack", "8 racks".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view word);

// An amount of a resource as a plain number: cpu in cores with at most one
// decimal, rounded down.
[[nodiscard]] std::string amount_text(std::int64_t amount, ResourceId resource);
// "1 nvidia.com/gpu, 4 cpu": as manifests write them.
[[nodiscard]] std::string amounts_text(const Amounts& amounts, const ResourceNames& names);
// The short name of a resource: "gpu" of nvidia.com/gpu.
[[nodiscard]] std::string_view short_name(std::string_view resource);

// Order of names in which r2 comes before r10.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

// Fit for a terminal: no control characters, no bytes that are not UTF-8, and
// without `unicode` nothing but ASCII.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);
// Columns of printable text.
[[nodiscard]] int columns(std::string_view text);
// At most that many columns; what was cut is marked at the end.
[[nodiscard]] std::string clipped(std::string_view text, int width, bool unicode);
// The same, but cut in the middle: of a path, the end tells most.
[[nodiscard]] std::string clipped_inside(std::string_view text, int width, bool unicode);
// Lines of at most that many columns, broken between words (inside a word only
// where it is longer than a line). At least one line.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, int width);

// The letter of a placed gang. Letters come again after kLetters gangs.
inline constexpr int kLetters = 52;
[[nodiscard]] char gang_letter(int mark);

}  // namespace gantree::view
