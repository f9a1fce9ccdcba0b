// Objects of this API from one of its versions to the other.
//
// v1beta2 is what is stored and what Gantree itself reads and writes; v1beta1 is there for manifests and clients that
// still speak it. What a version has no field for is left out, as in Kueue: of v1beta2 that is
// podsetSliceRequiredTopologyConstraints, preemptionGates and concurrentAdmissionPolicy; of v1beta1 the lists in
// statuses that repeat what other objects say. Pure.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "json/value.h"
#include "json/write.h"

namespace gantree::kueue {

// The definitions (PLURAL.GROUP) of the kinds whose fields differ between the versions. The objects of all others are
// converted by the API server itself, by their apiVersion alone.
[[nodiscard]] std::span<const std::string_view> converted_definitions();

// The object as `api_version` ("kueue.x-k8s.io/v1beta1") has it; a copy where it is of that version already. Metadata
// is kept as it is. Fails on kinds and versions that are not known, and on values that are of another kind than the
// schema says, with a sentence that names the object.
[[nodiscard]] Result<json::Out> convert(json::Value object, std::string_view api_version);

}  // namespace gantree::kueue
