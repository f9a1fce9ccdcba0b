// Strict JSON text to a document.
#pragma once

#include <memory>
#include <string_view>

#include "json/builder.h"

namespace gantree::json {

enum class JsonOutcome : std::uint8_t {
  kRead,     // the builder holds the document
  kNotJson,  // malformed; it may still be YAML
  kFailed,   // well formed so far, but refused: the builder says why
};

// Keeps its buffers between documents.
class JsonParser {
 public:
  JsonParser(Builder& builder, Storage& storage);
  ~JsonParser();
  JsonParser(const JsonParser&) = delete;
  JsonParser& operator=(const JsonParser&) = delete;

  struct Parsed {
    JsonOutcome outcome = JsonOutcome::kNotJson;
    std::size_t used = 0;  // up to the first character of what follows; if malformed, to where it shows
  };
  // Reads the object or array at the start of `text`, which is a part of the
  // storage's source with kPadding more bytes behind it.
  [[nodiscard]] Parsed parse(std::string_view text, int line);

  static constexpr std::size_t kPadding = 64;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gantree::json
