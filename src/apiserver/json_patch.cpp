// JSON patch (RFC 6902).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "apiserver/patch.h"

namespace gantree::apiserver {

namespace {

// What a document may grow to by copies of its own parts.
constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;
// How many neighbours may have to move up for what comes and goes, in all.
constexpr std::size_t kMaxMoved = 20'000'000;
// Members of an object whose order is kept when one is removed.
constexpr std::size_t kKeptInOrder = 100;

Result<std::vector<std::string>> read_pointer(std::string_view text) {
  std::vector<std::string> parts;
  if (!text.empty() && text[0] != '/') {
    return invalid(fmt::format("the path \"{}\" does not begin with /", text));
  }
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    std::string part;
    for (std::size_t i = 0; i < end; ++i) {
      const bool escape = text[i] == '~' && i + 1 < end && (text[i + 1] == '0' || text[i + 1] == '1');
      part += escape ? (text[++i] == '0' ? '~' : '/') : text[i];
    }
    parts.push_back(std::move(part));
    text.remove_prefix(end);
  }
  return parts;
}

std::optional<std::size_t> read_index(std::string_view part) {
  std::size_t index = 0;
  const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
  const bool whole = read.ec == std::errc{} && read.ptr == part.data() + part.size();
  if (part.empty() || !whole || (part.size() > 1 && part[0] == '0')) {
    return std::nullopt;
  }
  return index;
}

class Patching {
 public:
  explicit Patching(Value& document) : document_(document) {}

  Result<> apply(const Value& operation) {
    const Object* object = operation.if_object();
    const Value* path = object == nullptr ? nullptr : object->if_contains("path");
    if (object == nullptr || path == nullptr || !path->is_string()) {
      return invalid("an operation of the JSON patch is no object with a path");
    }
    name_ = text_at(*object, {"op"});
    path_ = text_of(*path);
    auto parts = read_pointer(path_);
    if (!parts) {
      return tl::unexpected(parts.error());
    }
    if (name_ == "remove") {
      return remove(*parts);
    }
    if (name_ == "move" || name_ == "copy") {
      return transfer(*object, *parts);
    }
    const Value* value = object->if_contains("value");
    if (name_ != "add" && name_ != "replace" && name_ != "test") {
      return fail(Errc::kNotFound, fmt::format("Unexpected kind: {}", name_));
    }
    if (value == nullptr && name_ != "test") {
      return invalid(fmt::format("{} operation does not apply: the operation has no value", name_));
    }
    if (name_ == "test") {
      return test(*parts, value == nullptr ? Value() : *value);
    }
    return name_ == "add" ? add(*parts, *value) : replace(*parts, *value);
  }

 private:
  tl::unexpected<Error> missing(std::string_view path) const {
    return fail(Errc::kNotFound,
                fmt::format("{0} operation does not apply: doc is missing path: \"{1}\": missing value", name_, path));
  }

  Value* look_up(const std::vector<std::string>& parts, std::size_t count) {
    Value* at = &document_;
    for (std::size_t i = 0; i < count && at != nullptr; ++i) {
      if (Object* object = at->if_object(); object != nullptr) {
        at = object->if_contains(parts[i]);
      } else if (Array* array = at->if_array(); array != nullptr) {
        const auto index = read_index(parts[i]);
        at = index && *index < array->size() ? &(*array)[*index] : nullptr;
      } else {
        at = nullptr;
      }
    }
    return at;
  }

