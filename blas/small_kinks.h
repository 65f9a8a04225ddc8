// Averages of piecewise linear maps of a standard normal x, bent at one place, with one lane of a vector for every
// normal. The file that includes this defines BYTES, TARGET and NAME.

#define W ((int)(BYTES / sizeof(double)))
#define INLINE TARGET static inline __attribute__((always_inline))
typedef double NAME(lanes) __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef long long NAME(mask) __attribute__((vector_size(BYTES)));
#define VEC NAME(lanes)
#define MASK NAME(mask)

INLINE VEC NAME(all)(double x) { return (VEC){0} + x; }
INLINE VEC NAME(where)(MASK m, VEC a, VEC b) { return (VEC)((m & (MASK)a) | (~m & (MASK)b)); }
INLINE VEC NAME(absolute)(VEC x) { return (VEC)((MASK)x & 0x7fffffffffffffffLL); }

// The integrals over the tail beyond |z|: the density, P, E(x-|z|)+ and E(x-|z|)+^2.
typedef struct {
	VEC z, density, p, first, second;
} NAME(tail);
#define TAIL NAME(tail)

// exponential is exp(-y), 0 <= y <= 708: 2^-n exp(-r), |r| <= log(2)/2, by Taylor's series.
INLINE VEC NAME(exponential)(VEC y) {
	const VEC shifted = 0x1.8p52 - y * 0x1.71547652b82fep0, n = shifted - 0x1.8p52;
	const VEC r = (-y - n * 0x1.62e42fefa39efp-1) - n * 0x1.abc9e3b39803fp-56;
	VEC sum = NAME(all)(1. / 6227020800);
	static const double factorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1};
#pragma GCC unroll 13
	for (int i = 0; i < 13; i++) sum = sum * r + 1 / factorials[i];
	return (VEC)((MASK)sum + ((MASK)shifted << 52));
}

// tail_at is the tail at z, 0 beyond the reach. With I_n the repeated integrals of the tail (Abramowitz and Stegun 7.2) and s =
// 1/(|z|+6), I_n/(phi s^(n+1)), n = 1 and 2, are smooth functions of s down to 0: polynomials in u, which runs from -1 at
// z = 0 to 1 at 40, through their Chebyshev points. With roundings they are right to 5e-16 of themselves.
INLINE TAIL NAME(tail_at)(VEC z) {
	static const double first[] = {
		4.678726595956216, -7.561734948571463, 8.082706126913775, -6.747530636868711, 4.603794149830745,
		-2.592508471389584, 1.1906547313933087, -0.42861888561131817, 0.10850222897386302, -0.01165692923849365,
		-0.004177094702829326, 0.002196121442146438, -0.00023705903098676865, -0.00013678073694528114, 4.9309736619890246e-05,
		4.381162351548071e-06, -5.472205666744972e-06, 2.1931686362471476e-07, 5.473133839830536e-07, -6.301912392637708e-08,
		-5.5282615094970855e-08, 7.988415971646204e-09, 5.366379237296131e-09, -5.687097673556307e-10, -3.5676393909136737e-10,
	};
	static const double second[] = {
		9.593854312527666, -21.850120387845102, 29.32309699572155, -28.838691381731664, 22.23703498150773,
		-13.717333102298907, 6.712834855117769, -2.492996575896256, 0.6107041807804151, -0.03696199537675415,
		-0.040764835717836546, 0.016123850393035346, -0.0005036190843043603, -0.001474575729247631, 0.0003517693134962543,
		9.415371220072539e-05, -5.1686224784967915e-05, -4.3234602451305615e-06, 6.26560936753235e-06, 5.948130013875413e-08,
		-7.270085063305947e-07, 1.4076545097091307e-08, 7.682483688731634e-08, -1.3522609178463472e-09, -5.320726863456662e-09,
	};
	VEC x = NAME(absolute)(z);
	const MASK far = x > NAME(all)(37); // where the density is 1e-298 and below
	x = NAME(where)(far, NAME(all)(37), x);
	const VEC s = 1 / (x + 6), u = 1.3 - 13.8 * s, square = u * u;
	VEC even1 = NAME(all)(first[24]), odd1 = NAME(all)(first[23]), even2 = NAME(all)(second[24]), odd2 = NAME(all)(second[23]);
#pragma GCC unroll 12
	for (int i = 22; i >= 0; i -= 2) {
		even1 = even1 * square + first[i];
		even2 = even2 * square + second[i];
		if (i > 0) {
			odd1 = odd1 * square + first[i - 1];
			odd2 = odd2 * square + second[i - 1];
		}
	}
	TAIL t = {z, NAME(exponential)(0.5 * x * x) * 0x1.9884533d43651p-2};
	t.density = (VEC)((MASK)t.density & ~far);
	t.first = t.density * s * s * (even1 + u * odd1);
	t.second = 2 * t.density * s * s * s * (even2 + u * odd2);
	t.p = t.second + x * t.first;
	return t;
}

// keep drops a tail but where m holds.
INLINE void NAME(keep)(TAIL *t, MASK m) {
	t->density = (VEC)((MASK)t->density & m);
	t->p = (VEC)((MASK)t->p & m);
	t->first = (VEC)((MASK)t->first & m);
	t->second = (VEC)((MASK)t->second & m);
}

// side is what lies beyond z, on the side of the sign: the mass, E|x-z| and E(x-z)^2 over it.
typedef struct {
	VEC p, first, second;
} NAME(side);
#define SIDE NAME(side)

