// Marks of families that only plans honour so far: on a live cluster pods that carry them are not bound.
#pragma once

#include <string>
#include <string_view>

#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

// What a pod carries that is not honoured, as the end of a sentence; "" where there is nothing. Requires that KAI's
// family is not live.
[[nodiscard]] std::string not_honoured_live(json::Value metadata, json::Value spec);
// The first mark of KAI's that a pod carries, its schedulerName included; "" where it carries none.
[[nodiscard]] std::string_view mark_of_kai(json::Value metadata, json::Value spec);

// For whoever stores a new object that makes pods: which mark of it has no effect on a live cluster, in a sentence; ""
// where none is without. `serves_kai`: pods of KAI's scheduler are Gantree's to bind.
[[nodiscard]] std::string warning_of_marks(const NamedObject& named, bool serves_kai = false);

// Why nobody starts gangs of that kind, of that family, on a live cluster, in a sentence; "" where somebody does.
[[nodiscard]] std::string nobody_starts(std::string_view kind, std::string_view family);

}  // namespace gantree
