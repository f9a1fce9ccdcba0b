#include "controllers/index_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

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
    if (first && last && *first <= *last && *first < limit) {
      ranges_.push_back({*first, std::min(*last, limit - 1)});
    }
  }
  join();
}

void IndexSet::join() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

void IndexSet::add(const std::vector<std::int64_t>& indexes) {
  for (const std::int64_t index : indexes) {
    ranges_.push_back({index, index});
  }
  join();
}

const IndexSet::Range* IndexSet::range_of(std::int64_t index) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), index,
                                      [](std::int64_t value, const Range& range) { return value < range.first; });
  return after != ranges_.begin() && index <= std::prev(after)->last ? &*std::prev(after) : nullptr;
}

bool IndexSet::has(std::int64_t index) const {
  return range_of(index) != nullptr;
}

std::int64_t IndexSet::first_missing(std::int64_t from) const {
  const Range* range = range_of(from);
  return range == nullptr ? from : range->last + 1;
}

std::int64_t IndexSet::common(const IndexSet& other) const {
  std::int64_t count = 0;
  for (auto one = ranges_.begin(), two = other.ranges_.begin(); one != ranges_.end() && two != other.ranges_.end();) {
    count += std::max<std::int64_t>(std::min(one->last, two->last) - std::max(one->first, two->first) + 1, 0);
    one->last < two->last ? void(++one) : void(++two);
  }
  return count;
}

std::int64_t IndexSet::size() const {
  std::int64_t count = 0;
  for (const Range& range : ranges_) {
    count += range.last - range.first + 1;
  }
  return count;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Range& range : ranges_) {
    out += fmt::format("{}{}", out.empty() ? "" : ",", range.first);
    if (range.last > range.first) {
      // Two in a row are written one by one.
      out += fmt::format("{}{}", range.last == range.first + 1 ? "," : "-", range.last);
    }
  }
  return out;
}

}  // namespace gantree::controllers
