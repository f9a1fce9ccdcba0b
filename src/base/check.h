// Broken invariants abort: a wrong answer given on is worse than a crash.
#pragma once

#include <cstdio>
#include <cstdlib>

#define GANTREE_CHECK(condition)                                                             \
  do {                                                                                       \
    if (!(condition)) [[unlikely]] {                                                         \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
