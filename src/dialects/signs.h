// What the objects of a cluster say became of its gangs: pods by their conditions, PodGroups by theirs. Nothing is
// decided anew. Pure.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "dialects/dialects.h"
#include "json/value.h"
#include "model/record.h"

namespace gantree {

// A condition of that type whose status is that; absent where there is none.
[[nodiscard]] json::Value condition_with(json::Value status, std::string_view type, std::string_view value);

// What a condition says. Messages of ours begin with a reason of the closed list, which then is the reason.
[[nodiscard]] Saying saying_of(json::Value condition);
[[nodiscard]] Saying saying_of(std::string_view reason, std::string_view message, std::string_view since);

// Takes what was said where it was said later: what was said before may have been about fewer pods.
void hear(Saying& heard, Saying said);

// When all is read, claimed and linked: fills in the signs of all gangs.
void take_signs(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake);

}  // namespace gantree
