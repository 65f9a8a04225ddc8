package paper

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/loss"
	"bootbench/model"
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

// Distances summarises the L1 distances of all places under one choice of what
// M03 leaves open.
type Distances struct {
	Scheme    string
	Offset    float64 // of the bins' edges from multiples of their width
	Resamples int
	Close     float64 // share of the places with a distance of at most 0.1
	CloseSE   float64 // Monte-Carlo standard errors, by the jackknife over blocks
	Far       float64 // share at 0.2 or more
	FarSE     float64
	Largest   float64
	LargestSE float64
	L1        []float64
}

// PredictorDensities are M03 figures 3 to 5: the distributions of the predictor at
// the inputs of the Boston housing data.
type PredictorDensities struct {
	Typical  []PredictorDensity // figures 3 and 4: inputs chosen by rule
	Choices  []Distances
	Examples int
}

// BostonDensities computes them. Choices hold the summaries of the distances over
// schemes, bin edges and numbers of resamples; the first is the one plotted.
func BostonDensities(ctx context.Context, s Settings) (*PredictorDensities, error) {
	r, err := newRun(ctx, s)
	if err != nil {
		return nil, err
	}
	spec, err := Boston()
	if err != nil {
		return nil, err
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	out := &PredictorDensities{Examples: spec.Set.N()}
	for _, name := range []string{"poisson", "multinomial"} {
		if err := r.densities(out, m, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// densities adds what a resampling scheme gives.
func (r *run) densities(out *PredictorDensities, m *model.Model, name string) error {
	scheme, err := resample.ByName(name, resample.Options{N: m.Set.N(), Ratio: 1})
	if err != nil {
		return err
	}
	solution, err := m.Solve(r.ctx, scheme, solver.Settings{})
	if err != nil {
		return err
	}
	laws := make([]loss.Distribution, m.Sites())
	for i := range laws {
		laws[i] = solution.Distribution(i)
	}
	x := &experiment{model: m, scheme: scheme, bins: true}
	ref, err := r.retrain(x, "boston, laws, "+name, MomentsFactor*r.Resamples)
	if err != nil {
		return err
	}
	for _, offset := range []float64{0, binWidth / 2} {
		for _, blocks := range []int{len(ref.blocks), max(1, len(ref.blocks)/10)} {
			part := &Reference{blocks: ref.blocks[:blocks], Resamples: blocks * blockSize}
			out.Choices = append(out.Choices, distances(part, laws, scheme.Name(), offset))
		}
	}
	if name == "poisson" {
		out.Typical = typical(ref, laws, out.Choices[0].L1)
	}
	return nil
}

// distance is half the L1 distance between the masses by theory and the shares of
// the resamples, over bins of binWidth. leave is a jackknife group, -1 for none.
func (ref *Reference) distance(place int, law loss.Distribution, offset float64, leave int) float64 {
	first, shares := ref.histogram(place, binWidth, offset, leave)
	sum, inside := 0.0, 0.0
	for i, share := range shares {
		low := float64(first+i)*binWidth + offset
		mass := law.Prob(low, low+binWidth)
		inside += mass
		sum += math.Abs(mass - share)
	}
	return (sum + math.Max(0, 1-inside)) / 2 // the theory's mass where no resample fell
}

func distances(ref *Reference, laws []loss.Distribution, scheme string, offset float64) Distances {
	d := Distances{Scheme: scheme, Offset: offset, Resamples: ref.Resamples}
	d.Close, d.Far, d.Largest, d.L1 = summary(ref, laws, offset, -1)
	var close, far, largest []float64
	for leave := range min(jackknifeGroups, len(ref.blocks)) {
		c, f, l, _ := summary(ref, laws, offset, leave)
		close, far, largest = append(close, c), append(far, f), append(largest, l)
	}
	d.CloseSE, d.FarSE, d.LargestSE = jackknife(close), jackknife(far), jackknife(largest)
	return d
}

// jackknifeGroups is the number of groups of blocks that are left out in turn;
// block b belongs to group b modulo this.
const jackknifeGroups = 20

// summary is the shares of near and far places and the largest distance, one
// group of blocks left out.
func summary(ref *Reference, laws []loss.Distribution, offset float64, leave int) (close, far,
	largest float64, l1 []float64) {
	l1 = make([]float64, len(laws))
	for i := range laws {
		l1[i] = ref.distance(i, laws[i], offset, leave)
		if l1[i] <= 0.1 {
			close += 1 / float64(len(laws))
		}
		if l1[i] >= 0.2 {
			far += 1 / float64(len(laws))
		}
		largest = math.Max(largest, l1[i])
	}
	return close, far, largest, l1
}

// jackknife is the standard error of a figure from its values with one group left
// out in turn.
func jackknife(without []float64) float64 {
	if len(without) < 2 {
		return math.NaN()
	}
	n := float64(len(without))
	return stat.StdDev(without, nil) * (n - 1) / math.Sqrt(n)
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
	first, shares := ref.histogram(place, width, 0, -1)
	l := PredictorDensity{Place: place}
	for i, share := range shares {
		low := float64(first+i) * width
		l.Edges = append(l.Edges, low)
		l.Theory = append(l.Theory, law.Prob(low, low+width)/width)
		l.Retrained = append(l.Retrained, share/width)
	}
	return l
}
