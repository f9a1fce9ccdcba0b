#include "apiserver/protobuf.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/protobuf_reader.h"
#include "base/base64.h"
#include "base/time.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kMagic{"k8s\0", 4};
constexpr std::string_view kMeta = "k8s.io.apimachinery.pkg.apis.meta.v1.";

// Fields whose zero, false or empty text is a wish and not the lack of one.
const std::set<std::string, std::less<>> kMeansSomething = {"replicas",
                                                            "parallelism",
                                                            "completions",
                                                            "backoffLimit",
                                                            "value",
                                                            "priority",
                                                            "runAsUser",
                                                            "runAsGroup",
                                                            "fsGroup",
                                                            "defaultMode",
                                                            "mode",
                                                            "tolerationSeconds",
                                                            "gracePeriodSeconds",
                                                            "terminationGracePeriodSeconds",
                                                            "ttlSecondsAfterFinished",
                                                            "activeDeadlineSeconds",
                                                            "revisionHistoryLimit",
                                                            "backoffLimitPerIndex",
                                                            "maxFailedIndexes",
                                                            "partition",
                                                            "suspend",
                                                            "optional",
                                                            "automountServiceAccountToken",
                                                            "controller",
                                                            "blockOwnerDeletion",
                                                            "orphanDependents",
                                                            "allowPrivilegeEscalation",
                                                            "readOnlyRootFilesystem",
                                                            "runAsNonRoot",
                                                            "privileged",
                                                            "enableServiceLinks",
                                                            "shareProcessNamespace",
                                                            "hostUsers",
                                                            "storageClassName",
                                                            "allowed",
                                                            "served",
                                                            "storage"};

struct Field {
  char label = 'o';
  std::string type;
  std::string name;
};
using Message = std::map<std::uint32_t, Field>;
using Messages = std::map<std::string, Message, std::less<>>;

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

Messages read_messages(std::string_view text) {
  Messages messages;
  Message* current = nullptr;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (next_word(line) == "M") {
      current = &messages[std::string(line)];
      continue;
    }
    const auto number = whole_number<std::uint32_t>(next_word(line));
    const std::string_view label = next_word(line);
    const std::string_view type = next_word(line);
    if (current != nullptr && number && !label.empty()) {
      (*current)[*number] = {label.front(), std::string(type), std::string(line)};
    }
  }
  return messages;
}

// Read once, and then only read.
const Messages& messages() {
  static const Messages kMessages = read_messages(builtin_message_text());
  return kMessages;
}

bool is_message(std::string_view type) {
  return type.find('.') != std::string_view::npos;
}

bool is_nothing(const Value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_int64() && value.get_int64() == 0) || (value.is_bool() && !value.get_bool()) ||
         (value.is_double() && value.get_double() == 0);
}

class Decoder {
 public:
  // Nothing where the bytes are no such message.
  std::optional<Value> decode(std::string_view type, std::string_view bytes, const Schema* schema, int depth) {
    if (depth > kDeepest) {
      return std::nullopt;
    }
    if (auto special = special_value(type, bytes)) {
      return std::move(*special);
    }
    const auto found = messages().find(type);
    if (found == messages().end()) {
      return Value();
    }
    Object object;
    ProtobufReader reader(bytes);
    while (!reader.done()) {
      const auto piece = reader.piece();
      if (!piece) {
        return std::nullopt;
      }
      const auto field = found->second.find(piece->number);
      if (field != found->second.end() && !add(field->second, *piece, schema, depth, object)) {
        return std::nullopt;
      }
    }
    return as_list(type, found->second, std::move(object));
  }

