package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
)

// eachCell runs a benchmark on the default cases, and on further ones.
func eachCell(b *testing.B, f func(b *testing.B, x *experiment), further ...Case) {
	settings := Settings{Ratios: []float64{1}, Scheme: "poisson", Resamples: DefaultResamples,
		Limit: time.Second, Workers: 2}
	for _, x := range testutil.Must(experiments(append(testutil.Must(DefaultCases([]int{250, 1000}))(b),
		further...),
		settings))(b) {
		name, _, _ := strings.Cut(strings.TrimPrefix(x.data, "synthetic:"), ",")
		b.Run(fmt.Sprintf("data=%s/n=%d", strings.ReplaceAll(name, " ", "-"), x.n), func(b *testing.B) {
			if err := x.build(b.Context()); err != nil {
				b.Fatal(err)
			}
			if err := x.buildTrained(b.Context()); err != nil {
				b.Fatal(err)
			}
			f(b, x)
			x.model, x.trained = nil, nil
		})
	}
}

// solve solves the theory in the loop of a benchmark, and returns its seconds.
func (x *experiment) solve(b *testing.B) (s *solver.Solution, seconds float64) {
	for b.Loop() {
		s = testutil.Must(x.model.Solve(b.Context(), x.scheme, x.settings.Solve))(b)
	}
	return s, b.Elapsed().Seconds() / float64(b.N)
}

// BenchmarkTheory: the theory, the rate of its factorisation, and its memory.
func BenchmarkTheory(b *testing.B) {
	eachCell(b, func(b *testing.B, x *experiment) {
		s, _ := x.solve(b)
		refresh, dgemm := x.rates()
		b.ReportMetric(refresh, "GFLOP/s")
		b.ReportMetric(refresh/dgemm, "of-dgemm")
		b.ReportMetric(float64(s.Bytes()), "bytes")
	})
}

// BenchmarkTraining: one training of each trainer, on all rows and on a resample with repeated rows merged.
func BenchmarkTraining(b *testing.B) {
	pima := testutil.Must(dataset.Open("pima"))(b)
	logistic := Case{Name: "pima logistic", Spec: model.Spec{Set: pima, Standardize: true,
		Loss: loss.Logistic{C: 1}, Kernel: kernel.Spec{Gamma: 1 / float64(pima.D())}}}
	eachCell(b, func(b *testing.B, x *experiment) {
		m := x.trained[0]
		of, merged := testutil.Must(m.LossTrainers(0))(b), x.draw(0).weight
		learn := testutil.Must(of.Trainer())(b)
		all := slices.Repeat([]float64{1}, len(merged))
		for k, rows := range []string{"all", "resample"} {
			b.Run("trainer="+string(of.Algorithm)+"/rows="+rows, func(b *testing.B) {
				for b.Loop() {
					set := train.Set{Y: m.Y, Site: m.Site, Weight: [][]float64{all, merged}[k]}
					learned := testutil.Must(learn(set))(b)
					if err := learned.Status.Err(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}, logistic)
}

// BenchmarkTheoryVsTraining: the theory in units of one training with all rows by the own trainer and by
// LIBSVM (M04's claim: below 1), and of a fit to a resample, with all S rows (M03's claim: at most 15 to N =
// 500, 25 to 2500) and with repeated rows merged.
func BenchmarkTheoryVsTraining(b *testing.B) {
	eachCell(b, func(b *testing.B, x *experiment) {
		var row report.CompareRow
		_, row.TheoryS = x.solve(b)
		if err := x.fits(b.Context(), &row); err != nil {
			b.Fatal(err)
		}
		overFits(&row)
		b.ReportMetric(row.TheoryOverFit, "theory/training")
		b.ReportMetric(row.TheoryOverMergedFit, "theory/merged-fit")
		if row.NaiveFitsEquivalent > 0 {
			b.ReportMetric(row.NaiveFitsEquivalent, "theory/S-rows-fit")
		}
		if row.TheoryOverLIBSVM > 0 {
			b.ReportMetric(row.TheoryOverLIBSVM, "theory/LIBSVM")
		}
	})
}

// BenchmarkTheoryVsRetraining: 50 and 200 naive fits, and as many as have the theory's error in the
// variances by the fastest way (speed-up), in units of the theory; and as many as have the refined standard
// error, in units of theory and refinement.
func BenchmarkTheoryVsRetraining(b *testing.B) {
	eachCell(b, func(b *testing.B, x *experiment) {
		var row report.CompareRow
		for b.Loop() {
			row = testutil.Must(x.compare(b.Context()))(b)
		}
		b.ReportMetric(row.Fits50S/row.TheoryS, "50-fits/theory")
		b.ReportMetric(row.Fits200S/row.TheoryS, "200-fits/theory")
		b.ReportMetric(row.SpeedupEqualAccuracy, "speed-up")
		b.ReportMetric(row.BaselineS/row.RefinedS, "same-se/refined")
	})
}

// BenchmarkLargeN: kernel matrix or factor, and theory. Four inputs, a smooth target.
func BenchmarkLargeN(b *testing.B) {
	for _, c := range []struct {
		n       int
		storage model.Storage
	}{{4000, model.Exact}, {4000, model.LowRank}, {16000, model.LowRank}, {32000, model.LowRank}} {
		b.Run(fmt.Sprintf("engine=%v/n=%d", c.storage, c.n), func(b *testing.B) {
			if c.n > 16000 && (testing.Short() || blas.Bound().Name() == "gonum") {
				b.Skip("takes long")
			}
			set := testutil.Must(dataset.Load(fmt.Sprintf("synthetic:waves,n=%d", c.n), dataset.Options{}))(b)
			spec := model.Spec{Set: set, Standardize: true, Storage: c.storage,
				Loss: loss.Square{Noise: 0.01}, Kernel: kernel.Spec{Gamma: 0.1}}
			var m *model.Model
			var s *solver.Solution
			for b.Loop() {
				m = testutil.Must(model.Build(b.Context(), spec))(b)
				s = testutil.Must(m.Solve(b.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(b)
			}
			low, _ := m.Approximation()
			b.ReportMetric(float64(low.Rank), "rank")
			b.ReportMetric(float64(s.Bytes()), "bytes")
		})
	}
}
