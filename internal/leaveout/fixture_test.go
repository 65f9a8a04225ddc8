package leaveout

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/svm"
)

// embedded is a z-scored embedded set with an rbf kernel of gamma = width/d,
// every example a site of its own, as LIBSVM has it.
func embedded(t testing.TB, name string, width float64) (*linalg.Sym, []float64) {
	t.Helper()
	set := testutil.Must(dataset.Open(name))(t)
	z, _ := dataset.Standardize(set.X)
	in := testutil.Must(kernel.Spec{Gamma: width / float64(set.D())}.Prepare(linalg.Design{X: z}))(t)
	k := testutil.Must(in.Gram(t.Context()))(t)
	return k, set.Targets(0)
}

func rows(t testing.TB, k *linalg.Sym) *svm.Rows {
	t.Helper()
	return testutil.Must(svm.NewRows(k))(t)
}

func run(t testing.TB, p Problem, s Settings) *Result {
	t.Helper()
	r := testutil.Must(Estimate(context.Background(), p, s))(t)
	if r.Status != Complete {
		t.Fatalf("%v: %v", r.Method, r.Status)
	}
	return r
}

// retrained is y_i f_-i by training without example i from nothing, for every i.
func retrained(t testing.TB, k *linalg.Sym, p Problem) []float64 {
	t.Helper()
	trainer := svm.NewTrainer(rows(t, k))
	q, costs := p.Set, slices.Repeat([]float64{p.C}, len(p.Y))
	if p.Weight != nil {
		floats.Mul(costs, p.Weight)
	}
	q.Weight = slices.Clone(costs)
	margin := make([]float64, len(p.Y))
	for i, y := range p.Y {
		q.Weight[i] = 0
		r, err := trainer.Train(q, train.Settings{Tolerance: 1e-9})
		if err != nil || r.Status != train.Converged {
			t.Fatal(err, r.Status)
		}
		margin[i], q.Weight[i] = y*r.F[p.Site.At(i)], costs[i]
	}
	return margin
}

var hard = math.Inf(1)
