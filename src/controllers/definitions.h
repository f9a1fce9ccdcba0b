// CustomResourceDefinitions of the kinds that these controllers look after and no server has by itself: JobSet and
// LeaderWorkerSet. Their schemas say what the controllers read; the rest is kept as it is.
#pragma once

#include <vector>

#include "apiserver/json.h"

namespace gantree::controllers {

[[nodiscard]] std::vector<apiserver::Object> workload_definitions();
// The StorageClass that claims get which name none.
[[nodiscard]] apiserver::Object standard_storage_class();

}  // namespace gantree::controllers
