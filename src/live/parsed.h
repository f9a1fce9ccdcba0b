// The text of a live object as values again.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

// Keeps alive what the object's views point to.
struct Parsed {
  json::Document document;
  Object object;
};

// Fails where the text is no API object of one kind.
[[nodiscard]] Result<Parsed> parse(const std::string& text);

}  // namespace gantree
