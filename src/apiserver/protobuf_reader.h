// Protobuf's wire format: numbered pieces one after another; what they mean is the caller's to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gantree::apiserver {

// One field as it comes.
struct ProtobufPiece {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t integer = 0;
  std::string_view bytes;
};

// Untrusted input: nothing is read past the end.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return bytes_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    return std::nullopt;
  }

  std::optional<ProtobufPiece> piece() {
    const auto key = varint();
    if (!key) {
      return std::nullopt;
    }
    ProtobufPiece piece;
    piece.number = static_cast<std::uint32_t>(*key >> 3U);
    switch (*key & 7U) {
      case 0: {
        const auto value = varint();
        piece.integer = value.value_or(0);
        return value ? std::optional(piece) : std::nullopt;
      }
      case 1:
        return fixed(piece, 8);
      case 5:
        return fixed(piece, 4);
      case 2: {
        const auto size = varint();
        if (!size || *size > bytes_.size()) {
          return std::nullopt;
        }
        piece.is_bytes = true;
        piece.bytes = bytes_.substr(0, *size);
        bytes_.remove_prefix(*size);
        return piece;
      }
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<ProtobufPiece> fixed(ProtobufPiece piece, std::size_t size) {
    if (bytes_.size() < size) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < size; ++i) {
      piece.integer |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(size);
    return piece;
  }

  std::string_view bytes_;
};

}  // namespace gantree::apiserver
