package paper

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Moments are mean and variance over resamples at new inputs, M03 figure 2.
type Moments struct {
	Mean, Var               []float64 // theory
	Naive                   *Reference
	NaiveMean, NaiveVar     []float64
	NaiveMeanSE, NaiveVarSE []float64
}

// HeldOut is M03 figure 2: the first 50 examples of the Boston housing data are
// the new inputs, the other 456 are resampled with S = N.
func HeldOut(ctx context.Context, s Settings) (*Moments, error) {
	const held = 50
	spec, err := Boston()
	if err != nil {
		return nil, err
	}
	rest, new := partition(spec.Set, func(i int) bool { return i < held })
	spec.Set = rest
	return newMoments(ctx, spec, new, s)
}

// partition separates the held rows of a set from the rest.
func partition(set *dataset.Set, hold func(row int) bool) (rest, held *dataset.Set) {
	var in, out []int
	for i := range set.N() {
		if hold(i) {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return set.Subset(in), set.Subset(out)
}

// newMoments solves and retrains with S = N and predicts new inputs.
func newMoments(ctx context.Context, spec model.Spec, new *dataset.Set, s Settings) (*Moments, error) {
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	cross, err := m.CrossAll(model.Dense(blas64.General(new.X)))
	if err != nil {
		return nil, err
	}
	scheme := resample.Poisson{Ratio: 1}
	solution, err := m.Solve(ctx, scheme, solver.Settings{})
	if err != nil {
		return nil, err
	}
	out := &Moments{}
	if out.Mean, out.Var, err = solution.Predict(slices.Clone(cross.Data)); err != nil {
		return nil, err
	}
	if out.Naive, err = s.retrain(ctx, m, scheme, loss.SquareTest{}, cross, MomentsFactor); err != nil {
		return nil, err
	}
	sites := m.Sites()
	out.NaiveMean, out.NaiveMeanSE = out.Naive.Mean[sites:], out.Naive.MeanSE[sites:]
	out.NaiveVar, out.NaiveVarSE = out.Naive.Var[sites:], out.Naive.VarSE[sites:]
	return out, nil
}

// Fields are M04 figure 1, right: the internal field at new inputs of the sonar
// data.
type Fields struct {
	Typical        []PredictorDensity
	Negative       []float64 // P(label = -1) by theory at each new input
	NaiveNegative  []float64 // share of the retrained classifiers that say -1
	NaiveSE        []float64
	Held, Examples int
}

// SonarFields holds out every tenth example, 20 of 208, and resamples the other
// 188, as many as M04 has, with S = N.
func SonarFields(ctx context.Context, s Settings) (*Fields, error) {
	const held = 20
	spec, err := embedded("sonar")
	if err != nil {
		return nil, err
	}
	rest, new := partition(spec.Set, func(i int) bool { return i%10 == 0 && i < 10*held })
	spec.Set = rest
	m, err := newMoments(ctx, spec, new, s)
	if err != nil {
		return nil, err
	}
	sites := len(m.Naive.Mean) - new.N()
	out := &Fields{Held: new.N(), Examples: rest.N(), NaiveNegative: m.Naive.negative[sites:]}
	fields, l1 := make([]loss.Distribution, new.N()), make([]float64, new.N())
	for i := range fields {
		fields[i] = loss.Normal(m.Mean[i], m.Var[i]) // M03-48
		l1[i] = m.Naive.distance(sites+i, fields[i])
		p := out.NaiveNegative[i]
		out.Negative, out.NaiveSE = append(out.Negative, fields[i].CDF(0)),
			append(out.NaiveSE, math.Sqrt(p*(1-p)/float64(m.Naive.Resamples)))
	}
	order := ranked(l1)
	for _, c := range []struct {
		place int
		why   string
	}{{order[len(order)/2], "median distance"}, {order[len(order)-1], "largest distance"}} {
		density := describe(m.Naive, sites+c.place, fields[c.place], fineBin)
		density.Place, density.Why, density.L1 = c.place, c.why, l1[c.place]
		out.Typical = append(out.Typical, density)
	}
	return out, nil
}
