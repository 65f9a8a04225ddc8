// Products of a matrix R of many rows, sites, and few columns with itself, from tile_kernels.h. R' lies in parts of some rows
// each, see struct thin; a block of SITES sites passes at a time, copied to where it stays in the second-level cache.

#define SITES THIN_SITES

// multiply is subtract for so many panels of B, 1 to 3.
INLINE void NAME(multiply)(NAME(tile) t, int panels, long rows, const REAL *a, const REAL *b, long panel) {
	if (panels >= 3) {
		NAME(subtract)(t, rows, a, b, panel);
		return;
	}
	const REAL *b1 = panels == 2 ? b + panel : b;
	for (long k = 0; k < rows * W; k += W) {
		NAME(vector) v0 = *(const NAME(vector) *)(b + k), v1 = *(const NAME(vector) *)(b1 + k);
		UNROLL for (int r = 0; r < ROWS; r++) {
			t[r][0] -= a[k + r] * v0;
			t[r][1] -= a[k + r] * v1;
		}
	}
}

typedef double NAME(wide) __attribute__((vector_size(W * sizeof(double)), aligned(8), may_alias));

// load reads W numbers.
INLINE NAME(vector) NAME(load)(const double *from) {
	return __builtin_convertvector(*(const NAME(wide) *)from, NAME(vector));
}

// some reads the first n of W numbers, and zeros for the others.
INLINE NAME(vector) NAME(some)(const double *from, int n) {
	double buffer[W];
	for (int c = 0; c < W; c++) buffer[c] = c < n ? from[c] : 0;
	return NAME(load)(buffer);
}

// exchange swaps what is off the diagonal in the squares of half the edge, of those of edge 2s along the diagonal and beside it.
INLINE void NAME(exchange)(NAME(vector) v[W], int s) {
	typedef __typeof__(v[0] < v[0]) mask;
	mask low, high;
	for (int j = 0; j < W; j++) low[j] = j & s ? W + j - s : j, high[j] = j & s ? W + j : j + s;
#pragma GCC unroll 16
	for (int r = 0; r < W; r++)
		if (!(r & s)) {
			const NAME(vector) a = v[r], b = v[r + s];
			v[r] = __builtin_shuffle(a, b, low), v[r + s] = __builtin_shuffle(a, b, high);
		}
}

INLINE void NAME(transpose)(NAME(vector) v[W]) {
	if (W > 8) NAME(exchange)(v, 8);
	if (W > 4) NAME(exchange)(v, 4);
	NAME(exchange)(v, 2);
	NAME(exchange)(v, 1);
}

// pack_sites copies n sites from the given one on, times their roots and times the sizes of these, so that numbers of a row are W
// apart.
TARGET static void NAME(pack_sites)(const struct thin *m, long site, int n, const double *root, REAL *a, REAL *b, long panel) {
	const double none[SITES] = {0}, *rows[W];
	for (int q = 0; q < m->rank; q += W, a += panel, b += panel) {
		for (int r = 0; r < W; r++) rows[r] = q + r < m->rank ? thin_row(m, q + r) + site : none;
		for (int i = 0; i < n; i += W) {
			NAME(vector) v[W];
#pragma GCC unroll 16
			for (int r = 0; r < W; r++) v[r] = i + W <= n ? NAME(load)(rows[r] + i) : NAME(some)(rows[r] + i, n - i);
			NAME(transpose)(v);
#pragma GCC unroll 16
			for (int c = 0; c < W; c++) {
				const REAL scale = i + c < n ? root[site + i + c] : 0;
				*(NAME(vector) *)(a + (i + c) * W) = v[c] * scale;
				*(NAME(vector) *)(b + (i + c) * W) = v[c] * (scale < 0 ? -scale : scale);
			}
		}
	}
}

// lessen subtracts a tile, of so many rows, from the lower triangle of sum, where its corner is row i and column j.
INLINE void NAME(lessen)(const NAME(tile) t, int rows, int i, int j, double *sum, long ldsum) {
	double *to = sum + i * ldsum + j;
	if (rows == ROWS && j + COLUMNS <= i + 1) {
		UNROLL for (int r = 0; r < ROWS; r++)
			UNROLL for (int c = 0; c < 3; c++) {
				NAME(wide) *at = (NAME(wide) *)(to + r * ldsum + c * W);
				*at -= __builtin_convertvector(t[r][c], NAME(wide));
			}
		return;
	}
	REAL values[ROWS][COLUMNS];
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) *(NAME(vector) *)(values[r] + c * W) = t[r][c];
	for (int r = 0; r < rows; r++, to += ldsum)
		for (int k = 0; k < COLUMNS && j + k <= i + r; k++) to[k] -= values[r][k];
}

// ahead asks for part k of count of the block that begins at a site, while the one before it is worked on.
TARGET static inline void NAME(ahead)(const struct thin *m, long site, long last, long k, long count) {
	if (site + SITES > last) return;
	for (long q = m->rank * k / count; q < m->rank * (k + 1) / count; q++) {
		const double *row = thin_row(m, q) + site;
		for (int i = 0; i < SITES; i += 8) __builtin_prefetch(row + i, 0, 2);
	}
}

