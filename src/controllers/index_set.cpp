#include "controllers/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace gantree::controllers {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

IndexSet::IndexSet(std::string_view text, std::int64_t limit) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    for (std::int64_t i = first.value_or(0); first && last && i <= *last && i < limit; ++i) {
      indexes_.push_back(i);
    }
  }
  std::sort(indexes_.begin(), indexes_.end());
  indexes_.erase(std::unique(indexes_.begin(), indexes_.end()), indexes_.end());
}

void IndexSet::add(const std::vector<std::int64_t>& indexes) {
  indexes_.insert(indexes_.end(), indexes.begin(), indexes.end());
  std::sort(indexes_.begin(), indexes_.end());
  indexes_.erase(std::unique(indexes_.begin(), indexes_.end()), indexes_.end());
}

bool IndexSet::has(std::int64_t index) const {
  return std::binary_search(indexes_.begin(), indexes_.end(), index);
}

std::int64_t IndexSet::common(const IndexSet& other) const {
  return std::count_if(indexes_.begin(), indexes_.end(), [&](std::int64_t index) { return other.has(index); });
}

std::string IndexSet::text() const {
  std::string out;
  for (std::size_t i = 0; i < indexes_.size();) {
    std::size_t end = i;
    while (end + 1 < indexes_.size() && indexes_[end + 1] == indexes_[end] + 1) {
      ++end;
    }
    out += fmt::format("{}{}", out.empty() ? "" : ",", indexes_[i]);
    if (end > i) {
      // Two in a row are written one by one.
      out += fmt::format("{}{}", end == i + 1 ? "," : "-", indexes_[end]);
    }
    i = end + 1;
  }
  return out;
}

}  // namespace gantree::controllers
