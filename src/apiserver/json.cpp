#include "apiserver/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/json_twice.h"

namespace gantree::apiserver {

namespace {

using boost::system::error_code;

std::string_view view(boost::json::string_view text) {
  return {text.data(), text.size()};
}

// Of fields that are there twice.
constexpr std::size_t kMostTold = 100;

// Puts the parts that Boost's parser finds together to a value.
class Builder {
 public:
  static constexpr std::size_t max_object_size = Object::max_size();
  static constexpr std::size_t max_array_size = Array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();

  // Null where all is wanted, and where no key may be there twice.
  explicit Builder(const Wanted* wanted = nullptr, std::vector<std::string>* twice = nullptr)
      : wanted_(wanted), twice_(twice) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return open(Object()); }
  bool on_object_end(std::size_t, error_code& error) { return close(error); }
  bool on_array_begin(error_code&) { return open(Array()); }
  bool on_array_end(std::size_t, error_code& error) { return close(error); }
  bool on_key_part(boost::json::string_view text, std::size_t, error_code&) { return gather(text); }
  bool on_key(boost::json::string_view text, std::size_t, error_code&) {
    if (skipped_ > 0) {
      return true;
    }
    gather(text);
    frames_.back().key.swap(text_);
    text_.clear();
    if (wanted_ != nullptr && frames_.size() <= 2 &&
        !(*wanted_)(frames_.size() == 2 ? std::string_view(frames_.front().key) : std::string_view(),
                    frames_.back().key)) {
      skipped_ = 1;
    }
    return true;
  }
  bool on_string_part(boost::json::string_view text, std::size_t, error_code&) { return gather(text); }
  bool on_string(boost::json::string_view text, std::size_t, error_code& error) {
    if (skipped_ > 0) {
      return skip();
    }
    if (text_.empty()) {
      return add(Value(text), error);
    }
    gather(text);
    return add(Value(std::exchange(text_, {})), error);
  }
  bool on_number_part(boost::json::string_view text, error_code&) { return gather(text); }
  bool on_int64(std::int64_t number, boost::json::string_view, error_code& error) {
    text_.clear();
    return skipped_ > 0 ? skip() : add(Value(number), error);
  }
  bool on_uint64(std::uint64_t number, boost::json::string_view, error_code& error) {
    text_.clear();
    return skipped_ > 0 ? skip() : add(Value(number), error);
  }
  bool on_double(double guess, boost::json::string_view text, error_code& error) {
    if (skipped_ > 0) {
      return skip();
    }
    gather(text);
    double exact = guess;
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), exact);
    if (read.ec != std::errc{} || !std::isfinite(exact)) {
      complaint_ = fmt::format("the number {} is out of range", text_);
      error = boost::json::error::syntax;
      return false;
    }
    text_.clear();
    return add(Value(exact), error);
  }
  bool on_bool(bool value, error_code& error) { return skipped_ > 0 ? skip() : add(Value(value), error); }
  bool on_null(error_code& error) { return skipped_ > 0 ? skip() : add(Value(nullptr), error); }
  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }

  [[nodiscard]] Value take() { return std::move(result_); }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  struct Frame {
    Value container;
    std::string key;
  };

  bool gather(boost::json::string_view text) {
    if (skipped_ == 0) {
      text_.append(text.data(), text.size());
    }
    return true;
  }
  // A value without members, in what is passed over or as the whole of it.
  bool skip() {
    skipped_ = skipped_ == 1 ? 0 : skipped_;
    return true;
  }
  bool open(Value container) {
    if (skipped_ > 0) {
      ++skipped_;
      return true;
    }
    frames_.push_back({std::move(container), {}});
    return true;
  }
  bool close(error_code& error) {
    if (skipped_ > 0) {
      --skipped_;
      return skip();
    }
    Value done = std::move(frames_.back().container);
    frames_.pop_back();
    return add(std::move(done), error);
  }
  bool add(Value value, error_code& error) {
    if (frames_.empty()) {
      result_ = std::move(value);
      return true;
    }
    Frame& frame = frames_.back();
    if (Array* array = frame.container.if_array()) {
      array->push_back(std::move(value));
      return true;
    }
    const auto [member, fresh] = frame.container.get_object().emplace(frame.key, nullptr);
    if (!fresh && twice_ == nullptr) {
      complaint_ = fmt::format("the field \"{}\" is there twice", frame.key);
      error = boost::json::error::syntax;
      return false;
    }
    if (!fresh && twice_->size() < kMostTold) {
      twice_->push_back(path());
    }
    member->value() = std::move(value);
    return true;
  }

  // Of the value that comes next, as "spec.containers[0].name".
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (const Array* array = frame.container.if_array()) {
        path += fmt::format("[{}]", array->size());
      } else {
        path += (path.empty() ? "" : ".") + frame.key;
      }
    }
    return path;
  }

  const Wanted* wanted_;
  std::vector<std::string>* twice_;
  // 0: nothing is passed over; else 1 more than the number of containers that are open in what is.
  std::size_t skipped_ = 0;
  std::vector<Frame> frames_;
  std::string text_;  // what has come of a string, key or number
  Value result_;
  std::string complaint_;
};

