// How queues are looked after, as flags of the commands that do it.
#pragma once

#include "kueue/controller.h"

namespace CLI {
class App;
}

namespace gantree {

void add_queue_options(CLI::App& command, kueue::ControllerOptions& queues);

}  // namespace gantree
