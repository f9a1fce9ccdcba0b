// Objects of this API from one of its versions to the other.
//
// v1beta2 is what is stored and what Gantree itself reads and writes; v1beta1 is there for manifests and clients that
// still speak it. What a version has no field for is left out, as in Kueue: of v1beta2 that is
// podsetSliceRequiredTopologyConstraints, preemptionGates and concurrentAdmissionPolicy; of v1beta1 the lists in
// statuses that repeat what other objects say. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "json/value.h"
#include "json/write.h"

namespace gantree::kueue {

// The definitions (PLURAL.GROUP) of the kinds whose fields differ between the versions. The objects of all others are
// converted by the API server itself, by their apiVersion alone.
[[nodiscard]] std::span<const std::string_view> converted_definitions();

// What topology assignments may grow to in one answer: a few words of the compact form stand for any number of domains,
// and anybody in the cluster may ask. It is counted, and taken from these, before anything is made.
struct ExpansionBudget {
  std::int64_t values = 1'000'000;              // numbers and texts
  std::int64_t bytes = std::int64_t{32} << 20;  // of the texts
};

// The object as `api_version` ("kueue.x-k8s.io/v1beta1") has it; a copy where it is of that version already. Metadata
// is kept as it is. Fails on kinds and versions that are not known, and on values that are of another kind than the
// schema says, with a sentence that names the object; and where it would become larger than the budget.
[[nodiscard]] Result<json::Out> convert(json::Value object, std::string_view api_version, ExpansionBudget& budget);
// The same of one object alone.
[[nodiscard]] inline Result<json::Out> convert(json::Value object, std::string_view api_version) {
  ExpansionBudget budget;
  return convert(object, api_version, budget);
}

}  // namespace gantree::kueue
