// What waits to be sent of a streamed answer. Internal to src/http.
//
// Thread rule: filled by any thread, emptied by the server's; cut() on the server's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/server.h"

namespace gantree::http {

class Flow {
 public:
  enum class State : std::uint8_t { kOpen, kEnded, kCut };

  // `notify` is called, on any thread, when there is something to do.
  Flow(std::size_t most_waiting, std::function<void()> gone, std::function<void()> notify)
      : most_waiting_(most_waiting), gone_(std::move(gone)), notify_(std::move(notify)) {}

  bool send(std::vector<Bytes> pieces, Outflow::Patience patience);
  void finish(State state);
  // About so many bytes, or one piece. kEnded only with the last of them.
  [[nodiscard]] std::pair<std::string, State> take(std::size_t most);
  [[nodiscard]] bool is_cut();
  // The connection has gone. Tells the owner, once.
  void cut();

 private:
  struct Piece {
    Bytes bytes;
    bool counted;
  };

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::function<void()> gone_;
  const std::function<void()> notify_;
  std::deque<Piece> waiting_;
  std::size_t counted_bytes_ = 0;
  State state_ = State::kOpen;
};

// The owner's end.
class FlowHandle final : public Outflow {
 public:
  explicit FlowHandle(std::shared_ptr<Flow> flow) : flow_(std::move(flow)) {}
  ~FlowHandle() override { flow_->finish(Flow::State::kCut); }
  FlowHandle(const FlowHandle&) = delete;
  FlowHandle& operator=(const FlowHandle&) = delete;

  bool send(std::vector<Bytes> pieces, Patience patience) override { return flow_->send(std::move(pieces), patience); }
  void end() override { flow_->finish(Flow::State::kEnded); }

 private:
  std::shared_ptr<Flow> flow_;
};

}  // namespace gantree::http
