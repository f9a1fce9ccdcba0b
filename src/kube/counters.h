// What the client did, counted for the metrics page.
//
// Thread rule: written on the transport's thread, read on any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gantree::kube {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kBind, kEvict, kDelete };
inline constexpr std::size_t kVerbs = 9;
[[nodiscard]] std::string_view to_string(Verb verb);  // "get"

// The answers that are distinguished.
enum class Code : std::uint8_t {
  k2xx,  // and 304
  k400,
  k401,
  k403,
  k404,
  k409,
  k410,
  k422,
  k429,
  kOther4xx,
  k500,
  k503,
  k504,
  kOther5xx,
  kOther,    // neither of these classes
  kNotSent,  // no connection
  kUnknown,  // no answer, or one that was cut
};
inline constexpr std::size_t kCodes = 17;
[[nodiscard]] std::string_view to_string(Code code);  // "2xx", "409", "not_sent", ...
[[nodiscard]] Code code_of(int http_status);

struct Counters {
  using Count = std::atomic<std::uint64_t>;

  std::array<std::array<Count, kCodes>, kVerbs> requests{};  // every attempt
  Count retries{};
  Count in_flight{};       // calls sent and not answered, now
  Count queued{};          // calls that wait for a place, now
  Count watch_starts{};    // the first one of a reflector, and each after a cut
  Count watch_failures{};  // watches that ended otherwise than in order
  Count relists{};         // lists after the first one
  Count watch_events{};    // without bookmarks
  Count dropped_events{};  // seen before

  void count(Verb verb, Code code) {
    requests[static_cast<std::size_t>(verb)][static_cast<std::size_t>(code)].fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace gantree::kube
