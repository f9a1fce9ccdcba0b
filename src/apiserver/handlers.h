// What is done for each verb. Internal to src/apiserver; api thread only.
#pragma once

#include <functional>
#include <memory>

#include "apiserver/core.h"
#include "apiserver/task.h"

namespace gantree::apiserver {

// Any request.
[[nodiscard]] Task<Answer> handle(Core& core, RequestPtr request);

// Of resources.
[[nodiscard]] Task<Answer> get_object(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> list_objects(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> watch_objects(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> create_object(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> update_object(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> patch_object(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> delete_object(Core& core, RequestPtr request);
[[nodiscard]] Task<Answer> delete_collection(Core& core, RequestPtr request);
// All that is below an object, but for status.
[[nodiscard]] Task<Answer> serve_subresource(Core& core, RequestPtr request);
// Questions that leave nothing behind, as SubjectAccessReview.
[[nodiscard]] Task<Answer> answer_review(Core& core, RequestPtr request);

// Paths that lead to no resource: discovery, health, version, schemas.
[[nodiscard]] Answer serve_page(Core& core, const Request& request);

// Whether metadata.managedFields says already who wrote what.
enum class Account : std::uint8_t { kToKeep, kKept };
// Creates the object, given as the client sent it.
[[nodiscard]] Task<Answer> create_from(Core& core, RequestPtr request, Object object, Account account);

// The object with what is wished merged in, as server-side apply does it. `current` is null where there is none.
[[nodiscard]] Outcome<Object> applied(const Core& core, const Request& request, const Value& wish,
                                      const Object* current);

// What a write makes of the object that is there, both in the version of the request.
using Transform = std::function<Outcome<Object>(const Object* current)>;  // null: there is none
struct Change {
  Transform transform;
  enum class Part : std::uint8_t {
    kWanted,  // all but the status, where that is a part of its own
    kStatus,
    kAll,  // by the server's own rules
  } part = Part::kWanted;
  bool must_have_version = false;
  bool patch = false;  // what is no object of the kind then is the patch's fault
  bool apply = false;  // the transform has kept the account of fields; where there is no object it makes one
  std::function<Answer(const Object& stored)> answer = {};  // in place of the object
};
// Repeats where others change the object meanwhile and the request names no version.
[[nodiscard]] Task<Answer> change_object(Core& core, RequestPtr request, std::shared_ptr<const Change> change);

struct DeleteOptions {
  std::optional<std::int64_t> grace;
  std::string policy;  // "": the kind's
  std::string uid;     // precondition
  std::string version;
  bool dry_run = false;
};
[[nodiscard]] Outcome<DeleteOptions> read_delete_options(const Request& request);
[[nodiscard]] Task<Answer> delete_with(Core& core, RequestPtr request, DeleteOptions options);

}  // namespace gantree::apiserver
