#include "apiserver/cel_special.h"

#include <array>

#include "base/duration.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

namespace {

// No field has such a name. Whoever writes one as the key of a map deceives the rules on his own object alone.
constexpr auto kKeys = std::to_array<std::string_view>(
    {"\x01quantity", "\x01duration", "\x01timestamp", "\x01ip", "\x01cidr", "\x01url", "\x01optional", "\x01type"});
constexpr auto kLongTypeNames =
    std::to_array<std::string_view>({"kubernetes.Quantity", "google.protobuf.Duration", "google.protobuf.Timestamp",
                                     "net.IP", "net.CIDR", "kubernetes.URL", "optional_type", "type"});

}  // namespace

Value special(Special kind, Value content) {
  Object object;
  object.emplace(kKeys[static_cast<std::size_t>(kind)], std::move(content));
  return object;
}

const Value* special_of(const Value& value, Special kind) {
  const Object* object = value.if_object();
  return object == nullptr || object->size() != 1 ? nullptr
                                                  : object->if_contains(kKeys[static_cast<std::size_t>(kind)]);
}

std::optional<Special> special_kind(const Value& value) {
  for (std::size_t i = 0; value.is_object() && value.get_object().size() == 1 && i < kKeys.size(); ++i) {
    if (value.get_object().contains(kKeys[i])) {
      return static_cast<Special>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_of(const Value& value, Special kind) {
  if (const Value* content = special_of(value, kind)) {
    return content->is_int64() ? std::optional(content->get_int64()) : std::nullopt;
  }
  if (kind == Special::kDuration && value.is_string()) {
    const auto duration = parse_duration(text_of(value));
    return duration ? std::optional<std::int64_t>(duration->count()) : std::nullopt;
  }
  return kind == Special::kTimestamp && value.is_string() ? parse_time(text_of(value)) : std::nullopt;
}

Value optional_value(const Value* value) {
  return special(Special::kOptional, value == nullptr ? Array() : Array{*value});
}

const Value* value_in(const Value& optional) {
  const Value* content = special_of(optional, Special::kOptional);
  const Array* array = content == nullptr ? nullptr : content->if_array();
  return array == nullptr || array->empty() ? nullptr : &array->front();
}

std::string_view type_name(const Value& value) {
  if (const auto kind = special_kind(value)) {
    return kLongTypeNames[static_cast<std::size_t>(*kind)];
  }
  switch (value.kind()) {
    case boost::json::kind::bool_:
      return "bool";
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
      return "int";
    case boost::json::kind::double_:
      return "double";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "list";
    case boost::json::kind::object:
      return "map";
    case boost::json::kind::null:
      break;
  }
  return "null_type";
}

}  // namespace gantree::apiserver
