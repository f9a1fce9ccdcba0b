// groups_once NODES CASE TIMES: places TIMES gangs of many groups, each booked and given back, and tells the most
// memory that one placement had at a time, beside the counts that are kept. The difference between two TIMES,
// counted by valgrind or perf, is what a placement costs without start-up.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench_cluster.h"
#include "support/memory_peak.h"

int main(int argc, char** argv) {
  using namespace gantree;
  if (argc != 4) {
    std::fprintf(stderr, "usage: groups_once NODES CASE TIMES\n");
    return 1;
  }
  const auto bench = bench_cluster(bench_input(std::atoi(argv[1])));
  Engine& engine = bench->cluster.engine();
  for (const BenchGroups& what : bench_groups(*bench)) {
    if (what.name != argv[2]) {
      continue;
    }
    (void)engine.place(what.gang);  // the shapes are known from now on
    int placed = 0;
    std::size_t most = 0;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
      const test::MemoryPeak peak;
      const Outcome outcome = engine.place(what.gang);
      most = std::max(most, peak.bytes());
      if (outcome.placement) {
        ++placed;
        engine.take(what.gang, *outcome.placement);
        engine.give(what.gang, *outcome.placement);
      } else {
        std::printf("%s\n", outcome.message.c_str());
      }
    }
    std::printf("%d of %s placed, %zu KiB at a time\n", placed, argv[3], most / 1024);
    return 0;
  }
  std::fprintf(stderr, "groups_once: unknown case \"%s\"\n", argv[2]);
  return 1;
}
