// Warnings that go with an answer, as headers. Pure.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace gantree::apiserver {

// Each once, in order, as "Warning" headers that clients take: as in the real server all of them together have at most
// 4096 characters, and 256 each where that would not do. Unlike there they are at most 50, of which the last says how
// many more there were: Python's clients give up on an answer of more than 100 lines.
void add_warnings(const std::vector<std::string>& warnings, http::HeaderList& headers);

}  // namespace gantree::apiserver
