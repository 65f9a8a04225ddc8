// What tile_kernels.h defines.

#undef W
#undef COLUMNS
#undef UNROLL
#undef INLINE
