// Waits for the signals that end the process on a thread of its own, so that no handler has to run anywhere else.
//
// To be made before any other thread of the process: those inherit that the signals are blocked. A second signal ends
// the process at once.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "service/letters.h"

namespace gantree {

class SignalWatch {
 public:
  explicit SignalWatch(LoopMailbox& mailbox) {
    sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
      sigaddset(&signals_, signal);
    }
    // Threads that are started later inherit it.
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    thread_ = std::thread([this, &mailbox] {
      int signal = 0;
      while (sigwait(&signals_, &signal) == 0 && !ending_) {
        if (signal == SIGUSR1) {
          continue;  // somebody else's
        }
        if (asked_) {
          std::_Exit(1);  // asked twice: at once
        }
        asked_ = true;
        mailbox.post(Stop{});
      }
    });
  }
  ~SignalWatch() {
    ending_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  sigset_t signals_ = {};
  sigset_t before_ = {};
  bool asked_ = false;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace gantree
