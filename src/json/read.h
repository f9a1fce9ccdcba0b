// Bytes to documents: multi-document YAML, JSON, and any mix of the two.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace gantree::json {

inline constexpr int kMaxDepth = 128;

// Reads all documents of one file; `file` is only for messages. Empty documents
// are left out. Fails with "file:line: what is wrong" on malformed text,
// duplicate keys, nesting deeper than kMaxDepth, invalid UTF-8, and on YAML
// aliases that would expand without bound. Scalars follow YAML 1.2 core
// schema as Kubernetes reads it: only null/~, true/false, and numbers are
// not strings; quoted scalars are always strings.
[[nodiscard]] Result<std::vector<Document>> read_documents(const std::string& file, std::string bytes);

}  // namespace gantree::json
