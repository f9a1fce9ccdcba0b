// Calls that are waited for, for threads that have nothing else to do.
#pragma once

#include <functional>
#include <stop_token>

#include "kube/client.h"

namespace gantree::kube {

// Starts a call and waits for its reply; gives up (kUnknown) when told to stop. Not on the transport's thread.
//
//   const Reply reply = wait_for([&](Client::Done done) { client.get(pods(), key, std::move(done)); });
[[nodiscard]] Reply wait_for(const std::function<void(Client::Done)>& start, std::stop_token stop = {});

}  // namespace gantree::kube
