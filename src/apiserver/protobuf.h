// Protobuf bodies of requests, turned into the JSON that everything else here reads: some clients send Kubernetes' own
// kinds in no other form. Answers are always JSON, which they accept.
#pragma once

#include <string_view>

#include "apiserver/builtin.h"
#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// The object in the envelope. Untrusted input: whatever comes ends in a value or an error.
//
// The format does not tell a value that is not set from one that is zero. Zeros, false and empty texts are taken as not
// set, except for the few fields in which they mean something.
[[nodiscard]] Result<Value> read_protobuf(std::string_view bytes, const BuiltinSchemas& schemas);

// The embedded table of messages: scripts/make-builtin-messages says what it looks like.
[[nodiscard]] std::string_view builtin_message_text();

}  // namespace gantree::apiserver
