// Files that hold secrets: nobody but the user who runs the program may read them, whatever the umask and the folder
// let others do.
#pragma once

#include <string>

#include "base/error.h"

namespace gantree::apiserver {

// Makes the file, empty, where it is not there, and takes it from all others where it is.
[[nodiscard]] Result<> make_private(const std::string& file);
// The same of a file that need not be there.
[[nodiscard]] Result<> keep_private(const std::string& file);

}  // namespace gantree::apiserver
