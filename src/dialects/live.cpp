#include "dialects/live.h"

#include <algorithm>

#include "dialects/core/core.h"
#include "dialects/kai/kai_live.h"
#include "dialects/kai/names.h"
#include "dialects/koordinator/koordinator_live.h"
#include "dialects/koordinator/names.h"

namespace gantree {

std::vector<std::string> default_schedulers() {
  return {"gantree", std::string(koordinator::kScheduler)};
}

std::vector<std::unique_ptr<LiveDialect>> live_dialects(const std::vector<std::string>& schedulers) {
  std::vector<std::unique_ptr<LiveDialect>> live;
  // Koordinator's takes all pods of our schedulers that carry no marks of others.
  if (std::find(schedulers.begin(), schedulers.end(), kai::kScheduler) != schedulers.end()) {
    live.push_back(std::make_unique<kai::KaiLive>());
  }
  live.push_back(std::make_unique<koordinator::KoordinatorLive>(schedulers));
  return live;
}

std::vector<std::unique_ptr<Dialect>> readers_of(std::span<const std::unique_ptr<LiveDialect>> live) {
  std::vector<std::unique_ptr<Dialect>> readers;
  readers.push_back(std::make_unique<CoreDialect>());
  for (const auto& dialect : live) {
    readers.push_back(dialect->reader());
  }
  return readers;
}

}  // namespace gantree
