package model_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/predict"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestCertain: where every resample is the whole set, the mean is the fit, also at new inputs, nothing
// varies, and a site's cavity is what second order says of leaving it out, here by elimination
// among the other sites: 1/c = K_ii - K_iR (K_RR + 1/l”)^-1 K_Ri, m_c = f - a/c, with l” infinite
// at bends. There d grows up to 1e14/K_ii, and rounding of that moves predictions at new inputs by 1e-4.
func TestCertain(t *testing.T) {
	labels, regression := load(t, "synthetic:checker,n=60"), load(t, "synthetic:friedman1,n=60")
	for name, c := range map[string]struct {
		set    *dataset.Set
		loss   loss.Loss
		second func(f, y float64) float64 // l'' where it is one
		cost   float64                    // of a margin loss
	}{
		"hard":  {labels, loss.HardMargin{}, nil, math.Inf(1)},
		"hinge": {labels, loss.Hinge{C: 10}, nil, 10},
		"logistic": {labels, loss.Logistic{C: 100}, func(f, _ float64) float64 { return 50 / (1 + math.Cosh(f)) },
			0},
		"huber": {regression, loss.Huber{C: 10, Delta: 1}, func(f, y float64) float64 {
			if math.Abs(f-y) > 1 {
				return 0
			}
			return 10
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := build(t, model.Spec{Set: c.set, Loss: c.loss, Kernel: kernel.Spec{Gamma: 1}, Standardize: true})
			n := c.set.N()
			s, err := m.Solve(context.Background(), resample.Subsample{Size: n, N: n}, solver.Settings{})
			if err != nil || s.Status != solver.Converged {
				t.Fatal(err, s)
			}
			if c.set == labels {
				p := need.One(predict.ProbabilitiesOf(m, s))(t)
				if floats.HasNaN(p.LeftOut) {
					t.Errorf("probabilities %v", p.LeftOut)
				}
			}
			fit := need.One(m.Fit(model.FitSettings{Tolerance: 1e-9}))(t)
			bend := make([]float64, n) // 1/l''
			for i, a := range fit.Weight {
				y := c.set.Y[i]
				bend[i] = math.Inf(1)
				if c.second != nil {
					bend[i] = 1 / c.second(fit.F[i], y)
				} else if a *= y; a > 1e-7 && a < c.cost-1e-7 {
					bend[i] = 0
				}
			}
			at := need.One(predict.At(m, s, &dataset.Inputs{X: c.set.X}, nil))(t)
			for i, f := range fit.F {
				if math.Abs(s.Mean[i]-f) > 1e-6 || s.Var[i] > 1e-9 || math.Abs(at.Mean[i]-f) > 1e-3 ||
					math.Abs(at.Var[i]) > 1e-9 {
					t.Fatalf("site %d: mean %g, as a new input %g, variances %g, %g; the fit is %g", i, s.Mean[i],
						at.Mean[i], s.Var[i], at.Var[i], f)
				}
				precision := 1 / conditional(m.Gram(), bend, i)
				mean := f - fit.Weight[i]/precision
				if math.Abs(s.Cavity[i].Mean-mean) > 1e-4*(1+math.Abs(mean)) ||
					math.Abs(s.Cavity[i].C/precision-1) > 1e-3 || s.Cavity[i].Var > 1e-9 {
					t.Errorf("site %d: cavity %+v, want precision %g, mean %g", i, s.Cavity[i], precision, mean)
				}
			}
		})
	}
}

// conditional is the variance of site i given observations of the others with noise.
func conditional(k *linalg.Sym, noise []float64, i int) float64 {
	var others []int
	for j, v := range noise {
		if j != i && !math.IsInf(v, 1) {
			others = append(others, j)
		}
	}
	if len(others) == 0 {
		return k.At(i, i)
	}
	a, b := mat.NewSymDense(len(others), nil), mat.NewVecDense(len(others), nil)
	for p, j := range others {
		b.SetVec(p, k.At(i, j))
		for q, l := range others {
			a.SetSym(p, q, k.At(j, l))
		}
		a.SetSym(p, p, k.At(j, j)+noise[j])
	}
	var factor mat.Cholesky
	var x mat.VecDense
	if !factor.Factorize(a) || factor.SolveVecTo(&x, b) != nil {
		return math.NaN()
	}
	return k.At(i, i) - mat.Dot(b, &x)
}
