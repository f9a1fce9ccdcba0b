// Objects as the Protobuf that Go programs send: by the table of messages, zeros of what is not behind a pointer
// included.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "apiserver/json.h"
#include "apiserver/protobuf_messages.h"
#include "base/base64.h"
#include "base/timestamp.h"

namespace gantree::apiserver {

class ProtobufWriter {
 public:
  // In its envelope. `message` is "k8s.io.api.core.v1.Pod".
  static std::string write(const Value& object, std::string_view message) {
    const std::string type =
        text(1, std::string(text_at(object, {"apiVersion"}))) + text(2, std::string(text_at(object, {"kind"})));
    return std::string("k8s\0", 4) + text(1, type) + text(2, write_message(object, message));
  }

  static std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) {
      bytes += static_cast<char>(value | 0x80U);
    }
    return bytes + static_cast<char>(value);
  }
  static std::string text(unsigned number, const std::string& bytes) {
    return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
  }
  static std::string integer(unsigned number, std::uint64_t value) { return varint(number << 3U) + varint(value); }

 private:
  static std::string write_time(const Value& value) {
    const std::string_view shown = text_of(value);
    if (shown.empty()) {
      return "";
    }
    std::string bytes = integer(1, static_cast<std::uint64_t>(*parse_time(shown)));
    const std::size_t point = shown.find('.');
    const int micros = point == std::string_view::npos ? 0 : std::stoi(std::string(shown.substr(point + 1, 6)));
    return bytes + integer(2, static_cast<std::uint64_t>(micros) * 1000);
  }

  static std::string write_message(const Value& value, std::string_view type) {
    if (type.ends_with("meta.v1.Time") || type.ends_with("meta.v1.MicroTime")) {
      return write_time(value);
    }
    if (type.ends_with(".Quantity")) {
      return text(1, value.is_string() ? std::string(text_of(value)) : "0");
    }
    if (type.ends_with(".IntOrString")) {
      const bool named = value.is_string();
      return integer(1, named ? 1 : 0) +
             integer(2, value.is_int64() ? static_cast<std::uint64_t>(value.get_int64()) : 0) +
             text(3, std::string(text_of(value)));
    }
    if (type.ends_with(".FieldsV1") || type.ends_with(".RawExtension")) {
      return value.is_null() ? "" : text(1, to_json(value));
    }
    std::string bytes;
    const Message* message = find_message(type);
    for (const auto& [number, field] : *message) {
      bytes += write_field(number, field, value);
    }
    return bytes;
  }

  static std::string write_field(std::uint32_t number, const MessageField& field, const Value& value) {
    const Value* member = field.form == GoForm::kInline ? &value : find(value, {field.name});
    const bool set = member != nullptr && !member->is_null();
    std::string bytes;
    if (field.form == GoForm::kRepeated) {
      for (std::size_t i = 0; set && i < member->get_array().size(); ++i) {
        bytes += write_single(number, field, member->get_array()[i]);
      }
    } else if (field.form == GoForm::kMap) {
      for (std::size_t i = 0; set && i < member->get_object().size(); ++i) {
        const auto& entry = *(member->get_object().begin() + static_cast<std::ptrdiff_t>(i));
        bytes += text(number, text(1, std::string(entry.key())) + write_single(2, field, entry.value()));
      }
    } else if (set || field.form != GoForm::kPointer) {
      bytes = write_single(number, field, member == nullptr ? Value() : *member);
    }
    return bytes;
  }

  static std::string write_single(std::uint32_t number, const MessageField& field, const Value& value) {
    if (is_message(field.type)) {
      return text(number, write_message(value, field.type));
    }
    if (field.type == "string") {
      return text(number, std::string(text_of(value)));
    }
    if (field.type == "bytes") {
      return text(number, *from_base64(text_of(value)));
    }
    const bool is_true = value.is_bool() && value.get_bool();
    return integer(number, value.is_int64() ? static_cast<std::uint64_t>(value.get_int64()) : is_true ? 1 : 0);
  }
};

}  // namespace gantree::apiserver
