package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
)

// Blocks against the whole matrix: rows and columns in any order, repeated, with a
// stride, for kinds with and without a distance, dense and sparse. The products are
// summed in another order, so that they agree to rounding.
func TestBlockIsCutFromGram(t *testing.T) {
	const m, d, stride = 40, 5, 9
	rng := rand.New(rand.NewPCG(21, 0))
	sparse, x := thin(rng, m, d, 0.67)
	rows, cols := []int{39, 3, 3, 17}, []int{38, 0, 21, 3, 5, 21, 39}
	for _, spec := range []Spec{{Gamma: 0.3, Constant: 0.5, Jitter: 0.25}, {Kind: Matern32, Amplitude: 2},
		{Kind: Poly, Coef0: 1}, {Kind: Linear}} {
		gram := mustGram(t, spec, x)
		for name, x := range map[string]*dataset.Inputs{"dense": dense(x), "sparse": sparse} {
			in := mustPrepare(t, spec, x)
			dst := make([]float64, len(rows)*stride)
			for i := range dst {
				dst[i] = -77
			}
			in.Block(dst, stride, rows, cols)
			for r, i := range rows {
				for c := range stride {
					want := -77.0
					if c < len(cols) {
						want = gram.At(i, cols[c])
						if i == cols[c] {
							want -= spec.Jitter
						}
					}
					if got := dst[r*stride+c]; math.Abs(got-want) > 1e-13*math.Max(1, math.Abs(want)) {
						t.Errorf("%s, %v: element (%d, %d) is %v, want %v", name, spec.Kind, r, c, got, want)
					}
				}
			}
			in.Block(dst, stride, nil, cols)
			in.Block(dst, stride, rows, nil)
		}
	}
}
