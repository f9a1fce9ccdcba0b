// Lists that are read page by page: each is kept as it was when it began, for a few minutes. Api thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store.h"

namespace gantree::apiserver {

class Snapshots {
 public:
  using Clock = std::chrono::steady_clock;
  struct Page {
    std::vector<Entry> entries;
    std::uint64_t revision = 0;
    std::string next;  // token; "" where this is the last
    std::size_t left = 0;
  };

  // The first page.
  [[nodiscard]] Page begin(std::vector<Entry> entries, std::uint64_t revision, std::size_t limit,
                           Clock::time_point now);
  // A further page; nothing where the token is of none, or too old.
  [[nodiscard]] std::optional<Page> go_on(std::string_view token, std::size_t limit, Clock::time_point now);

 private:
  struct Snapshot {
    std::uint64_t id = 0;
    std::vector<Entry> entries;
    std::uint64_t revision = 0;
    Clock::time_point until;
  };
  [[nodiscard]] static Page page(const Snapshot& snapshot, std::size_t from, std::size_t limit);

  std::deque<Snapshot> snapshots_;
  std::uint64_t last_id_ = 0;
};

}  // namespace gantree::apiserver
