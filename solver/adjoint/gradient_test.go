package adjoint_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// slopeCase is an objective of a model with two hyperparameters: the length scale of an rbf
// kernel on a line, and the first parameter of the loss.
type slopeCase struct {
	name      string
	loss      func(logarithm float64) loss.Loss
	law       resample.CountDistribution
	objective adjoint.Objective
	merged    bool // two examples share a site, and two more another
	bias      bool
}

const slopeExamples = 16

// problem is the problem of a case at logarithms of the hyperparameters.
func (c slopeCase) problem(t *testing.T, length, parameter float64) (p solver.Problem, lengths *linalg.Sym) {
	t.Helper()
	const n = slopeExamples
	rng := rand.New(rand.NewPCG(16, 1))
	x, y := normals(rng, n), normals(rng, n)
	if _, err := c.loss(0).Site([]float64{0.5}, c.law); err != nil { // labels
		for i, v := range y {
			y[i] = math.Copysign(1, v+2*x[i])
		}
	}
	p = solver.Problem{Y: y, Loss: c.loss(parameter), Law: c.law}
	sites := n
	if c.merged {
		sites = n - 2
		for i := range n {
			p.Site = append(p.Site, i)
		}
		p.Site[n-2], p.Site[n-1] = 0, 1
	}
	scale := math.Exp(length)
	p.Gram = symmetric(sites,
		func(i, j int) float64 { return math.Exp(-(x[i] - x[j]) * (x[i] - x[j]) / (2 * scale * scale)) })
	p.Gram.(*linalg.Sym).AddDiag(0.01)
	if c.bias {
		p.Gram = linalg.WithBias(p.Gram.(*linalg.Sym))
	}
	lengths = symmetric(sites, func(i, j int) float64 { // dK/dlog length
		r := (x[i] - x[j]) / scale
		return r * r * math.Exp(-r*r/2)
	})
	return p, lengths
}

// TestGradient: the adjoint's derivatives by a length scale and by a parameter of the loss
// are the ones by differences of solves, over losses, schemes, criteria and merged sites. Solves
// to 1e-11 leave 1e-10 in central differences of steps 1e-3, whose own error, of fourth order
// in the step, is less; averages by quadrature (logistic) err by 1e-9, and differences of them
// by 1e-6.
func TestGradient(t *testing.T) {
	square := adjoint.Objective{Criterion: adjoint.LeftOutError, Test: loss.SquareTest{}}
	zeroOne := adjoint.Objective{Criterion: adjoint.LeftOutError, Test: loss.ZeroOne{}}
	of := func(c adjoint.Criterion, o adjoint.Objective) adjoint.Objective {
		return adjoint.Objective{Criterion: c, Test: o.Test}
	}
	noise := func(v float64) loss.Loss { return loss.Square{Noise: 0.1 * math.Exp(v)} }
	hinge := func(v float64) loss.Loss { return loss.Hinge{C: 2 * math.Exp(v)} }
	poisson := resample.Poisson{Ratio: 1}
	factors := 0
	for _, c := range []slopeCase{
		{"square", noise, poisson, square, false, false},
		{"square, sites", noise, poisson, square, true, false},
		{"square, .632+", noise, poisson, of(adjoint.Err632Plus, square), true, false},
		{"square, absolute", noise, resample.Poisson{Ratio: 2}, adjoint.Objective{Test: loss.Absolute{}},
			false, false},
		{"square, folds", noise, resample.KFold{Folds: 5, N: slopeExamples}, square, true, false},
		{"hinge", hinge, poisson, zeroOne, false, false},
		{"hinge, sites", hinge, poisson, of(adjoint.Err632Plus, zeroOne), true, false},
		{"hinge, multinomial", hinge, resample.Multinomial{N: slopeExamples, Size: slopeExamples},
			zeroOne, false, false},
		{"hard", func(float64) loss.Loss { return loss.HardMargin{} }, poisson, zeroOne, false, false},
		{"logistic", func(v float64) loss.Loss { return loss.Logistic{C: 2 * math.Exp(v)} }, poisson,
			of(adjoint.Err632, zeroOne), false, false},
		{"eps, C", func(v float64) loss.Loss { return loss.EpsInsensitive{C: 3 * math.Exp(v), Epsilon: 0.2} },
			poisson, square, false, false},
		{"eps, epsilon",
			func(v float64) loss.Loss { return loss.EpsInsensitive{C: 3, Epsilon: 0.2 * math.Exp(v)} },
			poisson, of(adjoint.Err632Plus, square), true, false},
		{"huber, C",
			func(v float64) loss.Loss { return loss.Huber{C: 5 * math.Exp(v), Epsilon: 0.5} }, poisson,
			of(adjoint.Err632, square), false, false},
		{"square, bias", noise, poisson, square, true, true},
		{"hinge, bias", hinge, poisson, of(adjoint.Err632Plus, zeroOne), true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const length = -0.2
			p, lengths := c.problem(t, length, 0)
			g, err := adjoint.Differentiate(t.Context(),
				mustConverge(t, p, solver.Settings{Tolerance: 1e-11}), c.objective,
				[]adjoint.Path{func(v float64) (loss.Loss, error) { return c.loss(v), nil }})
			if err != nil {
				t.Fatal(err)
			}
			byLength := 0.0
			for i := range lengths.N() {
				for j := range lengths.N() {
					byLength += g.Kernel.Data[i*g.Kernel.Stride+j] * lengths.At(i, j)
				}
			}
			value := func(length, parameter float64) float64 {
				p, _ := c.problem(t, length, parameter)
				s := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
				v := testutil.Must(c.objective.Value(s))(t)
				return v
			}
			if v := value(length, 0); math.Abs(g.Value-v) > 1e-9*v {
				t.Errorf("value %g, want %g", g.Value, v)
			}
			const h = 1e-3
			// e^v or e^-v times the loss
			if power := math.Log(c.loss(1).Value(3, -1) / c.loss(0).Value(3,
				-1)); math.Abs(math.Abs(power)-1) < 1e-12 {
				if math.Abs(power*g.Factor-g.Loss[0]) > 1e-6*(math.Abs(g.Loss[0])+1e-2*g.Value) {
					t.Errorf("derivative by the factor %g, along the path %g", power*g.Factor, g.Loss[0])
				}
				factors++
			}
			for k, got := range []float64{byLength, g.Loss[0]} {
				at := func(step float64) float64 {
					return value(length+step*h*float64(1-k), step*h*float64(k))
				}
				want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / (12 * h)
				if math.Abs(got-want) > 1e-5*(math.Abs(want)+1e-2*g.Value) {
					t.Errorf("derivative %d of %g is %g, differences %g", k, g.Value, got, want)
				}
			}
		})
	}
	if factors != 13 {
		t.Errorf("%d parameters are factors of the loss", factors)
	}
}

