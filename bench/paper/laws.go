package paper

import (
	"context"
	"errors"
	"math"
	"slices"

	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"

	"gonum.org/v1/gonum/blas/blas64"
)

// PredictorDensity is the law over resamples of the predictor at one place, by theory and by
// retraining, as densities on common bins.
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

// PredictorDensities are M03 figures 3 to 5: the laws at the inputs of the Boston housing data.
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
	var elsewhere error
	for _, name := range []string{"poisson", "multinomial"} {
		scheme, err := resample.ByName(name, resample.Options{N: spec.Set.N(), Ratio: 1})
		if err != nil {
			return nil, err
		}
		solution, err := m.Solve(ctx, scheme, solver.Settings{})
		if err != nil {
			return nil, err
		}
		laws := make([]loss.Distribution, m.Sites())
		for i := range laws {
			laws[i] = solution.Distribution(i)
		}
		x := &experiment{name: spec.Set.Name, model: m, scheme: scheme, bins: true}
		ref, err := r.retrain(x, "boston, laws, "+name, MomentsFactor*r.Resamples)
		if errors.Is(err, ErrElsewhere) {
			elsewhere = err
			continue
		}
		if err != nil {
			return nil, err
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
	}
	return out, elsewhere
}

// distance is half the L1 distance of a law's masses and the shares of the
// resamples, over bins of binWidth.
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
func summary(ref *Reference, laws []loss.Distribution, offset float64, leave int) (close, far, largest float64, l1 []float64) {
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
	mean, squares, n := 0.0, 0.0, float64(len(without))
	for _, v := range without {
		mean += v / n
	}
	for _, v := range without {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt((n - 1) / n * squares)
}

// typical chooses inputs by rule: by the rank of their distance, and among those
// that the theory describes well the one with the most structure.
func typical(ref *Reference, laws []loss.Distribution, l1 []float64) []PredictorDensity {
	order := make([]int, len(l1))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l1[a] < l1[b]:
			return -1
		case l1[a] > l1[b]:
			return 1
		}
		return 0
	})
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

// peaks counts the maxima of a law's density on a fine grid.
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

// Fields are M04 figure 1, right: the internal field at new inputs of the sonar
// data.
type Fields struct {
	Typical        []PredictorDensity
	Negative       []float64 // P(label = -1) by theory at each new input
	NaiveNegative  []float64 // share of the retrained classifiers that say -1
	NaiveSE        []float64
	L1             []float64
	Mean, Var      []float64 // theory
	NaiveMean      []float64
	NaiveVar       []float64
	Held, Examples int
}

// SonarFields holds out every tenth example, 20 of 208, and resamples the other
// 188, as many as M04 has, with S = N.
func SonarFields(ctx context.Context, s Settings) (*Fields, error) {
	r, err := newRun(ctx, s)
	if err != nil {
		return nil, err
	}
	spec, err := embedded("sonar")
	if err != nil {
		return nil, err
	}
	new, held := splitEvery(spec.Set, 10)
	spec.Set = new
	spec.Set.Name = "sonar without every tenth"
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	cross, err := m.CrossAll(blas64.General(held.X))
	if err != nil {
		return nil, err
	}
	scheme := resample.Poisson{Ratio: 1}
	solution, err := m.Solve(ctx, scheme, solver.Settings{})
	if err != nil {
		return nil, err
	}
	x := &experiment{name: spec.Set.Name, model: m, scheme: scheme, cross: cross, bins: true}
	ref, err := r.retrain(x, "sonar, new inputs", MomentsFactor*r.Resamples)
	if err != nil {
		return nil, err
	}
	out := &Fields{Held: held.N(), Examples: new.N()}
	out.Mean, out.Var = solution.Predict(append([]float64(nil), cross.Data...))
	out.NaiveMean, out.NaiveVar, out.NaiveNegative = ref.Mean[m.Sites():], ref.Var[m.Sites():], ref.negative[m.Sites():]
	laws := make([]loss.Distribution, held.N())
	for i := range laws {
		laws[i] = gaussian(out.Mean[i], out.Var[i])
		out.Negative = append(out.Negative, laws[i].CDF(0))
		p := out.NaiveNegative[i]
		out.NaiveSE = append(out.NaiveSE, math.Sqrt(p*(1-p)/float64(ref.Resamples)))
		out.L1 = append(out.L1, ref.distance(m.Sites()+i, laws[i], 0, -1))
	}
	out.choose(ref, laws, m.Sites())
	return out, nil
}

// splitEvery separates the rows number 0, every, 2 every, ... up to 20 of them.
func splitEvery(set *dataset.Set, every int) (rest, held *dataset.Set) {
	const most = 20
	var in, out []int
	for i := range set.N() {
		if i%every == 0 && len(out) < most {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return set.Subset(in), set.Subset(out)
}

// gaussian is the law at a new input (M03-48).
func gaussian(mean, variance float64) loss.Distribution {
	return loss.Distribution{Pieces: []loss.TruncatedNormal{{Weight: 1, Mean: mean, SD: math.Sqrt(variance), Lo: math.Inf(-1), Hi: math.Inf(1)}}}
}

// choose takes the new inputs with the median and the largest distance.
func (f *Fields) choose(ref *Reference, laws []loss.Distribution, sites int) {
	order := make([]int, len(laws))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if f.L1[a] < f.L1[b] {
			return -1
		}
		return 1
	})
	for _, c := range []struct {
		place int
		why   string
	}{{order[len(order)/2], "median distance"}, {order[len(order)-1], "largest distance"}} {
		law := describe(ref, sites+c.place, laws[c.place], fineBin)
		law.Place, law.Why, law.L1 = c.place, c.why, f.L1[c.place]
		f.Typical = append(f.Typical, law)
	}
}
