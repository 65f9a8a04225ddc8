package loss_test

import (
	"fmt"
	"math"

	"bootbench/loss"
	"bootbench/resample"
)

// quantile is the pinball loss: q (y-f) above the prediction f, (1-q) (f-y)
// below it, times C. Its value and its proximal map are all that is asked.
type quantile struct{ C, Q float64 }

func (quantile) Name() string { return "quantile" }

func (l quantile) Value(f, y float64) float64 {
	return l.C * math.Max(l.Q*(y-f), (1-l.Q)*(f-y))
}

// Prox bisects on the slope of c/2 (f-h)^2 + sum_j k_j l(f, y_j), which rises
// with f, and stays at a target where the slope jumps over 0.
func (l quantile) Prox(c, h float64, y, k []float64) (f, slope float64) {
	push := func(f float64) float64 { // the slope just right of f
		sum := c * (f - h)
		for j, at := range y {
			if f < at {
				sum -= k[j] * l.C * l.Q
			} else {
				sum += k[j] * l.C * (1 - l.Q)
			}
		}
		return sum
	}
	for _, at := range y {
		if push(at) >= 0 && push(math.Nextafter(at, math.Inf(-1))) < 0 {
			return at, 0
		}
	}
	// Between targets the map is h + a constant.
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, at := range y {
		if push(at) < 0 {
			lo = math.Max(lo, at)
		} else {
			hi = math.Min(hi, at)
		}
	}
	inside := lo
	if math.IsInf(lo, -1) {
		inside = math.Nextafter(hi, lo)
	}
	return inside - push(inside)/c, 1
}

// A loss of one's own: its name, its value and its proximal map. FromProximal
// does the rest, by quadrature.
func ExampleFromProximal() {
	median := loss.FromProximal(quantile{C: 2, Q: 0.5})
	site, err := median.Site([]float64{0.7}, resample.Poisson{Ratio: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	cavity := loss.Cavity{C: 2, Mean: 0.1, Var: 0.5}
	m := site.Moments(cavity)
	law := site.Distribution(cavity)
	fmt.Printf("mean %.6f, variance %.6f\n", m.Mean, m.Var)
	fmt.Printf("at the target itself with probability %.4f\n", law.CDF(0.7)-law.Prob(math.Inf(-1), 0.7))

	// C |f-y| is built in, with closed forms.
	absolute, _ := loss.LeastAbsolute{C: 1}.Site([]float64{0.7}, resample.Poisson{Ratio: 1})
	m = absolute.Moments(cavity)
	fmt.Printf("mean %.6f, variance %.6f\n", m.Mean, m.Var)
	// Output:
	// mean 0.337944, variance 0.322099
	// at the target itself with probability 0.3440
	// mean 0.337944, variance 0.322099
}
