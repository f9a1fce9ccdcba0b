// Protobuf bodies of requests, turned into the JSON that everything else here reads: some clients send Kubernetes' own
// kinds in no other form. Answers are always JSON, which they accept.
#pragma once

#include <string_view>

#include "apiserver/json.h"
#include "base/error.h"

namespace gantree::apiserver {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// The object in the envelope, as the JSON that a Go program would have sent: zeros are there where Go's JSON has them.
// Untrusted input: whatever comes ends in a value or an error.
[[nodiscard]] Result<Value> read_protobuf(std::string_view bytes);

}  // namespace gantree::apiserver
