#include "view/host_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/whole_number.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr std::size_t kMostGroups = 16;

// The name without the digits at its end, and those.
std::pair<std::string_view, std::string_view> parts(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t digits = last == std::string_view::npos ? 0 : last + 1;
  return {name.substr(0, digits), name.substr(digits)};
}

std::optional<std::int64_t> number(std::string_view name) {
  return whole_number<std::int64_t>(parts(name).second, 0);
}

// Whether b comes next after a in counting: n09 and n10, n9 and n10, not n9 and n010.
bool follows(std::string_view a, std::string_view b) {
  const auto [stem_a, digits_a] = parts(a);
  const auto [stem_b, digits_b] = parts(b);
  const auto before = number(a);
  const auto after = number(b);
  const bool same_form = digits_a.size() == digits_b.size() || !digits_b.starts_with('0');
  return stem_a == stem_b && before && after && *after == *before + 1 && same_form;
}

// Of names with the same stem: "gpu-[01-04,07]".
std::string group_text(const std::vector<std::string>& names, std::size_t begin, std::size_t end) {
  if (end - begin == 1) {
    return names[begin];
  }
  std::string numbers;
  for (std::size_t i = begin, last = begin; i < end; i = last + 1) {
    for (last = i; last + 1 < end && follows(names[last], names[last + 1]);) {
      ++last;
    }
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ",", parts(names[i]).second);
    numbers += last == i ? "" : fmt::format("{}{}", last == i + 1 ? "," : "-", parts(names[last]).second);
  }
  return fmt::format("{}[{}]", parts(names[begin]).first, numbers);
}

}  // namespace

std::string host_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), natural_less);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  std::size_t groups = 0;
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    if (groups++ == kMostGroups) {
      return fmt::format("{} and {}", text, counted(static_cast<std::int64_t>(names.size() - begin), "more host"));
    }
    const auto [stem, digits] = parts(names[begin]);
    for (end = begin + 1; end < names.size() && !digits.empty() && parts(names[end]).first == stem;) {
      if (parts(names[end]).second.empty()) {
        break;
      }
      ++end;
    }
    text += (text.empty() ? "" : ", ") + group_text(names, begin, end);
  }
  return text;
}

}  // namespace gantree::view
