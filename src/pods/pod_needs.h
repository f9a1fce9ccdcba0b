// What a pod asks of its place beyond requests, selectors, affinity to nodes and taints.
//
// Claims for storage count: one that is bound to a volume holds the pod to the nodes that can reach it, one that is
// not bound makes it wait. What nobody here looks at, and would be broken by not looking, is said and refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/object.h"
#include "json/value.h"

namespace gantree {

struct PodNeeds {
  std::vector<std::string> claims;  // keys of PersistentVolumeClaims
  std::string refusal = {};         // why it is not looked at at all, as the end of a sentence; "" where it is
  std::string lacks = {};           // what has to come before it is looked at, as the end of a sentence; "" for nothing
  std::string unsupported;          // what is not looked at, as part of a sentence; "" where there is no such thing
};
[[nodiscard]] PodNeeds read_needs(std::string_view ns, std::string_view pod, json::Value spec);

// The claims and volumes of a cluster, as far as they matter for placement.
class Volumes {
 public:
  void put_claim(const std::string& key, json::Value claim);
  void remove_claim(const std::string& key) { claims_.erase(key); }
  void put_volume(const std::string& name, json::Value volume);
  void remove_volume(const std::string& name) { volumes_.erase(name); }

  // Why a pod with these claims has to wait; "" where it need not.
  [[nodiscard]] std::string obstacle(const std::vector<std::string>& claims) const;
  // The pod's text with what its volumes ask of nodes added to its node affinity. Requires no obstacle.
  [[nodiscard]] std::string confined(const std::string& pod_text, const std::vector<std::string>& claims) const;

 private:
  std::map<std::string, std::string, std::less<>> claims_;   // the volume; "" where not bound
  std::map<std::string, std::string, std::less<>> volumes_;  // nodeSelectorTerms as JSON; "" where any node will do
};

}  // namespace gantree
