// All kernels for one set of vectors. The file that includes this defines TARGET, BYTES and ROWS as
// small_kernels.h has them, and SET, the name of a function of the set.

#include <math.h>
#include <string.h>
#include <xmmintrin.h>


#define REAL double
#define SQRT sqrt
#define NAME(x) SET(double_##x)
#include "small_kernels.h"
#undef REAL
#undef SQRT
#undef NAME

#define REAL float
#define SQRT sqrtf
#define COUPLE
#define NAME(x) SET(single_##x)
#include "small_kernels.h"
#undef NAME

#define NAME(x) SET(x)
#include "small_products.h"
