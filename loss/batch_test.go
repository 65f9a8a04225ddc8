package loss

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProxEach: the map of many sites is the map of each by itself (Proximal.Prox), to
// rounding, for counts 0 to 5, fields on both sides of every bend and curvatures over
// decades; and without a weight it is h.
func TestProxEach(t *testing.T) {
	losses := []Proximal{
		Square{Noise: 0.3}, HardMargin{}, Hinge{C: 0.7}, SquaredHinge{C: 2}, Logistic{C: 3}, Logistic{C: 1e4},
		EpsInsensitive{C: 0.5, Epsilon: 0.2}, EpsInsensitive{C: 0.5}, LeastAbsolute{C: 1.5},
		Huber{C: 2, Epsilon: 0.4}, pinballLoss(0.3), FromSmooth(logCosh{2}),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	c, h, y, k, f := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	for i := range n {
		c[i], h[i], k[i] = math.Exp(6*rng.NormFloat64()), 3*rng.NormFloat64(), float64(rng.IntN(6))
		y[i] = float64(2*rng.IntN(2) - 1)
	}
	for _, l := range losses {
		ProxEach(l, f, c, h, y, k)
		for i := range n {
			want, _ := l.Prox(c[i], h[i], y[i:i+1], k[i:i+1])
			if k[i] == 0 {
				want = h[i]
			}
			if !(math.Abs(f[i]-want) <= 1e-12*(1+math.Abs(want)+math.Abs(h[i]))) {
				t.Fatalf("%s: c %v, h %v, y %v, k %v: f is %v, want %v",
					l.Name(), c[i], h[i], y[i], k[i], f[i], want)
			}
		}
		near := append([]float64(nil), f...) // a good guess and a bad one do not matter
		for i := range n {
			if f[i] += 0.1; i%2 == 0 {
				f[i] = 20 * rng.NormFloat64()
			}
		}
		ProxEach(l, f, c, h, y, k)
		for i := range n {
			if !(math.Abs(f[i]-near[i]) <= 1e-12*(1+math.Abs(near[i])+math.Abs(h[i]))) {
				t.Fatalf("%s: %v from a guess, %v without", l.Name(), f[i], near[i])
			}
		}
		copy(f, h) // dst may be h
		ProxEach(l, f, c, f, y, k)
		if want, _ := l.Prox(c[0], h[0], y[:1],
			k[:1]); math.Abs(f[0]-want) > 1e-12*(1+math.Abs(want)+math.Abs(h[0])) {
			t.Errorf("%s in place: %v, want %v", l.Name(), f[0], want)
		}
	}
}
