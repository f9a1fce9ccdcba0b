#include "json/decode.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace gantree::json {
namespace {

// Appends the way from `from` to `target`; false (and no change) if it is not
// there. Only errors come here, so the search may be slow.
bool find_path(Value from, Value target, std::string& path) {
  if (from.data() == target.data()) {
    return true;
  }
  const std::size_t length = path.size();
  if (from.kind() == Kind::kArray) {
    std::size_t index = 0;
    for (const NodeData& item : from.items()) {
      path += fmt::format("[{}]", index++);
      if (find_path(Value(&item), target, path)) {
        return true;
      }
      path.resize(length);
    }
  } else if (from.kind() == Kind::kObject) {
    for (const MemberData& entry : from.members()) {
      // Label names have dots of their own.
      const bool simple = entry.key.find_first_of("./[] ") == std::string_view::npos && !entry.key.empty();
      path += simple ? fmt::format("{}{}", path.empty() ? "" : ".", entry.key) : fmt::format("[\"{}\"]", entry.key);
      if (find_path(Value(&entry.value), target, path)) {
        return true;
      }
      path.resize(length);
    }
  }
  return false;
}

std::optional<std::int64_t> based_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (text.size() < 2 || text[0] != '0') {
    return std::nullopt;
  }
  const int base = text[1] == 'x' ? 16 : text[1] == 'b' ? 2 : 8;
  text.remove_prefix(text[1] == 'x' || text[1] == 'b' || text[1] == 'o' ? 2 : 1);
  const std::string digits = negative ? fmt::format("-{}", text) : std::string(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

// An integer in any of the ways that YAML 1.1 and JSON write one; 010 is 8, as
// in Kubernetes.
std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const char* first = text.data();
  const char* last = first + text.size();
  const bool leading_zero = text.size() > 1 && text.find_first_not_of("+-") == text.find('0');
  if (!leading_zero) {
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc{} && end == last) {
      return value;
    }
  } else if (const auto based = based_integer(text)) {
    return based;
  }
  const Result<std::int64_t> down = parse_quantity(text, Unit::kOne, Round::kDown);
  const Result<std::int64_t> up = parse_quantity(text, Unit::kOne, Round::kUp);
  return down && up && *down == *up ? std::optional(*down) : std::nullopt;
}

}  // namespace

std::string to_string(const Place& place) {
  return fmt::format("{}:{}", place.file, place.line);
}

void Reader::complain(Value at, std::string_view message) {
  if (error_) {
    return;
  }
  const int line = at ? at.line() : root_.line();
  const std::string place = line > 0 ? to_string(Place{.file = file_, .line = line}) : std::string(file_);
  error_ = Error{Errc::kInvalid, subject_.empty() ? fmt::format("{}: {}", place, message)
                                                  : fmt::format("{}: {}: {}", place, subject_, message)};
}

std::string Reader::path(Value value) const {
  std::string path;
  if (root_ && value) {
    find_path(root_, value, path);
  }
  return path;
}

std::string Reader::name(Value value, std::string_view what) const {
  const std::string known = path(value);
  return known.empty() ? std::string(what) : known;
}

void Reader::missing(Value parent, std::string_view key) {
  const std::string prefix = path(parent);
  complain(parent, fmt::format("{}{}{} is missing", prefix, prefix.empty() ? "" : ".", key));
}

bool Reader::expect(Value value, std::string_view what, Kind kind) {
  if (value && value.kind() == kind) {
    return true;
  }
  if (!ok()) {
    return false;
  }
  if (!value) {
    complain(value, fmt::format("{} is missing", what));
    return false;
  }
  // Unquoted label values such as 1 or on are the usual mistake.
  const bool unquoted = kind == Kind::kString && (value.kind() == Kind::kNumber || value.kind() == Kind::kBool);
  complain(value, fmt::format("{} must be {}, not {}{}", name(value, what), to_string(kind), to_string(value.kind()),
                              unquoted ? " (put it in quotes)" : ""));
  return false;
}

