// A pod of a job that was started, or that waits to be released.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace gantree::kueue {

struct StartedPod {
  std::string uid;
  std::string workload;  // namespace/name
  std::string set;
  std::string node;  // "" where it is not bound
  bool gated = false;
  bool deleting = false;
  bool ended = false;
  bool succeeded = false;  // it will not be replaced
  bool held = false;       // behind the gate of admission: it carries no marks of ours yet
  bool spent = false;      // of a group, and has succeeded: nobody takes its slot
  std::string group;       // uid of the group of a held pod
  // Labels, else annotations; of a pod that has a node those that are numbers, which tell its rank.
  std::map<std::string, std::string, std::less<>> marks;
  std::map<std::string, std::string, std::less<>> selector;  // of a pod that has no node
  std::optional<std::size_t> slot;  // domain of the assignment to which we sent it, not seen yet
  bool asked = false;               // a write of ours to it is under way, or done and not seen

  // It has a node, and is neither over nor on its way out.
  [[nodiscard]] bool runs() const { return !node.empty() && !ended && !deleting; }
  // It is on its way out, and takes room until it is gone.
  [[nodiscard]] bool leaves() const { return !node.empty() && !ended && deleting; }
};

}  // namespace gantree::kueue
