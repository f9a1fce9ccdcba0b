#include "json/value.h"

#include "base/check.h"

namespace gantree::json {

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "?";
}

Kind Value::kind() const {
  GANTREE_CHECK(present());
  return data_->kind;
}

int Value::line() const {
  return present() ? data_->line : 0;
}

std::string_view Value::text() const {
  const bool has_text = kind() == Kind::kString || kind() == Kind::kNumber || kind() == Kind::kBool;
  GANTREE_CHECK(has_text);
  return {static_cast<const char*>(data_->content), data_->size};
}

std::span<const NodeData> Value::items() const {
  GANTREE_CHECK(kind() == Kind::kArray);
  return {static_cast<const NodeData*>(data_->content), data_->size};
}

std::span<const MemberData> Value::members() const {
  GANTREE_CHECK(kind() == Kind::kObject);
  return {static_cast<const MemberData*>(data_->content), data_->size};
}

Value Value::operator[](std::string_view key) const {
  if (!present() || data_->kind != Kind::kObject) {
    return {};
  }
  for (const MemberData& member : members()) {
    if (member.key == key) {
      return Value(&member.value);
    }
  }
  return {};
}

}  // namespace gantree::json