Value Reader::any(Value parent, std::string_view key) {
  if (!parent || parent.kind() == Kind::kNull || !expect(parent, "the value", Kind::kObject)) {
    return {};
  }
  const Value value = parent[key];
  return value && value.kind() != Kind::kNull ? value : Value();
}

Value Reader::member(Value parent, std::string_view key, Kind kind) {
  const Value value = any(parent, key);
  return value && expect(value, key, kind) ? value : Value();
}

Value Reader::require(Value parent, std::string_view key, Value found) {
  if (!found && ok()) {
    missing(parent, key);
  }
  return found;
}

Value Reader::object(Value parent, std::string_view key) {
  return member(parent, key, Kind::kObject);
}
Value Reader::array(Value parent, std::string_view key) {
  return member(parent, key, Kind::kArray);
}

Value Reader::texts(Value parent, std::string_view key) {
  const Value object = member(parent, key, Kind::kObject);
  if (object) {
    for (const MemberData& entry : object.members()) {
      if (!expect(Value(&entry.value), entry.key, Kind::kString)) {
        return {};
      }
    }
  }
  return object;
}

Value Reader::require_object(Value parent, std::string_view key) {
  return require(parent, key, object(parent, key));
}
Value Reader::require_array(Value parent, std::string_view key) {
  return require(parent, key, array(parent, key));
}

std::optional<std::string_view> Reader::text(Value parent, std::string_view key) {
  const Value value = member(parent, key, Kind::kString);
  return value ? std::optional(value.text()) : std::nullopt;
}

std::string_view Reader::require_text(Value parent, std::string_view key) {
  const Value value = require(parent, key, member(parent, key, Kind::kString));
  if (!value) {
    return {};
  }
  if (value.text().empty()) {
    complain(value, fmt::format("{} must not be empty", name(value, key)));
  }
  return value.text();
}

std::optional<bool> Reader::boolean(Value parent, std::string_view key) {
  const Value value = member(parent, key, Kind::kBool);
  return value ? std::optional(value.text() == "true") : std::nullopt;
}

std::optional<std::int64_t> Reader::integer(Value parent, std::string_view key, std::int64_t min, std::int64_t max) {
  const Value value = any(parent, key);
  return value ? as_integer(value, key, min, max) : std::nullopt;
}

std::optional<std::int64_t> Reader::quantity(Value parent, std::string_view key, Unit unit, Round round,
                                             std::int64_t min) {
  const Value value = any(parent, key);
  return value ? as_quantity(value, key, unit, round, min) : std::nullopt;
}

std::string_view Reader::as_text(Value value, std::string_view what) {
  return expect(value, what, Kind::kString) ? value.text() : std::string_view{};
}

Value Reader::as_object(Value value, std::string_view what) {
  return expect(value, what, Kind::kObject) ? value : Value();
}

std::optional<std::int64_t> Reader::as_integer(Value value, std::string_view what, std::int64_t min, std::int64_t max) {
  if (!expect(value, what, Kind::kNumber)) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = integer_of(value.text());
  if (!number) {
    complain(value, fmt::format("{} must be an integer, not {}", name(value, what), value.text()));
    return std::nullopt;
  }
  if (*number < min || *number > max) {
    complain(value, max == std::numeric_limits<std::int64_t>::max()
                        ? fmt::format("{} must be at least {}, not {}", name(value, what), min, *number)
                        : fmt::format("{} must be from {} to {}, not {}", name(value, what), min, max, *number));
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> Reader::as_quantity(Value value, std::string_view what, Unit unit, Round round,
                                                std::int64_t min) {
  const bool number = value && value.kind() == Kind::kNumber;
  if (!number && !expect(value, what, Kind::kString)) {
    return std::nullopt;
  }
  const Result<std::int64_t> amount = parse_quantity(value.text(), unit, round);
  if (!amount) {
    complain(value, fmt::format("{}: {}", name(value, what), amount.error().message));
    return std::nullopt;
  }
  if (*amount < min) {
    complain(value, fmt::format("{} must be at least {}, not {}", name(value, what), format_quantity(min, unit),
                                value.text()));
    return std::nullopt;
  }
  return *amount;
}

}  // namespace gantree::json
