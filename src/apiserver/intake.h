// What an object must be like to be stored, besides its metadata. Api thread only.
#pragma once

#include <string>

#include "apiserver/core.h"
#include "apiserver/field_error.h"
#include "apiserver/handlers.h"

namespace gantree::apiserver {

// The body of a request as an object of its kind. Fails where it is none.
[[nodiscard]] Outcome<Object> decode_object(Request& request, const Kind& kind);
// What is said of fields that are there twice, by the request's field validation: nothing, a warning, or no.
[[nodiscard]] Outcome<> report_twice(Request& request, const std::vector<std::string>& fields);
// Checks that apiVersion and kind are those of the kind, and fills them in where they may be left out.
[[nodiscard]] Outcome<> check_type(const Kind& kind, Object& object);

// Takes out what the schema does not know, by the request's field validation, and fills in the defaults.
[[nodiscard]] Outcome<> tidy(Request& request, const Kind& kind, Object& object);
// The defaults alone.
// Fails where what the body holds could not be stored in any form. Before it costs anything: with tens of thousands of
// fields it is the account of who owns which that does.
[[nodiscard]] Outcome<> check_size(const Request& request, const Value& value);

void complete(const Kind& kind, Object& object);

// The defaults of a new object, whose maker has no say in its status.
void complete_new(const Kind& kind, Object& object);
// What the server itself adds to a new object: a pod's priority, a namespace's finalizer, a service's address. It
// belongs to nobody, so the account of who owns which field comes before.
[[nodiscard]] Outcome<> prepare_kind(Core& core, const Kind& kind, Object& object);

// 422 where the object is not as it should be. `old` is null where it is new. Both stay as they are.
[[nodiscard]] Outcome<> check_object(const Kind& kind, Object* old, Object& object, std::string_view subresource);

// What a patch leaves is no object of its kind, or the patch itself is not sound.
[[nodiscard]] Failure unfit_patch(const Failure& why);

// Who writes: fieldManager, else the client's program.
[[nodiscard]] std::string manager_of(const Request& request);

// Fails where dryRun or fieldValidation has a value that means nothing.
[[nodiscard]] Outcome<> check_options(const Request& request);

}  // namespace gantree::apiserver
