// preempt_once NODES CASE TIMES: decides TIMES whom to evict. The difference between two TIMES,
// counted by valgrind or perf, is what a decision costs without start-up.
#include <cstdio>
#include <cstdlib>

#include "bench_running.h"

int main(int argc, char** argv) {
  using namespace gantree;
  if (argc != 4) {
    std::fprintf(stderr, "usage: preempt_once NODES CASE TIMES\n");
    return 1;
  }
  BenchRunning running = bench_running(std::atoi(argv[1]));
  for (const BenchPreemption& what : bench_preemptions(running)) {
    if (what.name != argv[2]) {
      continue;
    }
    int found = 0;
    PreemptionAnswer answer;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
      answer = preempt(running, what);
      found += answer.verdict == PreemptionVerdict::kFound ? 1 : 0;
    }
    std::printf("%d of %s found, %zu victims%s\n", found, argv[3], answer.victims.size(),
                answer.exact ? ", proven" : "");
    return 0;
  }
  std::fprintf(stderr, "preempt_once: unknown case \"%s\"\n", argv[2]);
  return 1;
}
