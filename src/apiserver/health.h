// What the server says of its own health, and a few numbers of its work. Api thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/request.h"

namespace gantree::apiserver {

class Core;

// The check that is there where the scheduler runs in the process of the server.
inline constexpr std::string_view kSchedulerCheck = "gantree-scheduler";

// Requests that were answered, by verb and status.
class RequestCounts {
 public:
  void count(const Request& request, int status) { ++counts_[{verb_of_metrics(request), status}]; }
  [[nodiscard]] const std::map<std::pair<std::string_view, int>, std::uint64_t>& all() const { return counts_; }

 private:
  [[nodiscard]] static std::string_view verb_of_metrics(const Request& request);

  std::map<std::pair<std::string_view, int>, std::uint64_t> counts_;
};

// /healthz, /livez and /readyz: all checks, with `verbose` one by one, or one by its name.
[[nodiscard]] Answer health_page(const Core& core, const Request& request, const std::vector<std::string>& segments);
// /metrics, as Prometheus reads it.
[[nodiscard]] Answer metrics_page(const Core& core);

}  // namespace gantree::apiserver
