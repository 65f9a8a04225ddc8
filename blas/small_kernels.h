// The kernels of small_openblas.go from tiles of products in registers, in one precision for one length of
// vectors. The file that includes this defines REAL and its SQRT, BYTES (of a vector), ROWS (of a tile),
// TARGET (the processor), NAME (of a function), and COUPLE if it wants that kernel.
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
		NAME(vector) v0 = *(const NAME(vector) *)(b + k), v1 = *(const NAME(vector) *)(b1 + k),
			v2 = *(const NAME(vector) *)(b2 + k);
		UNROLL for (int r = 0; r < ROWS; r++) {
			t[r][0] -= a[k + r] * v0;
			t[r][1] -= a[k + r] * v1;
			t[r][2] -= a[k + r] * v2;
		}
	}
}

// divide is T = U'^-1 T by a block of U on the diagonal, whose pivots have the given inverses.
INLINE void NAME(divide)(NAME(tile) t, REAL u[ROWS][ROWS], const REAL *inverses) {
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) {
			UNROLL for (int s = 0; s < r; s++) t[r][c] -= u[s][r] * t[s][c];
			t[r][c] *= inverses[r];
		}
}

// pivots factorises a block on the diagonal. It returns the number, from 1, of a pivot that is not positive.
TARGET static int NAME(pivots)(REAL u[ROWS][ROWS], REAL *inverses) {
	for (int r = 0; r < ROWS; r++) {
		for (int s = 0; s < r; s++)
			for (int c = r; c < ROWS; c++) u[r][c] -= u[s][r] * u[s][c];
		if (!(u[r][r] > 0 && u[r][r] < (REAL)INFINITY)) return r + 1;
		u[r][r] = SQRT(u[r][r]);
		inverses[r] = 1 / u[r][r];
		for (int c = r + 1; c < ROWS; c++) u[r][c] *= inverses[r];
	}
	return 0;
}

// form writes the upper triangle of B = I + diag(root) K diag(root), filled up to n rows with those of I.
TARGET static void NAME(form)(int order, int n, const double *k, long ldk, const double *root, REAL *u,
	long panel) {
	for (int i = 0; i < n; i++, k += ldk)
		for (int j = i / W * W; j < n; j += W) {
			REAL *to = u + j / W * panel + i * W;
			if (j >= i && j + W <= order)
				for (int c = 0; c < W; c++) to[c] = root[i] * root[j + c] * k[j + c];
			else
				for (int c = 0; c < W; c++)
					to[c] = j + c >= i && j + c < order ? root[i] * root[j + c] * k[j + c] : 0;
			if (i < j + W && i >= j) to[i - j] += 1;
		}
}

// factor overwrites B with U, B = U'U, and computes M, ROWS rows of both at a time:
//
//	U_i = U_ii'^-1 (B_i - sum_{k<i} U_ki' U_k),   M_i = U_ii'^-1 (I_i - sum_{k<i} U_ki' M_k).
//
// B and I are added to the sums last: small products would be lost one by one beside their 1.
TARGET static int NAME(factor)(int n, REAL *u, long panel) {
	REAL *m = NAME(inverse)(u), block[ROWS][ROWS], inverses[ROWS];
	for (int i = 0; i < n; i += ROWS) {
		const int own = i / W; // panel of the diagonal
		REAL *ui = u + own * panel + i % W;
		for (int p = own; p * W < n; p += 3) {
			NAME(tile) t;
			REAL *at = u + p * panel;
			NAME(clear)(t);
			NAME(subtract)(t, i, ui, at, panel);
			NAME(add)(t, at + i * W, panel);
			if (p == own) {
				NAME(store)(t, at + i * W, panel);
				for (int r = 0; r < ROWS; r++) memcpy(block[r], ui + (i + r) * W, sizeof block[r]);
				const int minor = NAME(pivots)(block, inverses);
				if (minor) return i + minor;
			}
			NAME(divide)(t, block, inverses);
			NAME(store)(t, at + i * W, panel);
		}
		for (int p = 0; p <= own; p += 3) {
			NAME(tile) t;
			REAL *at = m + p * panel;
			NAME(clear)(t);
			NAME(subtract)(t, i - p * W, ui + p * W * W, at + p * W * W, panel);
			if (p + 3 > own) {
				NAME(store)(t, at + i * W, panel);
				for (int r = 0; r < ROWS; r++) m[own * panel + (i + r) * W + i % W + r] += 1;
				NAME(clear)(t);
				NAME(add)(t, at + i * W, panel);
			}
			NAME(divide)(t, block, inverses);
			NAME(store)(t, at + i * W, panel);
		}
	}
	return 0;
}

// sums reads off pivots U_ii, above_i = sum_{k<i} U_ki^2 and below_i = sum_{k>i} M_ki^2.
TARGET static void NAME(sums)(int order, REAL *u, long panel, double *pivots, double *above, double *below) {
	const REAL *m = NAME(inverse)(u);
	for (int j = 0; j < order; j += W, u += panel, m += panel) {
		double up[W], down[W];
		memset(up, 0, sizeof up);
		memset(down, 0, sizeof down);
		for (int k = 0; k < j; k++)
			for (int c = 0; c < W; c++) up[c] += (double)u[k * W + c] * u[k * W + c];
		for (int k = j; k < j + W && k < order; k++)
			for (int c = 0; c < W; c++) {
				if (j + c > k) up[c] += (double)u[k * W + c] * u[k * W + c];
				if (j + c < k) down[c] += (double)m[k * W + c] * m[k * W + c];
			}
		for (int k = j + W; k < order; k++)
			for (int c = 0; c < W; c++) down[c] += (double)m[k * W + c] * m[k * W + c];
		for (int c = 0; c < W && j + c < order; c++)
			pivots[j + c] = u[(j + c) * W + c], above[j + c] = up[c], below[j + c] = down[c];
	}
}

