// Requests in the name of somebody else (headers Impersonate-*, `kubectl --as`), and who asks after all.
//
//   headers ──► person_in() ──► Call::as ──► take_on(): may the caller do that? ──► the call is that person's
#pragma once

#include <memory>

#include "apiserver/api.h"
#include "apiserver/core.h"
#include "apiserver/json.h"
#include "apiserver/status.h"
#include "http/message.h"

namespace gantree::apiserver {

// Null where the headers name nobody. Fails where they say more of a person without saying who it is. Any thread.
[[nodiscard]] Outcome<std::shared_ptr<const Person>> person_in(const http::HeaderList& headers);

// Makes the call that of the person in whose name it is to be done; does nothing where there is none. Fails where roles
// do not let the caller "impersonate" the person and each of its groups. Once for a call. Api thread.
[[nodiscard]] Outcome<> take_on(Core& core, Call& call);

// Who asks, as reviews and webhooks are told.
[[nodiscard]] Object user_info(const Call& call);

}  // namespace gantree::apiserver
