// Defaults of pods, for defaults.cpp.
#pragma once

#include "apiserver/json.h"

namespace gantree::apiserver {

void fill_pod(Object& pod);
void prepare_pod(Object& pod);
void add_default_tolerations(Object& pod);

}  // namespace gantree::apiserver
