// Lists that are read page by page: each is kept as it was when it began, for a few minutes, or until it is read and a
// few seconds more. Api thread only.
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

  // The first page. `scope` says what the list is of, in any words: whoever goes on has to use the same.
  [[nodiscard]] Page begin(std::string scope, std::vector<Entry> entries, std::uint64_t revision, std::size_t limit,
                           Clock::time_point now);
  // A further page; nothing where the token is of none, too old, or of a list of something else. Tokens are easy to
  // make up, so that one alone must not lead to what its bearer may not list.
  [[nodiscard]] std::optional<Page> go_on(std::string_view scope, std::string_view token, std::size_t limit,
                                          Clock::time_point now);
  // Forgets those whose time is over.
  void clear(Clock::time_point now);
  [[nodiscard]] std::size_t count() const { return snapshots_.size(); }

 private:
  struct Snapshot {
    std::uint64_t id = 0;
    std::string scope;
    std::vector<Entry> entries;
    std::uint64_t revision = 0;
    Clock::time_point until;
    std::size_t bytes = 0;  // of its objects; most of them are those of the store
  };
  [[nodiscard]] static Page page(const Snapshot& snapshot, std::size_t from, std::size_t limit);

  std::deque<Snapshot> snapshots_;
  std::size_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace gantree::apiserver