TARGET int NAME(invert)(int order, const double *k, int ldk, const double *root, void *work,
	double *pivots, double *above, double *below) {
	const int n = (order + 7) / 8 * 8;
	const long panel = (n + COLUMNS) * W;
	REAL *u = work;
	const unsigned mode = _mm_getcsr();
	_mm_setcsr(mode | 0x8040); // numbers below the smallest normal one, which are slow, count as 0
	NAME(form)(order, n, k, ldk, root, u, panel);
	const int minor = NAME(factor)(n, u, panel);
	if (!minor) NAME(sums)(order, u, panel, pivots, above, below);
	_mm_setcsr(mode);
	return minor;
}

// square writes -scale_i scale_j (M'M)_ij below the diagonal of g.
TARGET void NAME(square)(int order, const void *work, const double *scale, double *g, int ldg) {
	const int n = (order + 7) / 8 * 8;
	const long panel = (n + COLUMNS) * W;
	const REAL *m = NAME(inverse)((REAL *)work);
	for (int i = 0; i < n; i += ROWS)
		for (int p = 0; p * W <= i; p += 3) {
			NAME(tile) t;
			NAME(clear)(t);
			NAME(subtract)(t, n - i, m + i / W * panel + i % W + i * W, m + p * panel + i * W, panel);
			REAL rows[3][ROWS][W];
			NAME(store)(t, rows[0][0], ROWS * W);
			for (int r = 0; r < ROWS && i + r < order; r++)
				for (int q = 0; q < 3; q++) {
					const int j = (p + q) * W, last = i + r - j < W ? i + r - j : W;
					double *to = g + (long)(i + r) * ldg + j;
					for (int c = 0; c < last; c++) to[c] = scale[i + r] * scale[j + c] * rows[q][r][c];
				}
		}
}

#ifdef COUPLE // which Newton's method needs to some digits only

// couple writes G o C, C = G diag(u) G, below the diagonal of h. G is given below its diagonal, chi.
//
// C = S'S with S = diag(u)^1/2 G, whose elements are divided by their largest, a bound of it: with w_k =
// u_k chi_k,
//
//	S_kj = (w_k / max w)^1/2 G_kj / (chi_k chi_j)^1/2,   |S_kj| <= 1.
TARGET void NAME(couple)(int order, const double *g, int ldg, const double *chi, const double *u,
	void *work, double *h, int ldh) {
	const int n = (order + 7) / 8 * 8;
	const long panel = (long)n * W;
	REAL *s = work;
	double most = 0, root[n], inverse[n], weight[n];
	for (int k = 0; k < order; k++) {
		root[k] = chi[k] > 0 ? sqrt(chi[k]) : 0;
		inverse[k] = chi[k] > 0 ? 1 / root[k] : 0;
		weight[k] = u[k] * chi[k];
		if (weight[k] > most) most = weight[k];
	}
	for (int k = 0; k < order; k++) weight[k] = most > 0 ? sqrt(weight[k] / most) * inverse[k] : 0;
	const unsigned mode = _mm_getcsr();
	_mm_setcsr(mode | 0x8040);
	for (int j = 0; j < n; j += W) {
		REAL *at = s + j / W * panel;
		for (int k = 0; k < n; k++)
			for (int c = 0; c < W; c++) at[k * W + c] = 0;
		for (int c = 0; c < W && j + c < order; c++) { // above the diagonal: G_kj = G_jk
			const double *row = g + (long)(j + c) * ldg, own = inverse[j + c];
			for (int k = 0; k < j + c; k++) at[k * W + c] = weight[k] * own * row[k];
			at[(j + c) * W + c] = weight[j + c] * root[j + c];
		}
		for (int k = j + 1; k < order; k++) {
			const double *row = g + (long)k * ldg + j;
			const int last = k - j < W ? k - j : W;
			for (int c = 0; c < last; c++) at[k * W + c] = weight[k] * inverse[j + c] * row[c];
		}
	}
	for (int i = 0; i < n; i += ROWS)
		for (int p = 0; p * W <= i; p += 3) {
			NAME(tile) t;
			REAL rows[3][ROWS][W];
			NAME(clear)(t);
			NAME(subtract)(t, order, s + i / W * panel + i % W, s + p * panel, panel);
			NAME(store)(t, rows[0][0], ROWS * W);
			for (int r = 0; r < ROWS && i + r < order; r++)
				for (int q = 0; q < 3; q++) {
					const int j = (p + q) * W, last = i + r - j < W ? i + r - j : W;
					const double *from = g + (long)(i + r) * ldg + j, scale = -most * root[i + r];
					double *to = h + (long)(i + r) * ldh + j;
					for (int c = 0; c < last; c++) to[c] = scale * root[j + c] * rows[q][r][c] * from[c];
				}
		}
	_mm_setcsr(mode);
}

#endif

#undef W
#undef COLUMNS
#undef UNROLL
#undef INLINE
