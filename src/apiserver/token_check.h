// Whether what a token speaks for is still there, and tokens on demand. Api thread only.
#pragma once

#include "apiserver/core.h"
#include "apiserver/token.h"

namespace gantree::apiserver {

// A sentence where the service account, or the object that the token is bound to, is gone or another one by now.
[[nodiscard]] std::optional<std::string> why_void(const Core& core, const TokenOf& token);

// Fails with 401 where the call shows a token that is void, or meant for somebody other than this server.
[[nodiscard]] Outcome<> check_token(const Core& core, const Call& call);

// What reviews tell of who shows the token.
[[nodiscard]] Object user_of_token(const TokenOf& token);

// A TokenReview: whose the token is, and for which of the audiences asked about.
void review_token(const Core& core, Object& review);
// serviceaccounts/token: a TokenRequest.
[[nodiscard]] Answer issue_token(const Core& core, const Request& request);

}  // namespace gantree::apiserver
