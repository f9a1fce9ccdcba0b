// Threads that answer questions, so that none waits for another that takes its time.
//
// Questions are of three sorts, each with threads of its own: those about objects, those for conversion, which may
// grow, and those with large bodies, of which few at once fill the memory. Many questions of one sort do not delay
// those of another.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gantree::webhook {

enum class Sort : std::uint8_t { kObject, kConversion, kLarge };

class Workers {
 public:
  Workers();
  ~Workers();  // what has begun is done, what waits is dropped
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // In the order given within a sort. Any thread.
  void add(Sort sort, std::function<void()> work);

 private:
  struct Line {
    std::mutex mutex;
    std::condition_variable more;
    std::deque<std::function<void()>> waiting;
    bool ended = false;
    std::vector<std::jthread> threads;
  };

  static void run(Line& line);

  std::array<Line, 3> lines_;
};

}  // namespace gantree::webhook
