// Server-side apply, and the account of who owns which field (metadata.managedFields) that ordinary writes keep too.
//
// apply() merges what is wished into the stored object, before defaults. track_update() attributes what any other write
// changed, after defaults. Both come before prepare_create() and admission: what those add belongs to nobody, as in the
// real server. Sets are compared across the versions of a kind as if the versions had the same shape.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>
#include "apiserver/json.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

// Who writes, and through what.
struct FieldManager {
  std::string name;
  std::string api_version;  // "apps/v1", of the request
  std::string subresource;  // "" or "status"
  std::string time;         // RFC 3339
  // The kind has a status of its own, which the main resource neither writes nor owns.
  bool status_apart = false;
  // The kind is built in: fields that its Go structure always has count as there before they are written.
  bool built_in = false;
};

struct FieldConflict {
  std::string manager;  // `conflict with "kubectl" using apps/v1`
  std::string field;    // ".spec.replicas"
};

struct ApplyFailure {
  std::string message;
  std::vector<FieldConflict> conflicts;  // empty: the request itself is wrong
};

// The stored object (nullptr: there is none) with the wish merged in, fields that the manager applied before and no
// longer wishes taken out, and managedFields brought up to date. Other managers' fields that would change are
// conflicts; with `force` they change hands. Where nothing changes the result equals `live`.
[[nodiscard]] tl::expected<Value, ApplyFailure> apply(const Schema& schema, const Value* live, const Value& wish,
                                                      const FieldManager& manager, bool force);

// Status 409 with its causes, or 400.
[[nodiscard]] Object to_status(const ApplyFailure& failure);

// Writes changed.metadata.managedFields: what differs from `live` (nullptr: created) belongs to the manager now. A
// managedFields of one empty entry ([{}]) makes the account begin anew.
void track_update(const Schema& schema, const Value* live, Value& changed, const FieldManager& manager);

}  // namespace gantree::apiserver
