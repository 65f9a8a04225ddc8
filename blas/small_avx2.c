//go:build openblas && amd64

#include <math.h>
#include <string.h>
#include <xmmintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 4

#define REAL double
#define SQRT sqrt
#define NAME(x) bb_avx2_double_##x
#include "small_kernels.h"
#undef REAL
#undef SQRT
#undef NAME

#define REAL float
#define SQRT sqrtf
#define COUPLE
#define NAME(x) bb_avx2_single_##x
#include "small_kernels.h"
#undef REAL
#undef SQRT
#undef NAME

#define NAME(x) bb_avx2_##x
#include "small_products.h"
