// The classes of priority that come with every cluster. Api thread only.
#pragma once

namespace gantree::apiserver {

class Core;

// Makes those that are not there.
void make_priority_classes(Core& core);

}  // namespace gantree::apiserver
