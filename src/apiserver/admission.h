// Webhooks that may change or refuse what is about to be stored. Api thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apiserver/core.h"
#include "apiserver/status.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

// What is asked about. Objects are in the version of the request.
struct Admission {
  Operation operation = Operation::kCreate;
  std::string name;             // "" where it is yet to be generated
  const Object* old = nullptr;  // null where there is none
  Object* object = nullptr;     // changed by mutating webhooks; null on deletion
  bool dry_run = false;
};

// Whether any webhook may have to be asked, so that nothing is prepared in vain.
[[nodiscard]] bool concerns_webhooks(Core& core, const Request& request, Operation operation);

// The objects must live until it ends.
[[nodiscard]] Task<Outcome<>> admit_mutating(Core& core, RequestPtr request, std::shared_ptr<Admission> admission);
[[nodiscard]] Task<Outcome<>> admit_validating(Core& core, RequestPtr request, std::shared_ptr<Admission> admission);

}  // namespace gantree::apiserver