// gram adds R' diag(root o |root|) R over a range of sites to the lower triangle of sum.
TARGET void NAME(gram)(const struct thin *m, long first, long last, const double *root, void *work, double *sum, long ldsum) {
	const long panel = SITES * W, panels = (m->rank + W - 1) / W;
	REAL *a = work, *b = a + panels * panel;
	for (long site = first; site < last; site += SITES) {
		const int n = last - site < SITES ? last - site : SITES;
		NAME(pack_sites)(m, site, n, root, a, b, panel);
		long tile = 0, tiles = 0;
		for (int p = 0; p < panels; p += 3) tiles += (m->rank - p * W + ROWS - 1) / ROWS;
		for (int p = 0; p < panels; p += 3)
			for (int i = p * W; i < m->rank; i += ROWS, tile++) {
				NAME(ahead)(m, site + SITES, last, tile, tiles);
				const int own = i / W - p + 1, there = panels - p < 3 ? panels - p : 3;
				const int count = own < there ? own : there;
				NAME(tile) t;
				for (int r = 0; r < ROWS && i + r < m->rank; r++)
					for (int c = 0; c < count; c++) __builtin_prefetch(sum + (i + r) * ldsum + (p + c) * W, 1);
				NAME(clear)(t);
				NAME(multiply)(t, count, n, a + i / W * panel + i % W, b + p * panel, panel);
				NAME(lessen)(t, m->rank - i < ROWS ? m->rank - i : ROWS, i, p * W, sum, ldsum);
			}
	}
}

// lower_at is where column i of a lower triangle begins that pack_lower has copied, i a multiple of W.
static inline long NAME(lower_at)(long i) { return i * (i + W) / 2; }

// pack_lower copies the lower triangle a, so that numbers of a column are W apart, with zeros right of it.
TARGET static void NAME(pack_lower)(int order, const double *a, long lda, REAL *to) {
	for (int i = 0; i < order; i += W)
		for (int k = 0; k < i + W; k++, to += W)
			for (int r = 0; r < W; r++) to[r] = i + r < order && k <= i + r ? a[(i + r) * lda + k] : 0;
}

// pack_rows copies n sites from the given one on, so that numbers of a site are W apart, with zeros beyond them.
TARGET static void NAME(pack_rows)(const struct thin *m, long site, int n, REAL *to, long panel) {
	for (int q = 0; q < m->rank; q++) {
		const double *from = thin_row(m, q) + site;
		for (int i = 0; i < SITES; i += W)
			*(NAME(vector) *)(to + i / W * panel + q * W) = i + W <= n ? NAME(load)(from + i) : NAME(some)(from + i, n - i);
	}
}

// keep writes -t to rows of dst, n sites of each.
INLINE void NAME(keep)(NAME(tile) t, int rows, int n, double *dst, long lddst) {
	REAL values[ROWS][COLUMNS];
	UNROLL for (int r = 0; r < ROWS; r++)
		UNROLL for (int c = 0; c < 3; c++) *(NAME(vector) *)(values[r] + c * W) = -t[r][c];
	for (int r = 0; r < rows; r++, dst += lddst)
		for (int k = 0; k < n; k++) dst[k] = values[r][k];
}

// forms writes, for the rows x_i of R of a range of sites and a lower triangle L, x_i'L x_i, or |L x_i|^2 where norms says so. L R' is
// written to kept unless that is null.
TARGET void NAME(forms)(const struct thin *m, long first, long last, const double *l, long ldl, int norms, void *work, double *dst, double *kept, long ldkept) {
	const long lines = (m->rank + ROWS - 1) / ROWS * ROWS, panel = lines * W;
	REAL *x = work, *lower = x + SITES / W * panel;
	NAME(pack_lower)(m->rank, l, ldl, lower);
	for (int i = 0; i < SITES; i += W) memset(x + i / W * panel + m->rank * W, 0, (lines - m->rank) * W * sizeof(REAL));
	for (long site = first; site < last; site += SITES) {
		const int n = last - site < SITES ? last - site : SITES;
		double sums[SITES];
		memset(sums, 0, sizeof sums);
		NAME(pack_rows)(m, site, n, x, panel);
		for (int i = 0; i < m->rank; i += ROWS) {
			const int rows = m->rank - i < ROWS ? m->rank - i : ROWS;
			NAME(ahead)(m, site + SITES, last, i / ROWS, lines / ROWS);
			for (int p = 0; p * W < n; p += 3) {
				NAME(tile) t;
				const REAL *at = x + p * panel;
				NAME(clear)(t);
				NAME(subtract)(t, i + rows, lower + NAME(lower_at)(i / W * W) + i % W, at, panel);
				for (int c = 0; c < 3; c++) {
					NAME(vector) total = {0};
					UNROLL for (int r = 0; r < ROWS; r++) total += t[r][c] * (norms ? t[r][c] : -*(const NAME(vector) *)(at + c * panel + (i + r) * W));
					for (int k = 0; k < W; k++) sums[(p + c) * W + k] += total[k];
				}
				if (kept) NAME(keep)(t, rows, n - p * W < COLUMNS ? n - p * W : COLUMNS, kept + i * ldkept + site + p * W, ldkept);
			}
		}
		memcpy(dst + site, sums, n * sizeof(double));
	}
}

#undef SITES
