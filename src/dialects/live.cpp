#include "dialects/live.h"

#include "dialects/core/core.h"
#include "dialects/koordinator/koordinator_live.h"
#include "dialects/koordinator/names.h"

namespace gantree {

std::vector<std::string> default_schedulers() { return {"gantree", std::string(koordinator::kScheduler)}; }

std::vector<std::unique_ptr<LiveDialect>> live_dialects(const std::vector<std::string>& schedulers) {
  std::vector<std::unique_ptr<LiveDialect>> live;
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
