// Reading what the user names: files, folders, standard input.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace gantree {

// All documents of the paths in order. "-" is standard input; of a folder all .yaml, .yml and
// .json files below it are read, sorted by path. Fails with one sentence.
[[nodiscard]] Result<std::vector<json::Document>> read_inputs(const std::vector<std::string>& paths);

}  // namespace gantree
