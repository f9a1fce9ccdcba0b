// The controllers at work on the embedded API server.
//
//   api thread ──events, answers──► mailbox ──► controllers' thread: Conductor ──calls──► api thread
//
// Starts to write when every kind has been listed. Kinds that are not served yet (custom ones) are looked for every
// two seconds.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/api.h"
#include "controllers/turn.h"

namespace gantree::controllers {

class Runner {
 public:
  // `api` must outlive it. `trouble` is told what went wrong that nobody asked for, on the controllers' thread.
  Runner(apiserver::Api& api, Options options, std::function<void(const std::string&)> trouble = {});
  // Ends the thread. Writes under way are carried out, unheard.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace gantree::controllers
