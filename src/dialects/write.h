// An intended write to the API: what a decision, or a status that is out of date, comes to.
#pragma once

#include <cstdint>
#include <string>

namespace gantree {

// An object of the API. `uid` is the precondition of every write to it: an object of the same name that was made
// anew meanwhile is not touched.
struct ObjectRef {
  std::string group;  // "" for the core group
  std::string version;
  std::string kind;
  std::string ns;  // "" where the kind is not namespaced
  std::string name;
  std::string uid;
};

enum class WriteVerb : std::uint8_t {
  kBind,         // `object` is a pod, `node` where it goes; the body are annotations that it gets with that, or none
  kPatchStatus,  // a merge patch of the status; of pods a strategic merge patch
  kPatch,        // a merge patch of the object; of pods a strategic merge patch
  kJsonPatch,    // operations of a JSON Patch
  kEvict,        // `object` is a pod; no body
  kPreempt,      // `object` is a pod: its status is patched, and it is deleted, unless a disruption budget forbids that
  kDelete,       // no body
  kCreate,       // `object` tells the kind and the namespace; the body is all of it
};

struct Write {
  WriteVerb verb = WriteVerb::kBind;
  ObjectRef object;
  std::string node = {};
  std::string body = {};  // JSON
};

}  // namespace gantree
