package paper

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// PredictorDensity is the distribution over resamples of the predictor at one
// place, by theory and by retraining, as densities on common bins.
type PredictorDensity struct {
	Place     int       // example or new input, from 0
	Why       string    // the rule that chose it
	L1        float64   // half the L1 distance of the two densities, in [0, 1]
	Edges     []float64 // lower edges of the bins
	Theory    []float64 // mass of the bin over its width
	Retrained []float64
}

// binWidth is that of M03 figure 5.
const binWidth = 0.2

// PredictorDensities are M03 figures 3 to 5: the distributions of the predictor at
// the inputs of the Boston housing data, by theory and by retraining.
type PredictorDensities struct {
	Typical    []PredictorDensity // figures 3 and 4: inputs chosen by rule
	Resamples  int
	L1         []float64 // figure 5: distances at all inputs
	Close, Far float64   // shares of the inputs with a distance of at most 0.1, and of 0.2 or more
	Largest    float64
}

// BostonDensities computes them, S = N.
func BostonDensities(ctx context.Context, s Settings) (*PredictorDensities, error) {
	spec, err := Boston()
	if err != nil {
		return nil, err
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	scheme := resample.Poisson{Ratio: 1}
	solution, err := m.Solve(ctx, scheme, solver.Settings{})
	if err != nil {
		return nil, err
	}
	ref, err := s.retrain(ctx, m, scheme, loss.SquareTest{}, blas64.General{}, MomentsFactor)
	if err != nil {
		return nil, err
	}
	out := &PredictorDensities{Resamples: ref.Resamples}
	laws := make([]loss.Distribution, m.Sites())
	for i := range laws {
		laws[i] = solution.Distribution(i)
		l1 := ref.distance(i, laws[i])
		out.L1, out.Largest = append(out.L1, l1), math.Max(out.Largest, l1)
		if l1 <= 0.1 {
			out.Close += 1 / float64(len(laws))
		}
		if l1 >= 0.2 {
			out.Far += 1 / float64(len(laws))
		}
	}
	out.Typical = typical(ref, laws, out.L1)
	return out, nil
}

// distance is half the L1 distance between the masses by theory and the shares of
// the resamples, over bins of binWidth.
func (ref *Reference) distance(place int, law loss.Distribution) float64 {
	first, shares := ref.histogram(place, binWidth)
	sum, inside := 0.0, 0.0
	for i, share := range shares {
		low := float64(first+i) * binWidth
		mass := law.Prob(low, low+binWidth)
		inside += mass
		sum += math.Abs(mass - share)
	}
	return (sum + math.Max(0, 1-inside)) / 2 // the theory's mass where no resample fell
}

// typical chooses inputs by rule: by the rank of their distance, and among those
// that the theory describes well the one with the most structure.
func typical(ref *Reference, laws []loss.Distribution, l1 []float64) []PredictorDensity {
	order := ranked(l1)
	at := func(q float64) int { return order[int(q*float64(len(order)-1))] }
	structured, most := 0, -1
	for _, i := range order {
		if l1[i] > 0.1 {
			break
		}
		if peaks := peaks(laws[i]); peaks > most {
			structured, most = i, peaks
		}
	}
	var out []PredictorDensity
	for _, c := range []struct {
		place int
		why   string
	}{
		{at(0.25), "lower quartile of the distances"},
		{at(0.5), "median distance"},
		{structured, "most peaks among distances up to 0.1"},
		{at(0.85), "85% of the distances are smaller"},
		{at(0.95), "95% of the distances are smaller"},
		{at(1), "largest distance"},
	} {
		law := describe(ref, c.place, laws[c.place], binWidth)
		law.Why, law.L1 = c.why, l1[c.place]
		out = append(out, law)
	}
	return out
}

// ranked lists the places of values in ascending order of these.
func ranked(values []float64) []int {
	order := make([]int, len(values))
	floats.ArgsortStable(slices.Clone(values), order)
	return order
}

// peaks counts the maxima of a density on a fine grid.
func peaks(law loss.Distribution) int {
	low, high := law.Quantile(0.001), law.Quantile(0.999)
	const steps = 400
	count, rising := 0, true
	last := 0.0
	for i := range steps + 1 {
		density := law.Density(low + (high-low)*float64(i)/steps)
		if rising && density < last {
			count++
		}
		if density != last {
			rising = density > last
		}
		last = density
	}
	return count
}

// describe puts both sides onto common bins.
func describe(ref *Reference, place int, law loss.Distribution, width float64) PredictorDensity {
	first, shares := ref.histogram(place, width)
	l := PredictorDensity{Place: place}
	for i, share := range shares {
		low := float64(first+i) * width
		l.Edges = append(l.Edges, low)
		l.Theory = append(l.Theory, law.Prob(low, low+width)/width)
		l.Retrained = append(l.Retrained, share/width)
	}
	return l
}
