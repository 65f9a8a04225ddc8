//go:build openblas && amd64

#define TARGET __attribute__((target("avx512f,avx512vl,fma,prefer-vector-width=512")))
#define BYTES 64
#define ROWS 8

#define SET(x) bb_avx512_##x
#include "small_set.h"
