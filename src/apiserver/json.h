// JSON as the embedded API server holds it: Boost.JSON's values, read and written by our own rules.
//
// Boost's own reader gets some doubles wrong by a bit and lets the last of two equal keys win, and its writer prints
// 0.1 as 1E-1. Nothing else in src/apiserver calls boost::json::parse or serialize.
//
// Values hold no locks: one thread at a time. Members of objects keep the order in which they came; erase them with
// Object::stable_erase, since erase() moves the last one to the gap.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gantree::apiserver {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

// How deep arrays and objects may lie in each other, in whatever is read.
inline constexpr std::size_t kMaxDepth = 256;
// The same of objects that are to be stored. The account of who owns which field, which is as deep as the object, lies
// a few steps deep in it, and what is stored must be readable again: so this is less.
inline constexpr std::size_t kMaxObjectDepth = 128;
[[nodiscard]] std::size_t depth_of(const Value& value);  // 0 of texts and numbers

// One value, with nothing but blanks around it. Untrusted input: refuses text that is no JSON or no UTF-8, is nested
// deeper than kMaxDepth, or has a key twice in one object. Whole numbers that fit are int64, else uint64; other numbers
// are the nearest double.
[[nodiscard]] Result<Value> parse_json(std::string_view text);

// The same for text that is known to be sound, without what nobody asks for: `wanted` is told each key of the outermost
// object, with "", and each key of the objects right in it, with the key that those have. What it refuses is passed
// over. Keys twice are found only in what is taken in.
using Wanted = std::function<bool(std::string_view outer, std::string_view key)>;
[[nodiscard]] Result<Value> parse_json_parts(std::string_view text, const Wanted& wanted);

// Without blanks; doubles in the fewest digits that read back as the same: 1, 0.1, 1e+22.
void append_json(std::string& out, const Value& value);
void append_json(std::string& out, const Object& value);
// Text in quotes.
void append_json_text(std::string& out, std::string_view text);
[[nodiscard]] std::string to_json(const Value& value);
[[nodiscard]] std::string to_json(const Object& value);

// What lies at the end of the keys; nullptr where a step is missing or no object.
[[nodiscard]] const Value* find(const Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] const Value* find(const Object& object, std::initializer_list<std::string_view> keys);
[[nodiscard]] Value* find(Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] Value* find(Object& object, std::initializer_list<std::string_view> keys);

// The same where it must be of a kind: text that is not there reads as "", objects and arrays as nullptr.
[[nodiscard]] std::string_view text_at(const Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] std::string_view text_at(const Object& object, std::initializer_list<std::string_view> keys);
[[nodiscard]] const Object* object_at(const Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] const Object* object_at(const Object& object, std::initializer_list<std::string_view> keys);
[[nodiscard]] const Array* array_at(const Value& value, std::initializer_list<std::string_view> keys);
[[nodiscard]] const Array* array_at(const Object& object, std::initializer_list<std::string_view> keys);

// The object at the key, made where there is none. Something else there is put out of the way.
[[nodiscard]] Object& object_in(Object& object, std::string_view key);

// Takes members away, those that are there. The order of the others stays. In one go, since stable_erase() moves all
// that follow, which for many members takes minutes.
void erase_keys(Object& object, const std::vector<std::string>& keys);

[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] bool begins_character(char c);  // of UTF-8
[[nodiscard]] std::int64_t characters_in(std::string_view text);
// Text of a value that is a string, else "".
[[nodiscard]] std::string_view text_of(const Value& value);
// Equal as JSON: the order of members does not count, and 1 is 1.0.
[[nodiscard]] bool same(const Value& a, const Value& b);
[[nodiscard]] bool same(const Object& a, const Object& b);

// A text that two values share exactly where they are the same(): so that one of many can be looked up.
[[nodiscard]] std::string identity_text(const Value& value);

// An object as a value for as long as this lives, without the copy that Value(object) makes. Until then the object is
// empty.
class Lent {
 public:
  explicit Lent(Object& object) : object_(object), value_(std::move(object)) {}
  ~Lent() { object_ = std::move(value_.get_object()); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  [[nodiscard]] Value& operator*() { return value_; }

 private:
  Object& object_;
  Value value_;  // stays an object
};

}  // namespace gantree::apiserver
