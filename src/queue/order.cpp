#include "queue/order.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>
#include <string_view>

#include "base/check.h"

namespace gantree {

namespace {

// Places by creation time and name, whatever the priority: the end of every comparison, and unique.
std::vector<std::size_t> ranks_of(std::span<const Submission> submissions) {
  std::vector<std::size_t> positions(submissions.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const auto age = [&](std::size_t i) {
    const std::int64_t created = submissions[i].created_seconds;
    return created == 0 ? std::numeric_limits<std::int64_t>::max() : created;
  };
  std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
    return age(a) != age(b) ? age(a) < age(b) : named_before(submissions[a], submissions[b]);
  });
  std::vector<std::size_t> ranks(submissions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    ranks[positions[i]] = i;
  }
  return ranks;
}

// A run of digits at the front, without leading zeros; the text goes on behind it.
std::string_view take_number(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

}  // namespace

// Texts that differ in leading zeros only are distinguished as they are written.
std::strong_ordering natural_order(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  // What they have in common decides nothing, but for the beginning of a number.
  auto same = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  while (same > 0 && digit(a[same - 1])) {
    --same;
  }
  a.remove_prefix(same);
  b.remove_prefix(same);
  while (!a.empty() && !b.empty()) {
    if (digit(a[0]) && digit(b[0])) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x != y) {
        return x.size() != y.size() ? x.size() <=> y.size() : x <=> y;
      }
    } else if (a[0] != b[0]) {
      return static_cast<unsigned char>(a[0]) <=> static_cast<unsigned char>(b[0]);
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? b.empty() <=> a.empty() : whole_a <=> whole_b;
}

std::strong_ordering name_order(const GangKey& a, const GangKey& b) {
  for (const auto member : {&GangKey::ns, &GangKey::name, &GangKey::kind}) {
    if (const auto order = natural_order(a.*member, b.*member); order != 0) {
      return order;
    }
  }
  return std::strong_ordering::equal;
}

bool named_before(const Submission& a, const Submission& b) {
  const auto known = name_order(a.made_for ? *a.made_for : a.key, b.made_for ? *b.made_for : b.key);
  return known != 0 ? known < 0 : name_order(a.key, b.key) < 0;
}

bool stays_within_quota(const Quota& quota, const Submission& submission) {
  const auto& parts = submission.parts;
  if (!submission.queue || parts.empty()) {
    return true;
  }
  const auto within = [&](const QuotaDemand& demand) { return !quota.would_borrow(demand); };
  if (parts.size() > 1) {
    WayDemands demands = demands_of(submission);
    if (!submission.own_quota_first) {
      for (std::vector<QuotaDemand>& part : demands) {
        part.resize(1);
      }
    }
    return Combinations(demands, within).next();
  }
  const auto is_within = [&](const Alternative& way) { return within(demand_of(way)); };
  const std::vector<Alternative>& ways = parts.front();
  return submission.own_quota_first ? std::any_of(ways.begin(), ways.end(), is_within) : is_within(ways.front());
}

QueueOrder::QueueOrder(const Quota& quota, std::span<const Submission> submissions)
    : quota_(quota),
      submissions_(submissions),
      ranks_(ranks_of(submissions)),
      lines_(quota.queues() + 1),
      entered_(lines_.size()) {
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    const std::size_t line = submissions[i].queue ? submissions[i].queue->index() : quota.queues();
    lines_[line].positions.push_back(i);
  }
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    std::vector<std::size_t>& positions = lines_[line].positions;
    std::stable_sort(positions.begin(), positions.end(),
                     [&](std::size_t a, std::size_t b) { return goes_before(submissions[a], submissions[b]); });
    enter(line);
  }
}

QueueOrder::Key QueueOrder::key_of(std::size_t line) const {
  const std::size_t position = lines_[line].positions[lines_[line].first];
  const Submission& head = submissions_[position];
  const bool borrows = !stays_within_quota(quota_, head);
  const std::int64_t queue_priority = borrows ? -quota_.rules(*head.queue).priority : 0;
  const std::int64_t share = borrows ? quota_.share(*head.queue) : 0;
  return {head.begun, borrows, -head.priority, queue_priority, share, ranks_[position], line};
}

void QueueOrder::enter(std::size_t line) {
  if (lines_[line].first < lines_[line].positions.size()) {
    entered_[line] = *heads_.insert(key_of(line)).first;
  }
}

void QueueOrder::leave(std::size_t line) {
  if (entered_[line]) {
    heads_.erase(*entered_[line]);
    entered_[line].reset();
  }
}

std::optional<std::size_t> QueueOrder::next() {
  if (heads_.empty()) {
    return std::nullopt;
  }
  const std::size_t line = std::get<6>(*heads_.begin());
  leave(line);
  const std::size_t position = lines_[line].positions[lines_[line].first++];
  enter(line);
  return position;
}

void QueueOrder::changed(QueueId queue) {
  leave(queue.index());
  enter(queue.index());
}

std::vector<std::size_t> QueueOrder::rest_of(QueueId queue) {
  Line& line = lines_[queue.index()];
  leave(queue.index());
  std::vector<std::size_t> rest(line.positions.begin() + static_cast<std::ptrdiff_t>(line.first), line.positions.end());
  line.first = line.positions.size();
  return rest;
}

void QueueOrder::put_back(QueueId queue, std::size_t count) {
  Line& line = lines_[queue.index()];
  leave(queue.index());
  GANTREE_CHECK(count <= line.positions.size());
  line.first = line.positions.size() - count;
  enter(queue.index());
}

}  // namespace gantree