void append_number(std::string& out, auto number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  out.append(text.data(), end);
}

void append_array(std::string& out, const Array& array) {
  out += '[';
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    append_json(out, array[i]);
  }
  out += ']';
}

template <class V, class O>
V* step_through(O* object, std::initializer_list<std::string_view> keys) {
  V* value = nullptr;
  for (const std::string_view key : keys) {
    value = object == nullptr ? nullptr : object->if_contains(key);
    if (value == nullptr) {
      return nullptr;
    }
    object = value->if_object();
  }
  return value;
}

}  // namespace

namespace {

Result<Value> parse(std::string_view text, const Wanted* wanted, std::vector<std::string>* twice = nullptr) {
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::basic_parser<Builder> parser(options, wanted, twice);
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) {
    error = boost::json::error::extra_data;
  }
  if (error) {
    const std::string& complaint = parser.handler().complaint();
    return invalid(
        fmt::format("the JSON cannot be read at byte {}: {}", read, complaint.empty() ? error.message() : complaint));
  }
  return parser.handler().take();
}

}  // namespace

Result<Value> parse_json(std::string_view text) {
  return parse(text, nullptr);
}

Result<Value> parse_json(std::string_view text, std::vector<std::string>& twice) {
  return parse(text, nullptr, &twice);
}

Result<Value> parse_json_parts(std::string_view text, const Wanted& wanted) {
  return parse(text, &wanted);
}

namespace {

// The bytes of the letter that begins the text, by UTF-8; 0 where it is none.
std::size_t letter_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first < 0xE0) {
    return follows(1) ? 2 : 0;
  }
  // Neither longer than it must be, nor half of a pair, nor beyond what there is.
  const bool odd = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                   (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
  if (first >= 0xE0 && first < 0xF0) {
    return !odd && follows(1) && follows(2) ? 3 : 0;
  }
  return first >= 0xF0 && first < 0xF5 && !odd && follows(1) && follows(2) && follows(3) ? 4 : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = letter_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::size_t depth_of(const Value& value) {
  std::size_t deepest = 0;
  if (const Array* array = value.if_array(); array != nullptr) {
    for (const Value& item : *array) {
      deepest = std::max(deepest, depth_of(item));
    }
    return deepest + 1;
  }
  const Object* object = value.if_object();
  if (object == nullptr) {
    return 0;
  }
  for (const auto& member : *object) {
    deepest = std::max(deepest, depth_of(member.value()));
  }
  return deepest + 1;
}

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

std::int64_t characters_in(std::string_view text) {
  return std::count_if(text.begin(), text.end(), begins_character);
}

void erase_keys(Object& object, const std::vector<std::string>& keys) {
  static constexpr std::size_t kFew = 8;
  if (keys.size() <= kFew) {
    for (const std::string& key : keys) {
      object.stable_erase(key);
    }
    return;
  }
  const std::unordered_set<std::string_view> gone(keys.begin(), keys.end());
  Object kept;
  for (auto& member : object) {
    if (!gone.contains(view(member.key()))) {
      kept.emplace(member.key(), std::move(member.value()));
    }
  }
  object = std::move(kept);
}

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      // What came in a URL may be anything.
      const std::size_t length = letter_length(text.substr(i));
      if (length > 0) {
        i += length - 1;
        continue;
      }
      out.append(text.substr(done, i - done));
      done = i + 1;
      out += "\\ufffd";
      continue;
    }
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20) {
      continue;
    }
    out.append(text.substr(done, i - done));
    done = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
  }
  out.append(text.substr(done));
  out += '"';
}

