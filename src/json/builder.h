// Builds the tree of one document from a stream of events, for both parsers.
//
// Children of a container are collected on a scratch stack and laid down in
// one piece when it ends. Checks what neither parser does: nesting, duplicate
// keys, and how far aliases expand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace gantree::json {

// What the documents of one file live in: text that needed no unescaping is
// read straight from the source.
struct Storage {
  // Values of API objects take two to three times their text. Many small documents are kept: none of them is to have
  // much more than it needs.
  explicit Storage(std::size_t text) : memory(std::clamp<std::size_t>(2 * text, 256, std::size_t{16} << 10)) {}

  std::string source;
  std::pmr::monotonic_buffer_resource memory;

  [[nodiscard]] std::string_view keep(std::string_view text);
};

[[nodiscard]] NodeData make_scalar(Kind kind, std::string_view text, int line);

// A finished value with what an alias to it costs.
struct Built {
  NodeData node;
  std::uint64_t size = 1;  // values in it, aliases expanded
  int height = 0;          // levels of containers in it
};

// Each call returns false once something is wrong; failure() then says what.
class Builder {
 public:
  Builder(std::string_view file, Storage& storage) : file_(file), storage_(storage) {}

  void start();  // a new document; forgets what is unfinished
  bool begin(Kind container, int line);
  bool key(std::string_view key, int line);  // in an object, before each value
  bool merge_key(int line);                  // the key <<: the object takes in what its value holds
  bool end();
  bool add(const Built& built, int line);
  bool add(const NodeData& scalar) { return add(Built{.node = scalar}, scalar.line); }

  [[nodiscard]] bool in_object() const { return !open_.empty() && open_.back().kind == Kind::kObject; }
  [[nodiscard]] bool awaits_key() const { return in_object() && !open_.back().has_key; }
  [[nodiscard]] std::size_t depth() const { return open_.size(); }
  // The value that was finished last; the root after the last end().
  [[nodiscard]] const Built& last() const { return last_; }

  bool fail_at(int line, std::string_view what, Errc code = Errc::kInvalid);
  [[nodiscard]] const Error& failure() const { return failure_; }

 private:
  struct Open {
    Kind kind = Kind::kNull;
    bool has_key = false;
    bool merge = false;   // the pending key is <<
    bool merges = false;  // one of the children has the key <<
    int line = 0;
    int key_line = 0;
    int height = 0;
    std::size_t first_child = 0;
    std::uint64_t size = 1;
    std::string_view key = {};
  };
  struct Child {
    MemberData member;
    int key_line = 0;
    bool merge = false;
  };

  void attach(const Built& built);
  bool apply_merges(std::size_t first_child);
  bool check_unique(std::size_t first_child);
  bool report_duplicate(std::size_t child);
  [[nodiscard]] NodeData lay_down(const Open& open);

  std::string_view file_;
  Storage& storage_;
  std::vector<Open> open_;
  std::vector<Child> children_;
  std::vector<std::uint32_t> order_;  // scratch of check_unique
  std::uint64_t expanded_ = 0;        // values that aliases added to this document
  Built last_;
  Error failure_;
};

}  // namespace gantree::json
