// Reads what lists and watches send, object by object, without decoding the objects themselves.
//
// For text of an API server only: what is skipped is not checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kube/object_ref.h"

namespace gantree::kube {

inline constexpr std::size_t kJsonPadding = 64;

struct ListEnd {
  std::string resource_version;
  std::string continue_token;  // empty: that was the last page
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError, kOther };

// Views are valid until the next call of the reader, and as long as the text read.
struct WatchEvent {
  EventType type = EventType::kOther;
  ObjectRef object;       // of bookmarks only resource_version is set
  std::string_view json;  // the object's text
  int error_code = 0;     // kError only
  std::string_view error_message;
};

// Keeps its buffers between calls.
class ObjectReader {
 public:
  ObjectReader();
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  using Visit = std::function<void(const ObjectRef& object, std::string_view json)>;
  // One page of a list, in order; what was visited before an error stays visited. kJsonPadding bytes behind `text`
  // must be readable; each object's text has them too.
  [[nodiscard]] Result<ListEnd> read_list(std::string_view text, const Visit& visit);
  // One event of a watch, padded likewise.
  [[nodiscard]] Result<WatchEvent> read_event(std::string_view text);

 private:
  struct Parsers;
  std::unique_ptr<Parsers> parsers_;
};

// Cuts a stream into lines, holding no more than the one that is not complete.
class LineBuffer {
 public:
  explicit LineBuffer(std::size_t max_line) : max_line_(max_line) {}
  // Calls `line` for each line that is complete now, padded by kJsonPadding; false from it ends the call and drops the
  // rest. False: a line is longer than allowed, or `line` said so.
  [[nodiscard]] bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& line);
  void clear();

 private:
  std::size_t max_line_;
  std::string buffer_;
};

}  // namespace gantree::kube
