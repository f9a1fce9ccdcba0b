// What a controller wants written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "controllers/kinds.h"

namespace gantree::controllers {

class Notice;

enum class Verb : std::uint8_t { kCreate, kPatch, kPatchStatus, kDelete, kBind };

struct Write {
  std::uint64_t id = 0;
  Verb verb = Verb::kCreate;
  Kind kind = Kind::kPod;
  std::string ns;
  std::string name = {};                     // "" of what is created
  std::string uid = {};                      // of what is changed or deleted
  std::string body = {};                     // the object, a merge patch, DeleteOptions, or a Binding
  std::string node = {};                     // to which a pod is bound
  std::shared_ptr<Notice> notice = nullptr;  // of what is told when it is answered
  std::string like = {};                     // of an event that is counted up: what it has in common with the others
};

}  // namespace gantree::controllers
