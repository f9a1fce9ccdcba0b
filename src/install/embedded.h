// Files of deploy/ that are part of the program. The build makes their source.
#pragma once

#include <string_view>

namespace gantree {

extern const std::string_view kManifestText;  // deploy/gantree.yaml

}  // namespace gantree
