// The record of a leader election: a Lease of coordination.k8s.io/v1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/timestamp.h"

namespace gantree::kube {

struct Lease {
  std::string name_space;
  std::string name;
  std::string uid;
  std::string resource_version;  // empty: to be created
  std::string holder;            // empty: nobody
  std::int64_t duration_seconds = 0;
  std::string acquire_time;  // as written by whoever did
  std::string renew_time;
  std::int64_t transitions = 0;

  friend bool operator==(const Lease&, const Lease&) = default;
};

[[nodiscard]] Result<Lease> read_lease(std::string_view json);
[[nodiscard]] std::string to_json(const Lease& lease);

}  // namespace gantree::kube
