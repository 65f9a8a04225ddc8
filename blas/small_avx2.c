//go:build openblas && amd64

#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 4

#define SET(x) bb_avx2_##x
#include "small_set.h"
