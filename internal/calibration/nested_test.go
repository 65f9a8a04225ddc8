package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/report"
)

// TestShareInterval: intervals of error rates hold the probability in about their level of draws of n rows,
// on average over probabilities (Brown, Cai and DasGupta 2001); without an error, or with errors alone,
// they are one-sided with at least it; a standard error that says less counts as fewer rows.
func TestShareInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{30, 200} {
		held := 0
		const draws = 4000
		for range draws {
			p, wrong := 0.02+0.96*r.Float64(), 0.0
			for range n {
				if r.Float64() < p {
					wrong++
				}
			}
			e := wrong / float64(n)
			lower, upper := ShareInterval(e, math.Sqrt(e*(1-e)/float64(n)), float64(n), float64(n), 0.95, 0)
			if lower <= p && p <= upper {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.94 || share > 0.965 {
			t.Errorf("%d rows: %.3f hold", n, share)
		}
	}
	if lower, upper := ShareInterval(0, 0, 40, 10, 0.95, 0); lower != 0 ||
		math.Abs(math.Pow(1-upper, 10)-0.05) > 1e-12 {
		t.Errorf("no error in 10 groups: %v to %v", lower, upper)
	}
	if lower, upper := ShareInterval(1, 0, 40, 40, 0.9, 0); upper != 1 ||
		math.Abs(math.Pow(lower, 40)-0.1) > 1e-12 {
		t.Errorf("errors alone: %v to %v", lower, upper)
	}
	_, narrow := ShareInterval(0.2, 0.04, 100, 100, 0.95, 0)
	if _, wide := ShareInterval(0.2, 0.08, 100, 100, 0.95, 0); wide < narrow+0.05 {
		t.Errorf("twice the standard error: up to %v, not %v", wide, narrow)
	}
}

// TestErrorInterval: the interval is symmetric on the logarithmic scale, wider by Student's t, and symmetric
// around 0 where there is no logarithm.
func TestErrorInterval(t *testing.T) {
	lower, upper := ErrorInterval(2, 0.5, 0.95, 0)
	if math.Abs(lower*upper-4) > 1e-12 || math.Abs(math.Log(upper/2)-1.959964*0.25) > 1e-6 {
		t.Errorf("%v to %v", lower, upper)
	}
	if _, wide := ErrorInterval(2, 0.5, 0.95, 3); math.Abs(math.Log(wide/2)-3.182446*0.25) > 1e-6 {
		t.Errorf("by Student's t up to %v", wide)
	}
	if lower, upper := ErrorInterval(0, 1, 0.95, 0); lower != -upper {
		t.Errorf("around 0: %v to %v", lower, upper)
	}
}

// TestNestedFall: for errors a + b/n of models of n rows the fall leads from the errors of all but a fold to
// the errors of all; without further variance of the folds the standard error is the naive one.
func TestNestedFall(t *testing.T) {
	const folds, a, b = 10, 2.0, 3.0
	at := func(left float64) float64 { return a + b*folds/(folds-left) }
	n := Nested{}
	for range folds {
		n.Outer, n.Variance = append(n.Outer, at(1)), append(n.Variance, 0.5)
		n.Share, n.Inner = append(n.Share, 1.0/folds), append(n.Inner, nil)
	}
	for j := range folds {
		for range folds {
			n.Inner[j] = append(n.Inner[j], at(2))
		}
	}
	se, fall := NestedError([]Nested{n, n}, 0.1)
	if off := at(1) - fall - at(0); math.Abs(off) > 1e-12 || se != 0.1 {
		t.Errorf("all rows are off by %v, standard error %v", off, se)
	}
}

// TestNestedControl: losses that do not depend on the folds have the mean square K/(K-1) naive^2 over random
// partitions; where the rows have the same losses in all partitions, the standard error is the one over them.
func TestNestedControl(t *testing.T) {
	const folds, rows, draws = 10, 60, 4000
	rng := rand.New(rand.NewPCG(3, 4))
	losses := make([]float64, rows)
	for i := range losses {
		losses[i] = math.Pow(rng.NormFloat64(), 2)
	}
	se, _ := StandardError(losses, nil, nil)
	naive, mean, n := float64(se), 0.0, Nested{}
	for range draws {
		n = Nested{Naive: naive}
		n.Share = slices.Repeat([]float64{1.0 / folds}, folds)
		rng.Shuffle(rows, func(i, j int) { losses[i], losses[j] = losses[j], losses[i] })
		for j := range folds {
			of := losses[j*rows/folds : (j+1)*rows/folds]
			over, _ := StandardError(of, nil, nil)
			n.Outer, n.Variance = append(n.Outer, stat.Mean(of, nil)), append(n.Variance, float64(over*over))
		}
		n.Inner = slices.Repeat([][]float64{n.Outer}, folds)
		mean += n.square() / draws
	}
	if want := naive * naive * folds / (folds - 1); math.Abs(mean-want) > 0.05*want {
		t.Errorf("mean square %v of partitions, want %v", mean, want)
	}
	others := n
	n.Others = &others
	if se, _ := NestedError([]Nested{n}, naive/2); math.Abs(se-naive) > 1e-12 {
		t.Errorf("standard error %v, over the rows %v", se, naive)
	}
}

// TestFreedom: squares of n normal numbers, whose fourth central moment is 15 times the square of their
// variance, have n/7 degrees of freedom; losses of ten groups at most nine; where one row makes up most,
// three.
func TestFreedom(t *testing.T) {
	const n = 70000
	rng := rand.New(rand.NewPCG(1, 2))
	each, group := make([]float64, n), make([]int, n)
	for i := range each {
		each[i], group[i] = math.Pow(rng.NormFloat64(), 2), i%10
	}
	if f := Freedom(each, nil, nil); math.Abs(f-n/7) > n/70 {
		t.Errorf("%g degrees of freedom of %d squares", f, n)
	}
	if f := Freedom(each, nil, group); f < 8.9 || f > 9 {
		t.Errorf("%g degrees of freedom of ten groups", f)
	}
	each[0] = 1e9
	if f := Freedom(each, nil, nil); f != 3 {
		t.Errorf("%g degrees of freedom of one row", f)
	}
}

// sizesOf are errors of n examples around a curve of the ratio; their noise is common to all ratios.
func sizesOf(n int, noise float64, curve func(ratio float64) float64) (sizes []SizeError) {
	for _, ratio := range []float64{0.2, 0.29, 0.42, 0.62, 0.9} {
		s, rng := SizeError{Ratio: ratio}, rand.New(rand.NewPCG(1, 2))
		for range n {
			s.Each = append(s.Each, curve(ratio)*(1+noise*rng.NormFloat64()))
		}
		s.Error = stat.Mean(s.Each, nil)
		s.SE = 0.003 * s.Error
		sizes = append(sizes, s)
	}
	return sizes
}

// TestGrowth reads known curves at twice the examples: within two standard errors, and a fall that is neither
// below 0 nor above the fall of the last doubling.
func TestGrowth(t *testing.T) {
	for name, curve := range map[string]func(float64) float64{
		"falling": func(r float64) float64 { return 1 + 2*math.Pow(r, -0.7) },
		"fast":    func(r float64) float64 { return 0.1 + math.Pow(r, -1.5) },
		"slow":    func(r float64) float64 { return 3 + 0.1*math.Pow(r, -0.3) },
		"settled": func(r float64) float64 { return 3 },
		"rising":  func(r float64) float64 { return 3 + r },
	} {
		g := NewGrowth(sizesOf(400, 0.5, curve), 400)
		fall, now := float64(g.Fall), curve(1)
		want := math.Max(0, now-curve(2))
		if se := float64(g.FallSE); math.Abs(fall-want) > 2*se || se > 0.4*want+0.005*now || g.Rows != 800 ||
			!(fall >= 0 && fall <= curve(0.5)-now+0.01*now || name == "rising" && fall == 0) {
			t.Errorf("%s: a fall of %.3f +- %.3f with twice the rows, want %.3f; the last was %.3f", name,
				fall, se, want, curve(0.5)-now)
		}
	}
}

// TestGrowthExamples: examples that disagree on the fall are uncertainty; units are none, nor is a common
// factor of every example.
func TestGrowthExamples(t *testing.T) {
	curve := func(r float64) float64 { return 1 / r }
	sizes := sizesOf(100, 0, curve)
	quiet := NewGrowth(sizes, 100)
	for i, s := range sizes {
		sizes[i].Error, sizes[i].SE = 1e6*s.Error, 1e6*s.SE
		for k := range s.Each {
			s.Each[k] *= 1e6
		}
	}
	if g := NewGrowth(sizes, 100); math.Abs(float64(g.FallSE/quiet.FallSE)/1e6-1) > 1e-6 {
		t.Errorf("in other units %v, not 1e6 times %v", g, quiet)
	}
	for k := range 50 { // half of the examples do not gain
		for i, s := range sizes {
			s.Each[2*k] = sizes[0].Each[0]
			sizes[i].Error = stat.Mean(s.Each, nil)
		}
	}
	relative := func(g *report.Growth) float64 { return float64(g.FallSE / g.Fall) }
	if g := NewGrowth(sizes, 100); math.Pow(relative(g), 2) < math.Pow(relative(quiet), 2)+0.25/100/0.25 {
		t.Errorf("a fall that half of the examples do not see is as certain: %v, %v", g, quiet)
	}
	if g := NewGrowth(sizesOf(19, 0, curve), 19); g != nil {
		t.Errorf("19 examples give %v", g)
	}
}