 private:
  // Types that JSON has another form for. An inner nullopt stands for what cannot be read.
  static std::optional<std::optional<Value>> special_value(std::string_view type, std::string_view bytes) {
    const bool is_quantity = type == "k8s.io.apimachinery.pkg.api.resource.Quantity";
    const bool is_time = type == std::string(kMeta) + "Time" || type == std::string(kMeta) + "MicroTime";
    const bool is_either = type == "k8s.io.apimachinery.pkg.util.intstr.IntOrString";
    const bool is_raw = type == "k8s.io.apimachinery.pkg.runtime.RawExtension" ||
                        type == std::string(kMeta) + "FieldsV1" || type.ends_with("apiextensions.v1.JSON");
    if (!is_quantity && !is_time && !is_either && !is_raw) {
      return std::nullopt;
    }
    std::map<std::uint32_t, ProtobufPiece> pieces;
    ProtobufReader reader(bytes);
    while (!reader.done()) {
      const auto piece = reader.piece();
      if (!piece) {
        return std::optional<Value>();
      }
      pieces[piece->number] = *piece;
    }
    if (!is_raw && !(is_utf8(pieces[1].bytes) && is_utf8(pieces[3].bytes))) {
      return std::optional<Value>();
    }
    if (is_quantity) {
      return std::optional<Value>(Value(pieces[1].bytes));
    }
    if (is_raw) {
      auto value = parse_json(pieces[1].bytes.empty() ? "null" : pieces[1].bytes);
      return value ? std::optional<Value>(std::move(*value)) : std::optional<Value>();
    }
    if (is_either) {
      return pieces[1].integer == 1
                 ? std::optional<Value>(Value(pieces[3].bytes))
                 : std::optional<Value>(Value(static_cast<std::int64_t>(static_cast<std::int32_t>(pieces[2].integer))));
    }
    return std::optional<Value>(time_value(pieces, type.ends_with("MicroTime")));
  }

  static Value time_value(std::map<std::uint32_t, ProtobufPiece>& pieces, bool micro) {
    const auto seconds = static_cast<std::int64_t>(pieces[1].integer);
    // Outside the years that can be written, and where none is given.
    if (pieces.empty() || seconds <= 0 || seconds > 253'402'300'799) {
      return nullptr;
    }
    const auto nanos = static_cast<std::int64_t>(pieces[2].integer);
    const Time time{std::chrono::seconds(seconds) + std::chrono::milliseconds(nanos / 1'000'000)};
    return Value(micro ? rfc3339_micro(time) : rfc3339(time));
  }

  // Texts in a list that has a name of its own.
  static Value as_list(std::string_view type, const Message& message, Object object) {
    const bool is_list = message.size() == 1 && message.begin()->second.name == "items" &&
                         message.begin()->second.label == 'r' && !type.ends_with("List");
    if (!is_list) {
      return Value(std::move(object));
    }
    Value* items = object.if_contains("items");
    return items == nullptr ? Value(Array()) : std::move(*items);
  }

  std::optional<Value> single(const Field& field, const ProtobufPiece& piece, const Schema* schema, int depth) {
    if (is_message(field.type)) {
      return piece.is_bytes ? decode(field.type, piece.bytes, schema, depth + 1) : std::nullopt;
    }
    if (field.type == "string") {
      return is_utf8(piece.bytes) ? std::optional(Value(piece.bytes)) : std::nullopt;
    }
    if (field.type == "bytes") {
      return Value(to_base64(piece.bytes));
    }
    if (field.type == "bool") {
      return Value(piece.integer != 0);
    }
    if (field.type == "double") {
      const auto number = std::bit_cast<double>(piece.integer);
      return std::isfinite(number) ? std::optional(Value(number)) : std::nullopt;
    }
    return Value(static_cast<std::int64_t>(piece.integer));
  }

  bool add(const Field& field, const ProtobufPiece& piece, const Schema* schema, int depth, Object& object) {
    const Schema* inner = schema == nullptr ? nullptr : schema->member(field.name);
    if (field.label == 'm') {
      return add_entry(field, piece, inner, depth, object);
    }
    if (field.label == 'r') {
      return add_item(field, piece, inner == nullptr ? nullptr : inner->items, depth, object);
    }
    // A part that JSON shows without its name.
    const bool is_inline = is_message(field.type) && schema != nullptr && inner == nullptr;
    auto value = single(field, piece, is_inline ? schema : inner, depth);
    if (!value) {
      return false;
    }
    if (is_inline && value->is_object()) {
      for (auto& member : value->get_object()) {
        object[member.key()] = std::move(member.value());
      }
    } else if (!is_nothing(*value) || (!value->is_null() && kMeansSomething.contains(field.name))) {
      object[field.name] = std::move(*value);
    }
    return true;
  }

