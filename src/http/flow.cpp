#include "http/flow.h"

namespace gantree::http {

bool Flow::send(std::vector<Bytes> pieces, Outflow::Patience patience) {
  bool first = false;
  bool open = true;
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kOpen) {
      return false;
    }
    first = waiting_.empty();
    const bool counted = patience == Outflow::Patience::kBounded;
    for (Bytes& piece : pieces) {
      counted_bytes_ += counted ? piece->size() : 0;
      waiting_.push_back({std::move(piece), counted});
    }
    if (counted_bytes_ > most_waiting_) {
      state_ = State::kCut;
      waiting_.clear();
      open = false;
    }
  }
  if (first || !open) {
    notify_();
  }
  return open;
}

void Flow::finish(State state) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kOpen) {
      return;
    }
    state_ = state;
  }
  notify_();
}

std::pair<std::string, Flow::State> Flow::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::string bytes;
  while (!waiting_.empty() && (bytes.empty() || bytes.size() + waiting_.front().bytes->size() <= most)) {
    bytes += *waiting_.front().bytes;
    counted_bytes_ -= waiting_.front().counted ? waiting_.front().bytes->size() : 0;
    waiting_.pop_front();
  }
  return {std::move(bytes), state_ == State::kEnded && !waiting_.empty() ? State::kOpen : state_};
}

bool Flow::is_cut() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kCut;
}

void Flow::cut() {
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    state_ = State::kCut;
    waiting_.clear();
    gone = std::exchange(gone_, nullptr);
  }
  if (gone) {
    gone();
  }
}

}  // namespace gantree::http
