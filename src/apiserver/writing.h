// The last step of a write: from the version of the request to that of the store, and into it. Api thread only.
#pragma once

#include <cstdint>
#include <functional>

#include "apiserver/apply.h"
#include "apiserver/core.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

// An object that may be stored, in the version of the request.
struct Written {
  RequestPtr request;
  Object object;
  std::uint64_t expected = 0;  // revision of what it takes the place of
};

// 201, or why not.
[[nodiscard]] Task<Answer> store_new(Core& core, Written written);

// Nothing where somebody else changed the object meanwhile.
[[nodiscard]] Task<std::optional<Answer>> store_changed(Core& core, Written written);

// What is given back: the stored object, in the version and form of the request.
[[nodiscard]] Answer written_answer(const Core& core, const Request& request, int status, const Entry& entry);

// Who writes by this request, for that account.
[[nodiscard]] FieldManager field_manager(const Core& core, const Request& request);

// The account of who wrote which field, where nothing else has kept it.
void keep_account(const Core& core, const Request& request, Object* old, Object& object);

}  // namespace gantree::apiserver
