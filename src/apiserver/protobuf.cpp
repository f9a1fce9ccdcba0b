#include "apiserver/protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "apiserver/protobuf_messages.h"
#include "apiserver/protobuf_reader.h"
#include "base/base64.h"
#include "base/time.h"

namespace gantree::apiserver {

namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kMagic{"k8s\0", 4};
constexpr std::string_view kMeta = "k8s.io.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kDefinitions = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.";

bool is_nothing(const Value& value) {
  return value.is_null() || (value.is_string() && value.get_string().empty()) ||
         (value.is_int64() && value.get_int64() == 0) || (value.is_bool() && !value.get_bool()) ||
         (value.is_double() && value.get_double() == 0);
}

using Pieces = std::map<std::uint32_t, ProtobufPiece>;

// Of each field the last one; nothing where the bytes are no message.
std::optional<Pieces> pieces_in(std::string_view bytes) {
  Pieces pieces;
  ProtobufReader reader(bytes);
  while (!reader.done()) {
    const auto piece = reader.piece();
    if (!piece) {
      return std::nullopt;
    }
    pieces[piece->number] = *piece;
  }
  return pieces;
}

// Zero is the time that no Go program ever set.
Value time_value(Pieces& pieces, bool micro) {
  const auto seconds = static_cast<std::int64_t>(pieces[1].integer);
  // Outside the years that can be written, and where none is given.
  if (seconds <= 0 || seconds > 253'402'300'799) {
    return nullptr;
  }
  std::string text = rfc3339(Time(std::chrono::seconds(seconds)));
  if (micro) {
    const auto nanos = static_cast<std::int32_t>(pieces[2].integer);
    text.insert(text.size() - 1, fmt::format(".{:06}", std::clamp(nanos, 0, 999'999'999) / 1000));
  }
  return Value(text);
}

// Types that JSON has another form for. An inner nullopt stands for what cannot be read.
std::optional<std::optional<Value>> special_value(std::string_view type, std::string_view bytes) {
  const bool is_quantity = type == "k8s.io.apimachinery.pkg.api.resource.Quantity";
  const bool is_time = type == std::string(kMeta) + "Time" || type == std::string(kMeta) + "MicroTime";
  const bool is_either = type == "k8s.io.apimachinery.pkg.util.intstr.IntOrString";
  const bool is_raw = type == "k8s.io.apimachinery.pkg.runtime.RawExtension" ||
                      type == std::string(kMeta) + "FieldsV1" || type == std::string(kDefinitions) + "JSON";
  if (!is_quantity && !is_time && !is_either && !is_raw) {
    return std::nullopt;
  }
  auto pieces = pieces_in(bytes);
  if (!pieces || (!is_raw && !(is_utf8((*pieces)[1].bytes) && is_utf8((*pieces)[3].bytes)))) {
    return std::optional<Value>();
  }
  if (is_quantity) {
    return std::optional<Value>((*pieces)[1].bytes.empty() ? Value("0") : Value((*pieces)[1].bytes));
  }
  if (is_raw) {
    auto value = parse_json((*pieces)[1].bytes.empty() ? "null" : (*pieces)[1].bytes);
    return value ? std::optional<Value>(std::move(*value)) : std::optional<Value>();
  }
  if (is_either) {
    const auto number = static_cast<std::int64_t>(static_cast<std::int32_t>((*pieces)[2].integer));
    return std::optional<Value>((*pieces)[1].integer == 1 ? Value((*pieces)[3].bytes) : Value(number));
  }
  return std::optional<Value>(time_value(*pieces, type.ends_with("MicroTime")));
}

class Decoder {
 public:
  // Nothing where the bytes are no such message.
  std::optional<Value> decode(std::string_view type, std::string_view bytes, int depth) {
    if (depth > kDeepest) {
      return std::nullopt;
    }
    if (auto special = special_value(type, bytes)) {
      return std::move(*special);
    }
    const Message* message = find_message(type);
    if (message == nullptr) {
      return Value();
    }
    Object object;
    ProtobufReader reader(bytes);
    while (!reader.done()) {
      const auto piece = reader.piece();
      if (!piece) {
        return std::nullopt;
      }
      const auto field = message->find(piece->number);
      if (field != message->end() && !add(field->second, *piece, depth, object)) {
        return std::nullopt;
      }
    }
    return as_shown(type, *message, std::move(object));
  }

