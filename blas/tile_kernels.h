// Tiles of products in registers, in one precision for one length of vectors. The file that includes this
// defines REAL, BYTES (of a vector), ROWS (of a tile), TARGET (the processor) and NAME (of a function).
//
// A matrix lies in panels of W columns, so that every operand of a product is read in the order in which it
// lies: element (k, j) is w[j/W * panel + (k + shift) * W + j%W]. U has shift 0 and M = U'^-1, the other
// triangle, shift 3: between them is room for what tiles that cross the diagonal write beyond it.

#define W ((int)(BYTES / sizeof(REAL)))
#define COLUMNS (3 * W)
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE TARGET static inline __attribute__((always_inline))
typedef REAL NAME(vector) __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef NAME(vector) NAME(tile)[ROWS][3];

static inline REAL *NAME(inverse)(REAL *w) { return w + COLUMNS * W; }

INLINE void NAME(clear)(NAME(tile) t) {
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) t[r][c] = (NAME(vector)){0};
}

INLINE void NAME(add)(NAME(tile) t, const REAL *a, long panel) {
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) t[r][c] += *(const NAME(vector) *)(a + r * W + c * panel);
}

INLINE void NAME(store)(const NAME(tile) t, REAL *a, long panel) {
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) *(NAME(vector) *)(a + r * W + c * panel) = t[r][c];
}

// subtract is T -= A'B over a number of rows, A being ROWS and B COLUMNS wide.
INLINE void NAME(subtract)(NAME(tile) t, long rows, const REAL *a, const REAL *b, long panel) {
	const REAL *b1 = b + panel, *b2 = b1 + panel;
	for (long k = 0; k < rows * W; k += W) {
		NAME(vector) v0 = *(const NAME(vector) *)(b + k), v1 = *(const NAME(vector) *)(b1 + k), v2 = *(const NAME(vector) *)(b2 + k);
		UNROLL for (int r = 0; r < ROWS; r++) {
			t[r][0] -= a[k + r] * v0;
			t[r][1] -= a[k + r] * v1;
			t[r][2] -= a[k + r] * v2;
		}
	}
}
