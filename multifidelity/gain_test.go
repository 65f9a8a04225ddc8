package multifidelity_test

import (
	"fmt"
	"os"
	"sort"
	"testing"

	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
)

// TestGains prints by how many times the control variate lowers the number of resamples for
// the same standard errors (median over points), where BOOTBENCH_GAINS is set.
func TestGains(t *testing.T) {
	if os.Getenv("BOOTBENCH_GAINS") == "" {
		t.Skip("BOOTBENCH_GAINS is not set")
	}
	for _, c := range []struct {
		set  string
		loss loss.Loss
		test loss.Test
	}{
		{"boston", nil, loss.SquareTest{}},
		{"sonar", nil, loss.ZeroOne{}},
		{"sonar", loss.Hinge{C: 1}, loss.ZeroOne{}},
		{"pima", loss.Hinge{C: 1}, loss.ZeroOne{}},
		{"pima", nil, loss.ZeroOne{}},
		{"crabs", nil, loss.ZeroOne{}},
	} {
		m := build(t, c.set, c.loss, 0.5)
		scheme := resample.Poisson{Ratio: 1}
		s := solve(t, m, scheme)
		settings := model.RefineSettings{Resamples: 1000, Tests: []loss.Test{c.test}}
		r := refine(t, m, s, scheme, settings)
		settings.Plain = true
		plain := refine(t, m, s, scheme, settings)
		theory, _ := s.LeftOut(c.test)
		e, p := r.TestError(), plain.TestError()
		fmt.Printf("%s %s: theory %.5g refined %.5g +- %.2g plain %.5g +- %.2g, bagged %.5g +- %.2g; equivalent/R %.2f mean %.2f variance %.2f point error %.2f; iterations %.1f exact %d; %v, setup %v %v\n",
			c.set, m.Loss.Name(), theory, e.Error, e.StandardError, p.Error, p.StandardError, e.BaggedError, e.BaggedSE, e.EquivalentResamples/float64(r.Resamples),
			ratio(plain.Points.MeanSE, r.Points.MeanSE), ratio(plain.Points.VarianceSE, r.Points.VarianceSE), ratio(p.ExamplesSE, e.ExamplesSE),
			float64(r.Iterations)/float64(r.Resamples), r.Exact, r.Time.Fits, r.Time.Total-r.Time.Fits, r.Warnings)
	}
}

// ratio is the median of (a/b)^2.
func ratio(a, b []float64) float64 {
	var all []float64
	for i := range a {
		if b[i] > 0 {
			all = append(all, a[i]*a[i]/(b[i]*b[i]))
		}
	}
	sort.Float64s(all)
	return all[len(all)/2]
}
