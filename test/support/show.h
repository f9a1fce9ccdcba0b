// Documents as short text, to compare them in tests and fuzz targets.
#pragma once

#include <charconv>
#include <string>
#include <utility>

#include "json/read.h"
#include "json/write.h"

namespace gantree::json {

// The same tree to write. Numbers that are not 64-bit integers become strings
// that start with '#'.
[[nodiscard]] inline Out to_out(Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      return {};
    case Kind::kBool:
      return value.text() == "true";
    case Kind::kNumber: {
      std::int64_t number = 0;
      const std::string_view text = value.text();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool whole = error == std::errc{} && end == text.data() + text.size();
      return whole ? Out(number) : Out("#" + std::string(text));
    }
    case Kind::kString:
      return value.text();
    case Kind::kArray: {
      Out out = Out::array();
      for (const NodeData& item : value.items()) {
        out.push(to_out(Value(&item)));
      }
      return out;
    }
    case Kind::kObject: {
      Out out = Out::object();
      for (const MemberData& member : value.members()) {
        out.add(member.key, to_out(Value(&member.value)));
      }
      return out;
    }
  }
  return {};
}

// All documents of the text as compact JSON, with a space between them; or the
// error message.
[[nodiscard]] inline std::string shown(std::string text) {
  const auto documents = read_documents("f", std::move(text));
  if (!documents) {
    return documents.error().message;
  }
  std::string out;
  for (const Document& document : *documents) {
    out += out.empty() ? "" : " ";
    out += to_out(document.root()).to_json(false);
  }
  return out;
}

}  // namespace gantree::json
