#include "webhook/workers.h"

#include <cstddef>
#include <utility>

namespace gantree::webhook {

namespace {

// By sort. One that waits for the API server (access.h) takes a thread for as long.
constexpr std::array<int, 3> kThreads = {6, 2, 2};

}  // namespace

Workers::Workers() {
  for (std::size_t sort = 0; sort < lines_.size(); ++sort) {
    Line& line = lines_.at(sort);
    for (int i = 0; i < kThreads.at(sort); ++i) {
      line.threads.emplace_back([&line] { run(line); });
    }
  }
}

Workers::~Workers() {
  for (Line& line : lines_) {
    {
      const std::lock_guard lock(line.mutex);
      line.ended = true;
    }
    line.more.notify_all();
  }
  for (Line& line : lines_) {
    line.threads.clear();  // joins
  }
}

void Workers::add(Sort sort, std::function<void()> work) {
  Line& line = lines_.at(static_cast<std::size_t>(sort));
  {
    const std::lock_guard lock(line.mutex);
    line.waiting.push_back(std::move(work));
  }
  line.more.notify_one();
}

void Workers::run(Line& line) {
  std::unique_lock lock(line.mutex);
  while (true) {
    line.more.wait(lock, [&line] { return line.ended || !line.waiting.empty(); });
    if (line.ended) {
      return;
    }
    const std::function<void()> work = std::move(line.waiting.front());
    line.waiting.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace gantree::webhook
