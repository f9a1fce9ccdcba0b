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
// are left out. Documents are YAML, separated by "---", or JSON, which may also
// follow each other without a separator.
//
// Fails with "file:line: what is wrong" on malformed text, invalid UTF-8, NUL
// bytes, duplicate keys, nesting deeper than kMaxDepth, YAML tags other than
// the core ones, and YAML aliases that would expand without bound. Text that
// starts with {" has to be strict JSON.
//
// Unquoted YAML scalars are read as Kubernetes reads them: null and ~ are null;
// true, yes, on, y and their opposites are booleans, whose text() is then
// "true" or "false"; numbers keep their text as written; all else is a string.
// Quoted scalars are always strings. Keys are always the text as written; the
// key << takes in the members of the object that it names.
//
// A caller that reserved 64 bytes more than it filled saves a copy of the text.
[[nodiscard]] Result<std::vector<Document>> read_documents(const std::string& file, std::string bytes);

}  // namespace gantree::json