  bool add_item(const Field& field, const ProtobufPiece& piece, const Schema* schema, int depth, Object& object) {
    Value& list = object[field.name];
    if (!list.is_array()) {
      list.emplace_array();
    }
    const bool packed = piece.is_bytes && !is_message(field.type) && field.type != "string" && field.type != "bytes";
    if (packed) {
      ProtobufReader reader(piece.bytes);
      while (!reader.done()) {
        const auto number = reader.varint();
        if (!number) {
          return false;
        }
        list.get_array().push_back(field.type == "bool" ? Value(*number != 0)
                                                        : Value(static_cast<std::int64_t>(*number)));
      }
      return true;
    }
    auto value = single(field, piece, schema, depth);
    if (value) {
      list.get_array().push_back(std::move(*value));
    }
    return value.has_value();
  }

  bool add_entry(const Field& field, const ProtobufPiece& piece, const Schema* schema, int depth, Object& object) {
    if (!piece.is_bytes) {
      return false;
    }
    Object& map = object_in(object, field.name);
    ProtobufReader reader(piece.bytes);
    std::string key;
    ProtobufPiece content;
    content.is_bytes = true;
    while (!reader.done()) {
      const auto part = reader.piece();
      if (!part) {
        return false;
      }
      if (part->number == 1 && !is_utf8(part->bytes)) {
        return false;
      }
      if (part->number == 1) {
        key = part->bytes;
      } else if (part->number == 2) {
        content = *part;
      }
    }
    auto value = single(field, content, schema == nullptr ? nullptr : schema->additional, depth);
    if (value) {
      map[key] = std::move(*value);
    }
    return value.has_value();
  }
};

// "apps/v1", "Deployment": k8s.io.api.apps.v1.Deployment.
std::string message_of(std::string_view group, std::string_view version, std::string_view kind) {
  if (kind.ends_with("Options")) {
    return std::string(kMeta) + std::string(kind);
  }
  if (group == "apiextensions.k8s.io") {
    return fmt::format("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.{}.{}", version, kind);
  }
  return fmt::format("k8s.io.api.{}.{}.{}", group.empty() ? "core" : group.substr(0, group.find('.')), version, kind);
}

}  // namespace

Result<Value> read_protobuf(std::string_view bytes, const BuiltinSchemas& schemas) {
  const auto refused = [](std::string_view why) {
    return invalid(fmt::format("the body of the request is no Protobuf of Kubernetes: {}", why));
  };
  if (!bytes.starts_with(kMagic)) {
    return refused("it does not begin as such");
  }
  Decoder decoder;
  std::string_view raw;
  std::string_view type;
  ProtobufReader reader(bytes.substr(kMagic.size()));
  while (!reader.done()) {
    const auto piece = reader.piece();
    if (!piece) {
      return refused("the envelope is cut off");
    }
    if (piece->number == 1) {
      type = piece->bytes;
    } else if (piece->number == 2) {
      raw = piece->bytes;
    }
  }
  const auto meta = decoder.decode("k8s.io.apimachinery.pkg.runtime.TypeMeta", type, nullptr, 0);
  if (!meta) {
    return refused("it does not say of what kind it is");
  }
  const std::string_view api_version = text_at(*meta, {"apiVersion"});
  const std::string_view kind = text_at(*meta, {"kind"});
  const std::size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  const std::string_view version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  const std::string message = message_of(group, version, kind);
  if (!messages().contains(message)) {
    return refused(fmt::format("{} of {} is not known", kind, api_version));
  }
  auto object = decoder.decode(message, raw, schemas.find(group, version, kind), 0);
  if (!object || !object->is_object()) {
    return refused(fmt::format("the {} cannot be read", kind));
  }
  object->get_object()["apiVersion"] = api_version;
  object->get_object()["kind"] = kind;
  return std::move(*object);
}

}  // namespace gantree::apiserver
