// Whether a caller may do something, with the answer for those who may not. Api thread only.
#pragma once

#include "apiserver/api.h"
#include "apiserver/core.h"
#include "apiserver/request.h"
#include "apiserver/rights.h"
#include "apiserver/status.h"

namespace gantree::apiserver {

[[nodiscard]] Outcome<> check_allowed(Core& core, const Call& call, const Deed& deed);
// The same of the caller himself, in whoever's name he asks.
[[nodiscard]] Outcome<> check_allowed(Core& core, const Call& call, const Deed& deed, const Subject& subject);

// Roles and bindings alone: who writes them may give to others what he has himself, and nothing more, unless he may
// "escalate" the role, or "bind" the role that a binding is of. `before` is null where the object is new.
[[nodiscard]] Outcome<> check_gift(Core& core, const Request& request, const Object* before, const Object& object);

}  // namespace gantree::apiserver
