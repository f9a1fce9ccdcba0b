// A parsed YAML or JSON document: a tree of values that know their line.
//
// A Value is a cheap handle into its Document and is valid as long as that
// lives. Reading a wrong kind is a programmer error (checked); decode.h has
// the forgiving readers that report "file:line: what is wrong".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gantree::json {

enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
[[nodiscard]] const char* to_string(Kind kind);  // "a string", "a list", "an object", ...

struct NodeData;
struct MemberData;

class Value {
 public:
  Value() = default;  // absent
  explicit Value(const NodeData* data) : data_(data) {}

  [[nodiscard]] bool present() const { return data_ != nullptr; }
  [[nodiscard]] explicit operator bool() const { return present(); }
  [[nodiscard]] Kind kind() const;
  [[nodiscard]] int line() const;  // 1-based
  // The text of a string (unescaped), or of a number or bool as written.
  [[nodiscard]] std::string_view text() const;

  // Arrays.
  [[nodiscard]] std::span<const NodeData> items() const;  // wrap each as Value(&item)
  // Objects, in the order written. Keys are unique.
  [[nodiscard]] std::span<const MemberData> members() const;
  // The member of that name; absent where there is none or this is no object.
  [[nodiscard]] Value operator[](std::string_view key) const;

  // The identity of the value within its document; null where absent.
  [[nodiscard]] const NodeData* data() const { return data_; }

 private:
  const NodeData* data_ = nullptr;
};

struct NodeData {
  Kind kind = Kind::kNull;
  std::int32_t line = 0;
  std::uint32_t size = 0;         // characters, items or members
  const void* content = nullptr;  // char, NodeData or MemberData
};

struct MemberData {
  std::string_view key;
  NodeData value;
};

// Owns the arena behind its values.
class Document {
 public:
  Document(std::string file, std::shared_ptr<const void> storage, Value root)
      : file_(std::move(file)), storage_(std::move(storage)), root_(root) {}
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] Value root() const { return root_; }

 private:
  std::string file_;
  std::shared_ptr<const void> storage_;
  Value root_;
};

}  // namespace gantree::json
