// The Protobuf messages of Kubernetes' own kinds, and how Go writes the same structures as JSON. Read once, at the
// first use, and then only read: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gantree::apiserver {

// What becomes of a field of a Go structure that holds its zero: 0, false, "", no time.
enum class GoForm : std::uint8_t {
  kUnknown,
  kPointer,   // a zero is a value like others; what is not set is neither sent nor shown
  kPlain,     // Protobuf has it, JSON leaves it out
  kAlways,    // both have it
  kInline,    // its fields are shown as those of the structure around it
  kRepeated,  // a list
  kMap,       // of texts to `type`
  kItself,    // a list that is all there is to the message
};

struct MessageField {
  GoForm form = GoForm::kUnknown;
  std::string type;  // "string", or the name of a message, which has dots
  std::string name;  // in JSON
};
using Message = std::map<std::uint32_t, MessageField>;

// "k8s.io.api.core.v1.PodSpec"; nullptr where there is none of that name.
[[nodiscard]] const Message* find_message(std::string_view name);

[[nodiscard]] inline bool is_message(std::string_view type) {
  return type.find('.') != std::string_view::npos;
}

// The embedded table of messages: scripts/make-builtin-messages says what it looks like.
[[nodiscard]] std::string_view builtin_message_text();

}  // namespace gantree::apiserver
