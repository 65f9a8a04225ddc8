package fits

import (
	"math"

	"bootbench/linalg"
)

// write writes the predictions of row i, after evaluate, into f: f_s(h) at the sites, and those at the new
// inputs. It reports whether all signs are determined beyond rounding.
func (b *block[T]) write(i int, residual float64, room *room[T], f []float64) (decided bool) {
	t, s := b.trainer, b.trainer.surrogate
	sites, weight := f[:t.Sites()], b.rows[i].weight
	var doubtful []int
	for j, v := range room.fitted {
		if sites[j] = v; weight[j] == 0 {
			if sites[j] = room.h[j]; math.Abs(room.h[j]) <= s.rounding[j]+residual*s.response[j] {
				doubtful = append(doubtful, j)
			}
		}
	}
	decided = s.kernel == nil || len(doubtful) == 0 || b.readAgain(i, room.h, sites, doubtful)
	for j, v := range sites {
		room.fitted[j] = s.force(j, v, room.h[j], weight[j])
	}
	t.respond(f[t.Sites():t.inputs()], room.fitted)
	return decided
}

// force is xi = c (f - h) + d f, without the first term if the examples of a site are absent.
func (s *surrogate) force(j int, f, h, weight float64) float64 {
	if weight == 0 {
		return s.d[j] * f
	}
	return s.c[j]*(f-h) + s.d[j]*f
}

// readAgain recomputes the predictions f of row i, of the given fields h, at doubtful sites, whose examples
// are absent, in double precision, by the more accurate of two formulas without the difference from the mean,
//
//	f_i = h_i = sum_{j != i} G_ij xi_j / b_i  or  f_i = sum_j K_ij a_j,  a_j = c_j (f_j - h_j), 0 if absent.
//
// Far from all other inputs the terms span many orders of magnitude, and the nearest present input dominates.
// The error of xi_j is estimated by r_j, its last change, or by rounding if j is absent. The error of the
// first formula is sum_j |G_ij| r_j/b_i and the rounding of G's elements, the bound of the second sum_j
// |K_ij| r_j over the present sites. A sign is determined if |f_i| exceeds the error, or if h_i exceeded
// rounding.
func (b *block[T]) readAgain(i int, fields, f []float64, doubtful []int) (decided bool) {
	s, weight := b.trainer.surrogate, b.rows[i].weight
	n := len(f)
	xi, a, r, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for j, v := range f {
		xi[j], r[j] = s.force(j, v, fields[j], weight[j]), s.d[j]*s.rounding[j]
		if weight[j] > 0 {
			a[j] = s.c[j] * (v - fields[j])
			r[j] = s.unit * math.Abs(float64(b.rows[i].weighted[j]*b.scales.force[j]))
		}
	}
	decided = true
	for _, at := range doubtful {
		linalg.Row(s.engine, g, at)
		h, sum, errorOfH, errorOfSum := 0.0, 0.0, s.elementRounding[at], 0.0
		for j, v := range a {
			if j == at {
				continue
			}
			h += g[j] * xi[j] * s.inverseB[at]
			errorOfH += math.Abs(g[j]) * r[j] * s.inverseB[at]
			if weight[j] > 0 {
				k := s.kernel.At(at, j)
				sum += k * v
				errorOfSum += math.Abs(k) * (r[j] + doubleRounding*math.Abs(v))
			}
		}
		if f[at] = h; errorOfSum < errorOfH {
			f[at], errorOfH = sum, errorOfSum
		}
		if f[at] != 0 && math.Abs(f[at]) <= errorOfH && math.Abs(fields[at]) <= s.rounding[at] {
			decided = false
		}
	}
	return decided
}

// Units in the last place of either precision.
const (
	singleRounding = 1.0 / (1 << 24)
	doubleRounding = 1.0 / (1 << 53)
)

// manyRoundings bounds a sum of roundings, in multiples of its root mean square.
const manyRoundings = 8

// boundRounding bounds the rounding error of h: of x and its products with G, with unit roundoff u, and
// of the elements of G, about 2^-53 (G_ii G_jj)^1/2.
func (s *surrogate) boundRounding(u float64) {
	n := len(s.chi)
	s.rounding, s.elementRounding, s.response = make([]float64, n), make([]float64, n), make([]float64, n)
	if s.kernel == nil {
		return // nothing is recomputed
	}
	squares, spreads, all := make([]float64, n), make([]float64, n), 0.0
	for j, chi := range s.chi {
		spread := s.deviation[j] / chi
		spreads[j] = spread * spread
		squares[j] = s.g[j]*s.g[j] + spreads[j]
		all += chi * squares[j]
	}
	s.engine.MulVecSquaredOffDiag(s.rounding, squares)
	s.engine.MulVecSquaredOffDiag(s.response, spreads)
	for i, v := range s.rounding {
		s.elementRounding[i] = manyRoundings * doubleRounding * math.Sqrt(s.chi[i]*all) * s.inverseB[i]
		s.response[i] = math.Sqrt(s.response[i]) * s.inverseB[i]
		s.rounding[i] = manyRoundings*u*math.Sqrt(v)*s.inverseB[i] + s.elementRounding[i]
	}
}
