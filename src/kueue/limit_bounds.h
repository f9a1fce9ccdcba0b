// The least and the most that LimitRanges let containers and pods ask for: the API server refuses pods beyond, so a job
// of such pods must not hold quota and room for them.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/object.h"
#include "json/value.h"
#include "live/object.h"

namespace gantree::kueue {

class LimitBounds {
 public:
  // A LimitRange. What is malformed in it bounds nothing. Whether anything has changed.
  bool see(const LiveObject& object, const Object& parsed);
  bool lose(std::string_view ns, std::string_view name);

  // Which bound pods of this spec do not keep, in one sentence. `spec` has its defaults already.
  [[nodiscard]] std::optional<std::string> breach(std::string_view ns, json::Value spec) const;

 private:
  using Amounts = std::map<std::string, std::string>;  // quantities by resource
  struct Bounds {
    Amounts least;  // of what is requested
    Amounts most;   // of limits, and so of requests
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  struct Range {
    Bounds container;
    Bounds pod;
    friend bool operator==(const Range&, const Range&) = default;
  };

  std::map<std::string, std::map<std::string, Range>, std::less<>> ranges_;  // by namespace and name
};

}  // namespace gantree::kueue
