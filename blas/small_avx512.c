//go:build openblas && amd64

#include <math.h>
#include <string.h>
#include <xmmintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,fma,prefer-vector-width=512")))
#define BYTES 64
#define ROWS 8

#define REAL double
#define SQRT sqrt
#define NAME(x) bb_avx512_double_##x
#include "small_kernels.h"
#undef REAL
#undef SQRT
#undef NAME

#define REAL float
#define SQRT sqrtf
#define COUPLE
#define NAME(x) bb_avx512_single_##x
#include "small_kernels.h"
#undef REAL
#undef SQRT
#undef NAME

#define NAME(x) bb_avx512_##x
#include "small_products.h"
