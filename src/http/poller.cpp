#include "http/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.h"

namespace gantree::http {

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  GANTREE_CHECK(epoll_ >= 0 && wakeup_ >= 0);
  watch(wakeup_, true, false);
}

Poller::~Poller() {
  close(wakeup_);
  close(epoll_);
}

void Poller::watch(int socket, bool for_reading, bool for_writing) {
  epoll_event event{};
  event.events =
      (for_reading ? static_cast<unsigned>(EPOLLIN) : 0U) | (for_writing ? static_cast<unsigned>(EPOLLOUT) : 0U);
  event.data.fd = socket;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) != 0 && errno == ENOENT) {
    GANTREE_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0);
  }
}

void Poller::forget(int socket) {
  static_cast<void>(epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr));  // closing it did so already
}

void Poller::wake() {
  static_cast<void>(eventfd_write(wakeup_, 1));  // a counter that is full wakes as well
}

const std::vector<Poller::Ready>& Poller::wait(std::chrono::milliseconds patience) {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(), events.size(), static_cast<int>(patience.count()));
  ready_.clear();
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wakeup_) {
      eventfd_t value = 0;
      static_cast<void>(eventfd_read(wakeup_, &value));
      continue;
    }
    ready_.push_back({.socket = event.data.fd,
                      .readable = (event.events & EPOLLIN) != 0,
                      .writable = (event.events & EPOLLOUT) != 0,
                      .broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0});
  }
  return ready_;
}

}  // namespace gantree::http
