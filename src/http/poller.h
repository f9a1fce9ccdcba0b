// Waits for sockets, for a while, or for another thread.
//
// Thread rule: wake() on any thread, the rest on one.
#pragma once

#include <chrono>
#include <vector>

namespace gantree::http {

class Poller {
 public:
  struct Ready {
    int socket = -1;
    bool readable = false;
    bool writable = false;
    bool broken = false;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void watch(int socket, bool for_reading, bool for_writing);
  void forget(int socket);  // it may be closed already
  // The sockets that are ready; none after `patience`, or when woken. Valid until the next call.
  [[nodiscard]] const std::vector<Ready>& wait(std::chrono::milliseconds patience);
  // Ends the wait that is under way, or else the next one.
  void wake();

 private:
  int epoll_ = -1;
  int wakeup_ = -1;
  std::vector<Ready> ready_;
};

}  // namespace gantree::http
