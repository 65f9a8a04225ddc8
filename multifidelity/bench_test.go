package multifidelity_test

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
)

// BenchmarkRefine refines by 1000 resamples. gain-leftout, gain-mean and gain-variance are by how
// many times the control variate lowers the number of resamples that the same standard
// errors take (of the latter two the median over points), iterations those of a fit.
func BenchmarkRefine(b *testing.B) {
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
		m := build(b, c.set, c.loss, 0.5)
		b.Run(fmt.Sprintf("data=%s/loss=%s", c.set, m.Loss.Name()), func(b *testing.B) {
			scheme := resample.Poisson{Ratio: 1}
			s := solve(b, m, scheme)
			settings := model.RefineSettings{Resamples: 1000, Tests: []loss.Test{c.test}, Plain: true}
			plain := refine(b, m, s, scheme, settings)
			settings.Plain = false
			for b.Loop() {
				r := refine(b, m, s, scheme, settings)
				b.ReportMetric(r.TestError().EquivalentResamples/float64(r.Resamples), "gain-leftout")
				b.ReportMetric(gain(plain.Points.MeanSE, r.Points.MeanSE), "gain-mean")
				b.ReportMetric(gain(plain.Points.VarianceSE, r.Points.VarianceSE), "gain-variance")
				b.ReportMetric(float64(r.Iterations)/float64(r.Resamples), "iterations")
			}
		})
	}
}

// gain is the median of (plain/refined)^2.
func gain(plain, refined []float64) float64 {
	var all []float64
	for i, se := range refined {
		if se > 0 {
			all = append(all, plain[i]*plain[i]/(se*se))
		}
	}
	slices.Sort(all)
	return stat.Quantile(0.5, stat.Empirical, all, nil)
}
