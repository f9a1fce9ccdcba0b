// Objects from one version of their API to another, as the API server asks for it: ConversionReview of
// apiextensions.k8s.io/v1.
//
// Bodies are untrusted. Whatever comes, what goes out is a ConversionReview: all objects converted, or none and why.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/value.h"
#include "json/write.h"
#include "kueue/conversion.h"

namespace gantree::webhook {

// One object as `api_version` has it. What a few words of it may stand for is taken from the budget before it is made.
// Pure: the same object, the same answer. Called on several threads at once.
using Convert =
    std::function<Result<json::Out>(json::Value object, std::string_view api_version, kueue::ExpansionBudget& budget)>;

// The body of the answer to a body.
[[nodiscard]] std::string answer_conversion(std::string_view body, const Convert& convert);

}  // namespace gantree::webhook
