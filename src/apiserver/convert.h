// One object in another version of its kind.
#pragma once

#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/kind.h"
#include "apiserver/status.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

class Core;

// Where nobody has to be asked: names the other version, and gives an Event the fields of that version.
void convert_plainly(const Kind& to, Object& object);

// Whether somebody has to be asked for other versions of the kind.
[[nodiscard]] bool by_webhook(const Kind& kind);
// Whether somebody has to be asked for this object in the kind's version.
struct Entry;
[[nodiscard]] bool lacks_variant(const Kind& kind, const Entry& entry);

// The object in the version of `to`, by its definition's webhook where it has one.
[[nodiscard]] Task<Outcome<Object>> convert(Core& core, KindPtr to, Object object);

// Adds the variants of these entries in the kind's version.
[[nodiscard]] Task<Outcome<>> convert_entries(Core& core, KindPtr kind, std::vector<Entry> entries);

// Sees to it that every object of the kind's table is there in its version too.
[[nodiscard]] Task<Outcome<>> convert_all(Core& core, KindPtr kind);

}  // namespace gantree::apiserver