 private:
  // Messages that are one of their fields in JSON: lists that have a name of their own, and the parts of a definition
  // that are a schema or something else.
  static Value as_shown(std::string_view type, const Message& message, Object object) {
    const auto part = [&object](std::string_view name) {
      Value* value = object.if_contains(name);
      return value == nullptr ? Value(Array()) : std::move(*value);
    };
    if (type.starts_with(kDefinitions) && type.find("JSONSchemaPropsOr") != std::string_view::npos) {
      if (object.contains("schema")) {
        return part("schema");
      }
      return type.ends_with("OrBool") ? Value(object.contains("allows"))
                                      : part(type.ends_with("OrArray") ? "jSONSchemas" : "property");
    }
    const bool is_list = !message.empty() && message.begin()->second.form == GoForm::kItself;
    return is_list ? part("items") : Value(std::move(object));
  }

  std::optional<Value> single(const MessageField& field, const ProtobufPiece& piece, int depth) {
    if (is_message(field.type)) {
      return piece.is_bytes ? decode(field.type, piece.bytes, depth + 1) : std::nullopt;
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

  bool add(const MessageField& field, const ProtobufPiece& piece, int depth, Object& object) {
    if (field.form == GoForm::kMap) {
      return add_entry(field, piece, depth, object);
    }
    if (field.form == GoForm::kRepeated || field.form == GoForm::kItself) {
      return add_item(field, piece, depth, object);
    }
    auto value = single(field, piece, depth);
    if (!value) {
      return false;
    }
    if (field.form == GoForm::kInline && value->is_object()) {
      for (auto& member : value->get_object()) {
        object[member.key()] = std::move(member.value());
      }
    } else if (field.form != GoForm::kPlain || !is_nothing(*value)) {
      object[field.name] = std::move(*value);
    }
    return true;
  }

  bool add_item(const MessageField& field, const ProtobufPiece& piece, int depth, Object& object) {
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
    auto value = single(field, piece, depth);
    if (value) {
      list.get_array().push_back(std::move(*value));
    }
    return value.has_value();
  }

  bool add_entry(const MessageField& field, const ProtobufPiece& piece, int depth, Object& object) {
    auto parts = piece.is_bytes ? pieces_in(piece.bytes) : std::nullopt;
    if (!parts || !is_utf8((*parts)[1].bytes)) {
      return false;
    }
    ProtobufPiece content = (*parts)[2];
    content.is_bytes |= content.number == 0;
    auto value = single(field, content, depth);
    if (value) {
      object_in(object, field.name)[(*parts)[1].bytes] = std::move(*value);
    }
    return value.has_value();
  }
};

// "apps/v1", "Deployment": k8s.io.api.apps.v1.Deployment.
std::string message_of(std::string_view group, std::string_view version, std::string_view kind) {
  if (kind.ends_with("Options")) {
    return std::string(kMeta) + std::string(kind);
  }
  if (group == "apiregistration.k8s.io") {
    return fmt::format("k8s.io.kube_aggregator.pkg.apis.apiregistration.{}.{}", version, kind);
  }
  if (group == "apiextensions.k8s.io") {
    return fmt::format("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.{}.{}", version, kind);
  }
  return fmt::format("k8s.io.api.{}.{}.{}", group.empty() ? "core" : group.substr(0, group.find('.')), version, kind);
}

}  // namespace

Result<Value> read_protobuf(std::string_view bytes) {
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
  const auto meta = decoder.decode("k8s.io.apimachinery.pkg.runtime.TypeMeta", type, 0);
  if (!meta) {
    return refused("it does not say of what kind it is");
  }
  const std::string_view api_version = text_at(*meta, {"apiVersion"});
  const std::string_view kind = text_at(*meta, {"kind"});
  const std::size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : api_version.substr(0, slash);
  const std::string_view version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  const std::string message = message_of(group, version, kind);
  if (find_message(message) == nullptr) {
    return refused(fmt::format("{} of {} is not known", kind, api_version));
  }
  auto object = decoder.decode(message, raw, 0);
  if (!object || !object->is_object()) {
    return refused(fmt::format("the {} cannot be read", kind));
  }
  object->get_object()["apiVersion"] = api_version;
  object->get_object()["kind"] = kind;
  return std::move(*object);
}

}  // namespace gantree::apiserver
