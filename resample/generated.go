package resample

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// The kinds of Generated: parametric, residual (Efron 1979) and wild (Wu 1986; Liu 1988).
const Parametric, Residual, Wild = "parametric", "residual", "wild"

// Generated resamples have every row once, with targets that a model generates, which was trained on all rows
// (M03's outlook). No row is left out. Laws is nil while the model is not trained yet.
type Generated struct {
	Bernoulli // of rate 1: all counts are 1
	Kind      string
	N         int
	Laws      []TargetLaw // by function
	Function  int         // whose targets Targets and Alternatives are
}

// TargetLaw is the law of the targets of one function, independent over rows: of labels Positive, P(+1) of
// each row; of numbers Center_i + Scale_i e, where e is one of the values Noise, all equally likely.
type TargetLaw struct {
	Positive             []float64
	Center, Scale, Noise []float64
}

// NewGenerated is a scheme of n rows without laws.
func NewGenerated(kind string, n int) Generated {
	return Generated{Bernoulli: Bernoulli{Rate: 1}, Kind: kind, N: n}
}

func (s Generated) Name() string { return s.Kind }

// Targets are the targets of draw b. All functions use the same random numbers, so that classes exclude each
// other and several targets take the residuals of one row; only parametric noise differs by function.
func (s Generated) Targets(seed uint64, b int) []float64 {
	law := &s.Laws[s.Function]
	if s.Kind == Parametric && law.Positive == nil {
		seed += nextSeed * uint64(s.Function)
	}
	rng, y := stream(seed, b), make([]float64, s.N)
	for i := range y {
		y[i] = law.quantile(i, law.Noise, rng.Float64())
	}
	return y
}

// quantile is the target of row i for a number u in [0, 1), given the values of e.
func (l *TargetLaw) quantile(i int, noise []float64, u float64) float64 {
	switch {
	case l.Positive == nil:
		return l.Center[i] + l.Scale[i]*noise[int(u*float64(len(noise)))]
	case u < l.Positive[i]:
		return 1
	}
	return -1
}

// Limits of the alternatives of a site.
const (
	mostNodes = 64  // of the noise
	jointRows = 128 // of the targets of several examples
)

// Alternatives are the targets of the examples of one site, with their probabilities: of labels, which are
// equally likely at one input, the numbers of +1; of numbers a quadrature, in which every example has the
// mean and the variance of its law, and the targets of several examples are nearly independent.
func (s Generated) Alternatives(examples []int) (targets [][]float64, p []float64) {
	law, n := &s.Laws[s.Function], len(examples)
	if law.Positive != nil {
		share := law.Positive[examples[0]]
		number := binomial(float64(n), share/(1-share))
		for j, q := range number.P {
			y := slices.Repeat([]float64{-1}, n)
			for k := range number.First + j {
				y[k] = 1
			}
			targets, p = append(targets, y), append(p, q)
		}
		return targets, p
	}
	noise := nodes(law.Noise)
	rows := len(noise)
	if n > 1 {
		rows = jointRows
	}
	order := make([][]int, n)
	for k := range order {
		order[k] = rand.New(rand.NewPCG(1, uint64(k))).Perm(rows)
	}
	for r := range rows {
		y := make([]float64, n)
		for k, i := range examples {
			y[k] = law.quantile(i, noise, (float64(order[k][r])+0.5)/float64(rows))
		}
		targets, p = append(targets, y), append(p, 1/float64(rows))
	}
	return targets, p
}

// nodes are the sorted values, or if they are more than mostNodes the means of as many parts of them, moved
// away from the mean so that the values keep their variance.
func nodes(values []float64) (means []float64) {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) <= mostNodes {
		return sorted
	}
	for k := range mostNodes {
		part := sorted[k*len(sorted)/mostNodes : (k+1)*len(sorted)/mostNodes]
		means = append(means, stat.Mean(part, nil))
	}
	mean, variance := stat.PopMeanVariance(values, nil)
	center, within := stat.PopMeanVariance(means, nil)
	if within > 0 {
		floats.AddConst(-center, means)
		floats.Scale(math.Sqrt(variance/within), means)
		floats.AddConst(mean, means)
	}
	return means
}