void append_json(std::string& out, const Object& object) {
  out += '{';
  bool first = true;
  for (const auto& member : object) {
    if (!std::exchange(first, false)) {
      out += ',';
    }
    append_json_text(out, view(member.key()));
    out += ':';
    append_json(out, member.value());
  }
  out += '}';
}

void append_json(std::string& out, const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      break;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case boost::json::kind::int64:
      append_number(out, value.get_int64());
      break;
    case boost::json::kind::uint64:
      append_number(out, value.get_uint64());
      break;
    case boost::json::kind::double_:
      append_number(out, value.get_double());
      break;
    case boost::json::kind::string:
      append_json_text(out, text_of(value));
      break;
    case boost::json::kind::array:
      append_array(out, value.get_array());
      break;
    case boost::json::kind::object:
      append_json(out, value.get_object());
      break;
  }
}

std::string to_json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

std::string to_json(const Object& value) {
  std::string out;
  append_json(out, value);
  return out;
}

const Value* find(const Object& object, std::initializer_list<std::string_view> keys) {
  return step_through<const Value>(&object, keys);
}
const Value* find(const Value& value, std::initializer_list<std::string_view> keys) {
  return step_through<const Value>(value.if_object(), keys);
}
Value* find(Object& object, std::initializer_list<std::string_view> keys) {
  return step_through<Value>(&object, keys);
}
Value* find(Value& value, std::initializer_list<std::string_view> keys) {
  return step_through<Value>(value.if_object(), keys);
}

std::string_view text_at(const Value& value, std::initializer_list<std::string_view> keys) {
  const Value* found = find(value, keys);
  return found == nullptr ? std::string_view() : text_of(*found);
}
std::string_view text_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Value* found = find(object, keys);
  return found == nullptr ? std::string_view() : text_of(*found);
}
const Object* object_at(const Value& value, std::initializer_list<std::string_view> keys) {
  const Value* found = find(value, keys);
  return found == nullptr ? nullptr : found->if_object();
}
const Object* object_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Value* found = find(object, keys);
  return found == nullptr ? nullptr : found->if_object();
}
const Array* array_at(const Value& value, std::initializer_list<std::string_view> keys) {
  const Value* found = find(value, keys);
  return found == nullptr ? nullptr : found->if_array();
}
const Array* array_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Value* found = find(object, keys);
  return found == nullptr ? nullptr : found->if_array();
}

Object& object_in(Object& object, std::string_view key) {
  Value& value = object[key];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

std::string_view text_of(const Value& value) {
  const boost::json::string* text = value.if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

bool same(const Object& a, const Object& b) {
  // Mostly both have the same order, and then nothing has to be looked up.
  auto beside = b.begin();
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& member) {
           const auto& next = *beside++;
           const Value* other = next.key() == member.key() ? &next.value() : b.if_contains(member.key());
           return other != nullptr && same(member.value(), *other);
         });
}

bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number() && (a.is_double() || b.is_double())) {
    return a.to_number<double>() == b.to_number<double>();
  }
  if (a.is_object() && b.is_object()) {
    return same(a.get_object(), b.get_object());
  }
  if (a.is_array() && b.is_array()) {
    const Array& left = a.get_array();
    const Array& right = b.get_array();
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const Value& x, const Value& y) { return same(x, y); });
  }
  return a == b;
}

namespace {

void append_identity(std::string& out, const Value& value) {
  if (const Array* array = value.if_array()) {
    out += '[';
    for (const Value& item : *array) {
      append_identity(out, item);
      out += ',';
    }
    out += ']';
  } else if (const Object* object = value.if_object()) {
    std::vector<const Object::value_type*> members;
    for (const auto& member : *object) {
      members.push_back(&member);
    }
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    out += '{';
    for (const auto* member : members) {
      append_json_text(out, member->key());
      out += ':';
      append_identity(out, member->value());
      out += ',';
    }
    out += '}';
  } else {
    append_json(out, value);
  }
}

}  // namespace

std::string identity_text(const Value& value) {
  std::string text;
  append_identity(text, value);
  return text;
}

}  // namespace gantree::apiserver
