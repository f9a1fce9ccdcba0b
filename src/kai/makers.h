// Objects that make pods, and who made them: from a pod up to its topmost owner.
//
// One thread owns it: the grouper's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dialects/object.h"
#include "live/object.h"

namespace gantree::kai {

// What controls an object, as that says.
struct OwnerRef {
  std::string group = {};
  std::string version = {};
  std::string kind = {};
  std::string name = {};
  std::string uid = {};

  [[nodiscard]] bool present() const { return !kind.empty(); }
  [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  friend bool operator==(const OwnerRef&, const OwnerRef&) = default;
};

// The owner that controls it; the first where none says that it does.
[[nodiscard]] OwnerRef owner_of(json::Value metadata);

struct Maker {
  LiveObject object;
  OwnerRef owner = {};
  bool skips = false;        // the grouper is to leave its pods alone
  bool marked = false;       // speaks KAI
  bool elsewhere = false;    // is in a queue, or a gang, of another family
  bool joins = false;        // its pods name their PodGroup by themselves
  std::size_t contents = 0;  // a digest of what groups depend on: all but the status

  [[nodiscard]] OwnerRef ref() const;
};

// A pod's owners, from the nearest to the topmost.
struct Ancestry {
  std::vector<const Maker*> makers = {};
  OwnerRef beyond = {};   // the owner of the topmost, of a kind that is not known here
  OwnerRef missing = {};  // one that has not been seen yet: nothing can be said before
  bool endless = false;   // they go round in a circle, or on and on
};

class Makers {
 public:
  // Kinds that are followed; pods are as well.
  [[nodiscard]] static std::vector<ApiKind> kinds();
  [[nodiscard]] static bool knows(std::string_view group, std::string_view kind);

  enum class Change { kNone, kContents, kLineage };
  // Takes an object of those kinds. Fails where it is malformed; then what was known of it stays.
  [[nodiscard]] Result<Change> changed(const LiveObject& object);
  void removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name);

  // nullptr where it was not seen, or another of the same name was.
  [[nodiscard]] const Maker* find(std::string_view ns, const OwnerRef& ref) const;
  // The owner of a pod that others are owned by; nothing where that pod is not known.
  using OwnerOfPod = std::function<const OwnerRef*(std::string_view ns, const OwnerRef& pod)>;
  [[nodiscard]] Ancestry ancestry(std::string_view ns, const OwnerRef& owner, const OwnerOfPod& owner_of_pod) const;

  [[nodiscard]] std::size_t size() const { return makers_.size(); }

 private:
  std::map<std::string, Maker, std::less<>> makers_;  // by maker_key()
};

// "group/kind/namespace/name"
[[nodiscard]] std::string maker_key(std::string_view group, std::string_view kind, std::string_view ns,
                                    std::string_view name);

}  // namespace gantree::kai