INLINE SIDE NAME(side_of)(const TAIL *t, double sign) {
	const VEC z = sign * t->z;
	const MASK wide = z < 0;
	return (SIDE){NAME(where)(wide, 1 - t->p, t->p), NAME(where)(wide, t->first - z, t->first), NAME(where)(wide, 1 + z * z - t->second, t->second)};
}

#define NARROW 0.1

// between is P(lo < x < hi), hi-lo being at least that wide, of a short interval by the derivatives of the density at its ends (Obreschkoff's formula, which errs by
// 1e-10 of width^9 times the eighth derivative).
INLINE VEC NAME(between)(const TAIL *lo, const TAIL *hi, double least) {
	const VEC a = lo->z, b = hi->z;
	const MASK left = a < 0, right = b > 0;
	const VEC whole = (VEC)((MASK)NAME(all)(1) & left & right);
	const VEC apart = (whole - NAME(where)(left, lo->p, -lo->p)) - NAME(where)(right, hi->p, -hi->p);
	if (least > NARROW) return apart;
	const VEC width = b - a, f = lo->density, g = hi->density;
	const MASK narrow = (width * (1 + 0.5 * NAME(absolute)(a + b)) < NARROW) & (f > 0) & (g > 0);
	const VEC third = (3 - a * a) * a * f - (3 - b * b) * b * g, second = (a * a - 1) * f + (b * b - 1) * g;
	const VEC near = width * (0.5 * (f + g) + width * (3. / 28 * (b * g - a * f) + width * (1. / 84 * second + width * (1. / 1680 * third))));
	return NAME(where)(narrow, near, apart);
}

// One end of the flat part of a map: the tail there, and what lies beyond it.
typedef struct {
	TAIL at;
	SIDE side;
} NAME(end);

// end_at is the end that a slope moves away from the kink, on the side of the sign. None of it counts where
// even the lane nearest to the middle is out of reach; farthest is a lane whose kink is farthest from it.
INLINE NAME(end) NAME(end_at)(NAME(end) kink, VEC scale, double nearest, double farthest, double least, double slope, double reach, double sign) {
	if (slope == 0) return kink;
	NAME(end) e = {{kink.at.z + slope * scale}};
	const double out = sign * (nearest + slope * least), square = reach * reach;
	if (out > 0 && out * out > square + (sign * farthest > 0 ? farthest * farthest : 0)) return e;
	const VEC z = kink.at.z, zero = {0}, beyond = NAME(where)(sign * z > 0, z, zero);
	e.at = NAME(tail_at)(e.at.z);
	NAME(keep)(&e.at, (sign * e.at.z <= 0) | (e.at.z * e.at.z <= square + beyond * beyond));
	e.side = NAME(side_of)(&e.at, sign);
	return e;
}

// flatten brings a side of slope one to c/(c+q), and returns how much slope that takes.
INLINE VEC NAME(flatten)(SIDE *s, VEC c, double q) {
	const VEC share = 1 / (c + q), slope = c * share, taken = q * share * s->p;
	s->p *= slope;
	s->first *= slope;
	s->second *= slope * slope;
	return taken;
}

// kinks reads and writes a KinkLanes of kinks.go, and reads KinkRows, as they lie.
#define MOST 64
#define LANE(k) (*(VEC *)(lane + (k) * MOST))
TARGET void NAME(kinks)(int number, int rows, const double *row, double *lane) {
	for (int i = 0; i < number; i += W, lane += W) {
		const VEC z = LANE(0), scale = LANE(1), c = LANE(2);
		double lowest = z[0], highest = z[0], least = scale[0];
		for (int j = 1; j < W && i + j < number; j++) {
			lowest = z[j] < lowest ? z[j] : lowest;
			highest = z[j] > highest ? z[j] : highest;
			least = scale[j] < least ? scale[j] : least;
		}
		const TAIL here = NAME(tail_at)(z);
		const NAME(end) down = {here, NAME(side_of)(&here, -1)}, up = {here, NAME(side_of)(&here, 1)};
		VEC first = {0}, second = {0}, keep = {0}, pull = {0}, first_scale = {0}, second_scale = {0}, keep_z = {0}, keep_scale = {0};
		const double *r = row;
		for (int k = 0; k < rows; k++, r += 6) {
			const double p = r[0], below = r[1], above = r[2];
			NAME(end) lo = NAME(end_at)(down, scale, highest, lowest, least, below, r[5], -1), hi = NAME(end_at)(up, scale, lowest, highest, least, above, r[5], 1);
			keep_z += p * (lo.at.density - hi.at.density);
			const double pb = below > -INFINITY ? p * below : 0, pa = above < INFINITY ? p * above : 0;
			first_scale -= pb * lo.side.p + pa * hi.side.p;
			second_scale += 2 * (pb * lo.side.first - pa * hi.side.first);
			keep_scale += pb * lo.at.density - pa * hi.at.density;
			VEC flat = {0};
			if (below != above) flat = NAME(between)(&lo.at, &hi.at, (above - below) * least);
			if (r[3] != 0) flat += NAME(flatten)(&lo.side, c, r[3]);
			if (r[4] != 0) flat += NAME(flatten)(&hi.side, c, r[4]);
			first += p * (hi.side.first - lo.side.first);
			second += p * (hi.side.second + lo.side.second);
			keep += p * (hi.side.p + lo.side.p);
			pull += p * flat;
		}
		LANE(3) = first, LANE(4) = second, LANE(5) = keep, LANE(6) = pull;
		LANE(7) = first_scale, LANE(8) = second_scale, LANE(9) = keep_z, LANE(10) = keep_scale;
	}
}

#undef W
#undef VEC
#undef MASK
#undef TAIL
#undef SIDE
#undef LANE
#undef MOST
#undef NARROW
#undef INLINE
