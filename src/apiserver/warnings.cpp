#include "apiserver/warnings.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "apiserver/json.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kLongest = 256;
constexpr std::int64_t kAll = 4096;
constexpr std::size_t kMost = 50;

// Whole characters only.
std::string_view first_characters(std::string_view text, std::int64_t most) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    count += begins_character(text[i]) ? 1 : 0;
    if (count > most) {
      return text.substr(0, i);
    }
  }
  return text;
}

void add_header(std::string_view text, http::HeaderList& headers) {
  std::string quoted;
  append_json_text(quoted, text);
  headers.emplace_back("Warning", "299 - " + quoted);
}

}  // namespace

void add_warnings(const std::vector<std::string>& warnings, http::HeaderList& headers) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> told;
  std::int64_t all = 0;
  for (const std::string& warning : warnings) {
    if (!warning.empty() && seen.insert(warning).second) {
      told.push_back(warning);
      all += characters_in(warning);
    }
  }
  const bool too_much = all > kAll || told.size() > kMost;
  std::int64_t written = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const std::string_view text = too_much ? first_characters(told[i], kLongest) : told[i];
    written += characters_in(text);
    const bool last_place = i + 1 == kMost && told.size() > kMost;
    if (last_place || written > kAll) {
      add_header(fmt::format("{} more warnings are not shown", told.size() - i), headers);
      return;
    }
    add_header(text, headers);
  }
}

}  // namespace gantree::apiserver
