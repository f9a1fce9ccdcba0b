// The objects of a cluster, kept true by watches, for commands that go on showing it.
//
// Any thread may call; watches run on the transport's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster_access.h"
#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

class LiveObjects {
 public:
  // Starts to watch those kinds, as far as the server has them. `cluster` must outlive it.
  LiveObjects(ClusterAccess& cluster, const std::vector<ApiKind>& kinds);
  ~LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;

  // All is listed.
  [[nodiscard]] bool synced() const;
  // Goes up with every change.
  [[nodiscard]] std::uint64_t version() const;
  // Why nothing comes, where that is so; "" otherwise.
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] Result<std::vector<json::Document>> documents() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace gantree