// TestGradientRefusals: what has no gradient says so.
func TestGradientRefusals(t *testing.T) {
	c := slopeCase{loss: func(float64) loss.Loss { return loss.Square{Noise: 0.1} },
		law: resample.Poisson{Ratio: 1}}
	p, _ := c.problem(t, 0, 0)
	smooth := adjoint.Objective{Test: loss.SquareTest{}}
	plain := mustConverge(t, p, solver.Settings{})
	other := mustConverge(t, p, solver.Settings{Method: solver.Variational}) // overwrites plain
	second := mustConverge(t, p, solver.Settings{})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	none := func(v float64) (loss.Loss, error) { return loss.Square{Noise: v}, nil }
	for what, c := range map[string]struct {
		ctx       context.Context
		solution  *solver.Solution
		objective adjoint.Objective
		paths     []adjoint.Path
		want      error
	}{
		".632+ of the absolute error": {t.Context(), second, adjoint.Objective{Criterion: adjoint.Err632Plus,
			Test: loss.Absolute{}}, nil, solver.ErrProblem},
		"cancelled":           {cancelled, second, smooth, nil, context.Canceled},
		"a loss that is none": {t.Context(), second, smooth, []adjoint.Path{none}, solver.ErrProblem},
		"overwritten":         {t.Context(), plain, smooth, nil, solver.ErrOverwritten},
		"another method":      {t.Context(), other, smooth, nil, solver.ErrProblem},
	} {
		if _, err := adjoint.Differentiate(c.ctx, c.solution, c.objective, c.paths); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

var symmetric, normals = problems.Symmetric, problems.Normals

func mustConverge(t *testing.T, p solver.Problem, s solver.Settings) *solver.Solution {
	t.Helper()
	solution, err := solver.Solve(context.Background(), p, s)
	if err != nil || solution.Status != solver.Converged {
		t.Fatal(err, solution)
	}
	return solution
}

// drawnOften is a loss whose sites with a first target among some are drawn more often. It has the weights of
// the examples, by their targets.
type drawnOften struct {
	loss.Loss
	by     float64 // logarithm of the factor
	target []float64
	weight map[float64]float64
}

func (d drawnOften) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	if slices.Contains(d.target, y[0]) {
		law = resample.Poisson{Ratio: law.Mean() * math.Exp(d.by)}
	}
	if w, weighted := d.weight[y[0]]; weighted {
		l, err := loss.Times(d.Loss, w)
		if err != nil {
			return nil, err
		}
		return l.Site(y, law)
	}
	return d.Loss.Site(y, law)
}

// TestInfluence: the infinitesimal jackknife of groups of examples is the difference of
// solves in which they are drawn more or less often, with their shares in the mean; those that have one
// target among them, so that a loss can tell them; with weights of the examples, too. Tolerances are as for
// TestGradient.
func TestInfluence(t *testing.T) {
	poisson, zeroOne := resample.Poisson{Ratio: 1}, adjoint.Objective{Test: loss.ZeroOne{}}
	for _, c := range []slopeCase{
		{"square, sites", func(float64) loss.Loss { return loss.Square{Noise: 0.3} }, poisson,
			adjoint.Objective{Test: loss.SquareTest{}}, true, false},
		{"eps, bias", func(float64) loss.Loss { return loss.EpsInsensitive{C: 3, Epsilon: 0.2} },
			resample.Poisson{Ratio: 0.7}, adjoint.Objective{Test: loss.Absolute{}}, false, true},
		{"hinge", func(float64) loss.Loss { return loss.Hinge{C: 1} }, poisson, zeroOne, false, false},
		{"hinge2, bias", func(float64) loss.Loss { return loss.SquaredHinge{C: 1} }, poisson, zeroOne, false,
			true},
		{"square, weights", func(float64) loss.Loss { return loss.Square{Noise: 0.3} }, poisson,
			adjoint.Objective{Test: loss.SquareTest{}}, false, false},
		{"hinge, bias, weights", func(float64) loss.Loss { return loss.Hinge{C: 1} }, poisson, zeroOne, false,
			true},
	} {
		p, _ := c.problem(t, -0.2, 0)
		weight, of := map[float64]float64{}, slices.Repeat([]float64{1}, len(p.Y))
		if strings.Contains(c.name, "weights") {
			p.Weights = of
			for i, y := range p.Y {
				weight[y] = 1.5 + math.Tanh(y)
				of[i] = weight[y]
			}
		}
		s := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
		mean, each := s.LeftOut(c.objective.Test)
		groups := map[float64][]int{} // by the first target of the site
		for i := range p.Y {
			first := i
			for j := range p.Y {
				if s.SiteOf(j) == s.SiteOf(i) {
					first = j
					break
				}
			}
			groups[p.Y[first]] = append(groups[p.Y[first]], i)
		}
		all := testutil.Must(adjoint.Influence(t.Context(), s, c.objective.Test))(t)
		slope := func(targets []float64) float64 {
			at := func(step float64) float64 {
				moved := p
				moved.Loss, moved.Weights = drawnOften{p.Loss, step, targets, weight}, nil
				_, e := mustConverge(t, moved, solver.Settings{Tolerance: 1e-11}).LeftOut(c.objective.Test)
				return stat.Mean(e, of)
			}
			const h = 1e-3
			return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		}
		n, total := float64(len(p.Y)), slope(p.Y)
		for _, target := range p.Y[:3] {
			group := groups[target]
			got, want := 0.0, slope([]float64{target})-total*float64(len(group))/n
			for _, i := range group {
				got += all[i]
				want += of[i] * (each[i] - mean) / floats.Sum(of)
			}
			if math.Abs(got-want) > 1e-5*(math.Abs(want)+1e-2*mean) {
				t.Errorf("%s: influence of %v is %g, differences %g", c.name, group, got, want)
			}
		}
	}
}

// TestInteractions: summed over the left-out examples j, and over n, they are the influence of example i by
// training, which the adjoint has to all orders in the answer of the sites, and so are their squares in size.
func TestInteractions(t *testing.T) {
	for name, l := range map[string]loss.Loss{"square": loss.Square{Noise: 0.3}, "hinge": loss.Hinge{C: 1},
		"square, weights": loss.Square{Noise: 30}} {
		test := loss.Test(loss.SquareTest{})
		if name == "hinge" {
			test = loss.ZeroOne{}
		}
		c := slopeCase{name, func(float64) loss.Loss { return l }, resample.Poisson{Ratio: 1},
			adjoint.Objective{Test: test}, false, false}
		p, _ := c.problem(t, 0, 0)
		of, least := slices.Repeat([]float64{1}, len(p.Y)), 0.75
		if name == "square, weights" {
			for i := range of {
				of[i] = 0.5 + float64(i%3)
			}
			p.Weights, least = of, 0.98 // the first order of much noise
		}
		s := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
		influence := testutil.Must(adjoint.Influence(t.Context(), s, test))(t)
		q := testutil.Must(adjoint.Interactions(s, test, influence))(t)
		n, value, each := float64(len(p.Y)), 0.0, []float64(nil)
		value, each = s.LeftOut(test)
		byTraining, sums := make([]float64, len(p.Y)), make([]float64, len(p.Y))
		for i := range p.Y {
			byTraining[i] = influence[i] - of[i]*(each[i]-value)/floats.Sum(of)
			for j := range p.Y {
				sums[i] += q.Data[i*q.Stride+j] / n
			}
		}
		if correlation, ratio := stat.Correlation(sums, byTraining, nil), stat.StdDev(sums, nil)/
			stat.StdDev(byTraining, nil); !(correlation > least) || !(ratio > least && ratio < 1.05) {
			t.Errorf("%s: correlation %.3f with the influences by training, %.3f of their size",
				name, correlation, ratio)
		}
	}
}
