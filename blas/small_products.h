// Products of symmetric matrices, given below their diagonals, with vectors. The file that includes this
// defines BYTES, TARGET and NAME.

#define W ((int)(BYTES / sizeof(double)))
typedef double NAME(vector) __attribute__((vector_size(BYTES), aligned(8), may_alias));
#define AT(x) (*(NAME(vector) *)((x) + j))
#define FROM(x) (*(const NAME(vector) *)((x) + j))

TARGET static inline double NAME(total)(NAME(vector) v) {
	double sum = 0;
	for (int c = 0; c < W; c++) sum += v[c];
	return sum;
}

// squared is y = (G o G) x.
TARGET void NAME(squared)(int order, const double *g, int ldg, const double *x, double *y) {
	for (int i = 0; i < order; i++, g += ldg) {
		const double xi = x[i];
		NAME(vector) sums = {0};
		int j = 0;
		for (; j + W <= i; j += W) {
			const NAME(vector) v = FROM(g), square = v * v;
			sums += square * FROM(x);
			AT(y) += square * xi;
		}
		double sum = NAME(total)(sums);
		for (; j < i; j++) {
			const double square = g[j] * g[j];
			sum += square * x[j];
			y[j] += square * xi;
		}
		y[i] = sum;
	}
}

// coupled is y0 = (G o G) d, y1 = (G o G) u, y2 = H d and y3 = G f, in one pass.
TARGET void NAME(coupled)(int order, const double *g, int ldg, const double *h, int ldh, const double *d,
	const double *u, const double *f, double *y0, double *y1, double *y2, double *y3) {
	for (int i = 0; i < order; i++, g += ldg, h += ldh) {
		const double di = d[i], ui = u[i], fi = f[i];
		NAME(vector) s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
		int j = 0;
		for (; j + W <= i; j += W) {
			const NAME(vector) v = FROM(g), square = v * v, cross = FROM(h);
			s0 += square * FROM(d);
			s1 += square * FROM(u);
			s2 += cross * FROM(d);
			s3 += v * FROM(f);
			AT(y0) += square * di;
			AT(y1) += square * ui;
			AT(y2) += cross * di;
			AT(y3) += v * fi;
		}
		double t0 = NAME(total)(s0), t1 = NAME(total)(s1), t2 = NAME(total)(s2), t3 = NAME(total)(s3);
		for (; j < i; j++) {
			const double square = g[j] * g[j];
			t0 += square * d[j], t1 += square * u[j], t2 += h[j] * d[j], t3 += g[j] * f[j];
			y0[j] += square * di, y1[j] += square * ui, y2[j] += h[j] * di, y3[j] += g[j] * fi;
		}
		y0[i] = t0, y1[i] = t1, y2[i] = t2, y3[i] = t3;
	}
}

#undef W
#undef AT
#undef FROM
