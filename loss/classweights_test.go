package loss

import (
	"math"
	"slices"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// TestBalanced: both classes weigh n/2 in all, and classes of one size 1 each.
func TestBalanced(t *testing.T) {
	y := []float64{1, -1, -1, -1, 1, -1, -1}
	w, sums := Balanced(y), map[float64]float64{}
	for _, v := range y {
		sums[v] += w.ClassWeight(v)
	}
	if math.Abs(sums[1]-3.5) > 1e-15 || math.Abs(sums[-1]-3.5) > 1e-15 {
		t.Errorf("%+v: the classes weigh %v", w, sums)
	}
	if w := Balanced([]float64{1, -1, -1, 1}); w != (ClassWeights{1, 1}) {
		t.Errorf("of one size: %+v", w)
	}
	if w := Balanced([]float64{1, 1}); w != (ClassWeights{}) {
		t.Errorf("of one class: %+v", w)
	}
}

// weighted lists the losses that take class weights.
func weighted(w ClassWeights) []Proximal {
	return []Proximal{Hinge{0.7, w}, SquaredHinge{0.7, w}, Logistic{0.7, w}}
}

// TestClassWeightsByC: at an example of one class a weighted loss is the loss with C times its
// weight, to the last bit where the product is exact: value, map, map of many sites, moments. So
// weights of 1 are none.
func TestClassWeightsByC(t *testing.T) {
	h, c := []float64{-2.3, 0.1, 0.4, 3}, []float64{0.3, 1, 2, 5}
	k := []float64{1, 2, 0, 3}
	for _, w := range []ClassWeights{{}, {1, 1}, {0.5, 4}} {
		for i, l := range weighted(w) {
			for _, y := range []float64{-1, 1} {
				one := []Proximal{Hinge{C: 0.7 * w.ClassWeight(y)}, SquaredHinge{C: 0.7 * w.ClassWeight(y)},
					Logistic{C: 0.7 * w.ClassWeight(y)}}[i]
				targets, got, want := slices.Repeat([]float64{y}, len(h)), make([]float64, len(h)),
					make([]float64, len(h))
				ProxEach(l, got, c, h, targets, k)
				ProxEach(one, want, c, h, targets, k)
				for j := range h {
					f, slope := l.Prox(c[j], h[j], []float64{y}, k[j:j+1])
					wantF, wantSlope := one.Prox(c[j], h[j], []float64{y}, k[j:j+1])
					cav := Cavity{c[j], h[j], 0.5}
					if got[j] != want[j] || f != wantF || slope != wantSlope ||
						l.Value(h[j], y) != one.Value(h[j], y) ||
						momentsAt(t, l, y, cav) != momentsAt(t, one, y, cav) {
						t.Errorf("%s %+v at %v, label %v: %v, %v, %v, want %v, %v, %v",
							l.Name(), w, h[j], y, got[j], f, slope, want[j], wantF, wantSlope)
					}
				}
			}
		}
	}
}

func momentsAt(t *testing.T, l Proximal, y float64, cav Cavity) Moments {
	t.Helper()
	site := testutil.Must(l.(Loss).Site([]float64{y}, resample.Poisson{Ratio: 1}))(t)
	return site.Moments(cav)
}

// TestBadClassWeights: weights that are not positive, or whose product with C is no number, are
// refused; a loss without C for each class has none.
func TestBadClassWeights(t *testing.T) {
	for _, w := range []ClassWeights{{1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}, {1e100, 1}} {
		for _, l := range weighted(w) {
			if l, err := ByName(l.Name(), Parameters{C: 1e5, ClassWeights: w}); err == nil {
				t.Errorf("%+v is allowed", l)
			}
		}
	}
	for _, name := range Names() {
		about := testutil.Must(About(name))(t)
		w := ClassWeights{2, 3}
		l, err := ByName(name, Parameters{Noise: 1, C: 1, Epsilon: 1, ClassWeights: w})
		if p, _ := ParametersOf(l); err != nil || (p.ClassWeights == w) != about.Weighted {
			t.Errorf("%s: %+v, %v, weighted %v", name, l, err, about.Weighted)
		}
	}
}
