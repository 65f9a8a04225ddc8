package fits

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/solver"
)

// OfTheory are the averages of a solution of the theory, without standard errors. Left-out predictions
// come from left, nil for s: a solution given that an example is left out.
func OfTheory(s, left *solver.Solution, tests []loss.Test) *Averages {
	left = cmp.Or(left, s)
	ensemble, unknown := left.OutOfBag(), math.NaN()
	r := &Averages{Mean: s.Mean, Variance: s.Var, Vote: s.Votes(), OutOfBag: ensemble.Mean,
		OutOfBagVote: ensemble.Vote, VoteErrorSE: unknown}
	r.VoteError = ensemble.VoteError()
	for _, test := range tests {
		mean, each := left.LeftOut(test)
		bagged := ensemble.MeanLoss(test)
		r.Tests = append(r.Tests, TestError{Test: test, Error: mean, SE: unknown, Examples: each,
			EquivalentResamples: unknown, BaggedError: bagged, BaggedSE: unknown})
	}
	r.spread(s.Problem.Y)
	return r
}

// In are the averages in units of a function's target: predictions are Mean + Unit f, square losses are in
// squared units, absolute ones in units; other losses have no unit.
func (r *Averages) In(f Function) *Averages {
	if f.Mean == 0 && f.Unit == 1 {
		return r
	}
	scaled := func(list []float64, by, shift float64) []float64 {
		list = slices.Clone(list)
		floats.Scale(by, list)
		floats.AddConst(shift, list)
		return list
	}
	square, in := f.Unit*f.Unit, *r
	in.Mean, in.MeanSE = scaled(r.Mean, f.Unit, f.Mean), scaled(r.MeanSE, f.Unit, 0)
	in.Variance, in.VarianceSE = scaled(r.Variance, square, 0), scaled(r.VarianceSE, square, 0)
	in.OutOfBag, in.OutOfBagVar = scaled(r.OutOfBag, f.Unit, f.Mean), scaled(r.OutOfBagVar, square, 0)
	in.Tests = slices.Clone(r.Tests)
	for k := range in.Tests {
		t, by := &in.Tests[k], 1.0
		switch t.Test.(type) {
		case loss.SquareTest:
			by = square
		case loss.Absolute:
			by = math.Abs(f.Unit)
		}
		t.Examples, t.ExamplesSE = scaled(t.Examples, by, 0), scaled(t.ExamplesSE, by, 0)
		for _, v := range []*float64{&t.Error, &t.SE, &t.DataSE, &t.BaggedError, &t.BaggedSE} {
			*v *= by
		}
	}
	return &in
}
