package calibration_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/calibration"
)

// TestJackknifePlusCounts: the ends are what Barber et al. define them by, counts: at least
// level (n+1) of the values m_i + R_i are at most the upper end, and fewer are below it; the
// same for -m_i + R_i and the lower end.
func TestJackknifePlusCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		for _, level := range []float64{0.5, 0.8, 0.9, 0.95} {
			without, residual := make([]float64, n), make([]float64, n)
			for i := range without {
				without[i], residual[i] = math.Round(3*rng.NormFloat64()), math.Round(3*rng.ExpFloat64()) // with ties
			}
			low, high := calibration.JackknifePlus(slices.Clone(without), slices.Clone(residual), level)
			wanted := level*float64(n+1) - 1e-9
			if supported := calibration.CheckLevel(level, n) == nil; supported == math.IsInf(high, 1) ||
				supported == math.IsInf(low, -1) || supported != (wanted <= float64(n)) {
				t.Fatalf("n = %d, level %v: supported %v, interval %v to %v", n, level, supported, low, high)
			} else if !supported {
				continue
			}
			var within, below, above, beyond float64
			for i, m := range without {
				within += indicator(m+residual[i] <= high)
				below += indicator(m+residual[i] < high)
				above += indicator(m-residual[i] >= low)
				beyond += indicator(m-residual[i] > low)
			}
			if within < wanted || below >= wanted || above < wanted || beyond >= wanted {
				t.Errorf("n = %d, level %v: %v to %v holds %v and %v, without its ends %v and %v", n, level, low, high,
					within, above, below, beyond)
			}
		}
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestCheckLevel: what is refused says what would do.
func TestCheckLevel(t *testing.T) {
	for _, level := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if calibration.CheckLevel(level, 1000) == nil {
			t.Errorf("level %v is taken", level)
		}
	}
	for level, least := range map[float64]int{0.5: 1, 0.8: 4, 0.9: 9, 0.95: 19, 0.99: 99} {
		if err := calibration.CheckLevel(level, least); err != nil {
			t.Error(err)
		}
		if err := calibration.CheckLevel(level, least-1); err == nil || !strings.Contains(err.Error(),
			"of at most 0.") {
			t.Errorf("level %v of %d examples: %v", level, least-1, err)
		}
	}
}