  Result<> add(const std::vector<std::string>& parts, Value value) {
    if (parts.empty()) {
      document_ = std::move(value);
      return {};
    }
    Value* parent = look_up(parts, parts.size() - 1);
    if (parent != nullptr && parent->is_object()) {
      parent->get_object()[parts.back()] = std::move(value);
      return {};
    }
    if (parent == nullptr || !parent->is_array()) {
      return missing(path_);
    }
    Array& array = parent->get_array();
    const auto index = parts.back() == "-" ? std::optional(array.size()) : read_index(parts.back());
    if (!index || *index > array.size()) {
      return fail(Errc::kNotFound,
                  fmt::format("{} operation does not apply: doc is missing path: \"{}\": invalid index", name_, path_));
    }
    if (auto small = move_up(array.size() - *index); !small) {
      return small;
    }
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Result<> remove(const std::vector<std::string>& parts) {
    Value* there = look_up(parts, parts.size());
    if (there == nullptr || parts.empty()) {
      return missing(path_);
    }
    Value* parent = look_up(parts, parts.size() - 1);
    if (Object* object = parent->if_object(); object != nullptr) {
      // Of many members the order does not matter to anybody, and keeping it would move all that follow.
      if (object->size() > kKeptInOrder) {
        object->erase(parts.back());
      } else {
        object->stable_erase(parts.back());
      }
      return {};
    }
    Array& array = parent->get_array();
    if (auto small = move_up(array.size()); !small) {
      return small;
    }
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(*read_index(parts.back())));
    return {};
  }

  Result<> move_up(std::size_t neighbours) {
    moved_ += neighbours;
    return moved_ <= kMaxMoved ? Result<>() : Result<>(fail(Errc::kLimit, "The JSON patch moves too many values"));
  }

  // A member that is not there is added, as clients of the real server are used to; an entry is not.
  Result<> replace(const std::vector<std::string>& parts, const Value& value) {
    Value* there = look_up(parts, parts.size());
    if (there != nullptr) {
      *there = value;
      return {};
    }
    Value* parent = look_up(parts, parts.size() - 1);
    if (parent == nullptr || !parent->is_object()) {
      return missing(path_);
    }
    parent->get_object()[parts.back()] = value;
    return {};
  }

  Result<> test(const std::vector<std::string>& parts, const Value& value) {
    const Value* there = look_up(parts, parts.size());
    if (there == nullptr ? value.is_null() : same(*there, value)) {
      return {};
    }
    return fail(Errc::kNotFound, fmt::format("testing value {} failed: test failed", path_));
  }

  Result<> transfer(const Object& operation, const std::vector<std::string>& to) {
    const std::string_view source = text_at(operation, {"from"});
    auto from = read_pointer(source);
    if (!from || operation.if_contains("from") == nullptr) {
      return invalid(fmt::format("{} operation does not apply: its \"from\" is no path", name_));
    }
    Value* there = look_up(*from, from->size());
    if (there == nullptr) {
      return missing(source);
    }
    if (name_ == "copy") {
      copied_ += to_json(*there).size();
      if (copied_ > kMaxCopiedBytes) {
        return fail(Errc::kLimit,
                    "Unable to complete the copy, the accumulated size increase of copy operations is too large");
      }
      return add(to, *there);
    }
    if (to.size() > from->size() && std::equal(from->begin(), from->end(), to.begin())) {
      return invalid(fmt::format("move operation does not apply: \"{}\" lies in \"{}\"", path_, source));
    }
    Value taken = std::move(*there);
    if (auto done = remove(*from); !done) {
      return done;
    }
    return add(to, std::move(taken));
  }

  Value& document_;
  std::string_view name_;
  std::string_view path_;
  std::size_t copied_ = 0;
  std::size_t moved_ = 0;
};

}  // namespace

Result<> json_patch(Value& document, const Value& patch) {
  const Array* operations = patch.if_array();
  if (operations == nullptr) {
    return invalid("the JSON patch is no list of operations");
  }
  if (operations->size() > kMaxPatchOperations) {
    return fail(Errc::kLimit, fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                          kMaxPatchOperations, operations->size()));
  }
  Value changed = document;
  Patching patching(changed);
  for (const Value& operation : *operations) {
    if (auto done = patching.apply(operation); !done) {
      return done;
    }
  }
  document = std::move(changed);
  return {};
}

}  // namespace gantree::apiserver
