// place_once NODES ASK PODS GPUS TIMES: places TIMES gangs, each booked and
// given back. The difference between two TIMES, counted by valgrind or perf, is
// what a placement costs without start-up.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench_cluster.h"

int main(int argc, char** argv) {
  using namespace gantree;
  if (argc != 6) {
    std::fprintf(stderr, "usage: place_once NODES ASK PODS GPUS TIMES\n");
    return 1;
  }
  const auto bench = bench_cluster(bench_input(std::atoi(argv[1])));
  for (const BenchAsk ask : kAllAsks) {
    if (std::strcmp(argv[2], to_string(ask)) != 0) {
      continue;
    }
    const Gang gang = bench_gang(*bench, ask, std::atoi(argv[3]), std::atoi(argv[4]));
    int placed = 0;
    for (int i = 0; i < std::atoi(argv[5]); ++i) {
      const Outcome outcome = bench->cluster.engine().place(gang);
      if (outcome.placement) {
        ++placed;
        bench->cluster.engine().take(gang, *outcome.placement);
        bench->cluster.engine().give(gang, *outcome.placement);
      }
    }
    std::printf("%d of %s placed\n", placed, argv[5]);
    return 0;
  }
  std::fprintf(stderr, "place_once: unknown ask \"%s\"\n", argv[2]);
  return 1;
}
