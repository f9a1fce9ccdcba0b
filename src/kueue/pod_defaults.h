// What the API server adds to pods as they are created, and what their templates do not say: the default requests and
// limits of the LimitRanges of their namespace, and the overhead of their RuntimeClass.
//
// One thread owns it: the controller's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/object.h"
#include "json/value.h"
#include "json/write.h"
#include "live/object.h"

namespace gantree::kueue {

class PodDefaults {
 public:
  using Amounts = std::map<std::string, std::string>;  // quantities by resource
  static constexpr std::string_view kLimitRange = "LimitRange";

  // Of a map that was read already; none where there is no map.
  [[nodiscard]] static Amounts amounts_of(json::Value map);

  // What a LimitRange says of containers and of pods: by type, "Container" or "Pod".
  [[nodiscard]] static std::vector<std::pair<std::string_view, json::Value>> limits_of(const Object& limit_range);

  // The kinds to watch for it.
  [[nodiscard]] static std::vector<ApiKind> kinds();
  [[nodiscard]] static bool is_one(std::string_view kind) { return kind == kLimitRange || kind == kRuntimeClass; }

  // What is malformed in them says nothing. Whether anything has changed.
  bool see(const LiveObject& object, const Object& parsed);
  bool lose(std::string_view kind, std::string_view ns, std::string_view name);

  // Whether pods of that namespace may get anything.
  [[nodiscard]] bool any(const std::string& ns) const;
  // A pod template with what its pods will get.
  [[nodiscard]] json::Out apply(const std::string& ns, json::Value pod_template) const;

 private:
  struct Limits {
    Amounts limits;
    Amounts requests;
    friend bool operator==(const Limits&, const Limits&) = default;
  };
  struct Range {
    Limits container;
    Limits pod;
    friend bool operator==(const Range&, const Range&) = default;
  };

  static constexpr std::string_view kRuntimeClass = "RuntimeClass";

  [[nodiscard]] Range in_all(const std::string& ns) const;
  static void add_missing(Amounts& amounts, const Amounts& more);
  [[nodiscard]] static json::Out resources(json::Value own, const Limits& limits);
  [[nodiscard]] static json::Out of_pod(json::Value spec, json::Value own);
  [[nodiscard]] static bool a_container_names(json::Value spec, const std::string& resource);
  [[nodiscard]] static json::Out containers(json::Value list, const Limits& limits);

  std::map<std::string, std::map<std::string, Range>> ranges_;  // by namespace and name
  std::map<std::string, Amounts, std::less<>> overheads_;       // by name of the class
};

}  // namespace gantree::kueue
