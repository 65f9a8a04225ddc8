package batch

import (
	"math"

	"bootbench/linalg"
)

// write leaves the predictions of row i, which evaluate has just seen, in f: f_s(h) at the sites, and what
// its forces make at the new inputs. It reports whether the sign of each is known.
func (b *block[T]) write(i int, f []float64) (decided bool) {
	t, s := b.trainer, b.trainer.surrogate
	sites, weight := f[:t.Sites()], b.rows[i].weight
	for j, v := range b.fitted {
		if sites[j] = v; weight[j] == 0 {
			sites[j] = b.h[j]
		}
	}
	decided = true
	if len(s.narrow) > 0 {
		decided = b.writeNarrow(i, sites)
	}
	for j, v := range sites {
		b.fitted[j] = s.c[j]*(v-b.h[j]) + s.d[j]*v // xi
	}
	t.respond(f[t.Sites():t.inputs()], b.fitted)
	return decided
}

// writeNarrow overwrites the predictions at narrow sites whose examples are absent with the representer
// theorem's, f_i = sum_j K_ij a_j, a_j = c_j (f_j - h_j) and 0 where j is absent, if its error is less than
// that of h_i. What the iteration has left, r, enters the first as |K| |r| over the sites that are present,
// the second as |G| |r|/b over all.
func (b *block[T]) writeNarrow(i int, f []float64) (decided bool) {
	s, row, x := b.trainer.surrogate, &b.rows[i], b.x.row(i)
	n := len(f)
	a, left, g := make([]float64, n), make([]float64, n), make([]float64, n)
	for j, v := range f {
		left[j] = s.unit * math.Abs(float64(row.weighted[j]*b.scales.force[j]))
		if row.weight[j] > 0 {
			a[j] = s.c[j] * (v - b.h[j])
		}
	}
	decided = true
	for _, site := range s.narrow {
		if row.weight[site.index] > 0 {
			continue
		}
		s.engine.Row(g, site.index)
		sum, errorOfH, errorOfSum := 0.0, site.rounding, 0.0
		for j, v := range a {
			if j == site.index {
				continue
			}
			rounding := single * s.unit * math.Abs(float64(x[j]))
			errorOfH += math.Abs(g[j]) * (left[j] + rounding) * s.inverseB[site.index]
			if row.weight[j] > 0 {
				k := s.kernel.At(site.index, j)
				sum += k * v
				errorOfSum += math.Abs(k) * (left[j] + double*math.Abs(v))
			}
		}
		if errorOfSum < errorOfH {
			f[site.index], errorOfH = sum, errorOfSum
		}
		if value := math.Abs(f[site.index]); value > 0 && value <= errorOfH {
			decided = false
		}
	}
	return decided
}

// narrowSite is a site whose predictions, where its examples are absent, may be less than the rounding
// of G's elements makes of them.
type narrowSite struct {
	index    int
	rounding float64 // of h
}

// Units in the last place of either precision.
const (
	single = 1.0 / (1 << 24)
	double = 1.0 / (1 << 52)
)

// narrowSites are those where the rounding of G, whose elements err by some 2^-52 of (G_ii G_jj)^1/2, makes
// more of h than the tolerance times sum_{j != i} |K_ij a_j|, forces a and xi at the size that they have.
func (s *surrogate) narrowSites(k *linalg.Sym, tolerance float64) (narrow []narrowSite) {
	n := len(s.chi)
	size, force, all := make([]float64, n), make([]float64, n), 0.0
	for i, chi := range s.chi {
		spread := s.deviation[i] / chi
		force[i] = math.Abs(s.g[i]-s.d[i]*s.mean[i]) + spread
		all += math.Sqrt(chi) * (math.Abs(s.g[i]) + spread)
	}
	for i := range n {
		for j, v := range k.Row(i)[1:] {
			v = math.Abs(v)
			size[i] += v * force[i+1+j]
			size[i+1+j] += v * force[i]
		}
	}
	for i, chi := range s.chi {
		if rounding := double * math.Sqrt(chi) * all * s.inverseB[i]; rounding > tolerance*size[i] {
			narrow = append(narrow, narrowSite{i, rounding})
		}
	}
	return narrow
}
