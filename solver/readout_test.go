package solver_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// readable is a problem of 30 sites, some of several examples with different
// targets, with its solution to 1e-11.
func readable(t *testing.T, seed uint64) (solver.Problem, *solver.Solution) {
	t.Helper()
	rng := rand.New(rand.NewPCG(16, seed))
	x, k := line(rng, 30, 0.5, 0.05)
	p := solver.Problem{Gram: k, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 0.8}}
	for i := range 30 {
		for range 1 + i%3 {
			p.Site, p.Y = append(p.Site, i), append(p.Y, math.Sin(2*x[i])+0.4*rng.NormFloat64())
		}
	}
	rng.Shuffle(len(p.Y), func(a, b int) {
		p.Site[a], p.Site[b] = p.Site[b], p.Site[a]
		p.Y[a], p.Y[b] = p.Y[b], p.Y[a]
	})
	return p, mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
}

// allTests are the test losses that read-outs are tried with.
func allTests() []loss.Test {
	return []loss.Test{loss.SquareTest{}, loss.Absolute{}, loss.ZeroOne{},
		loss.SmoothEps{Eps: 0.1, Beta: 0.1}}
}

// TestPredictAnywhere: at a new input with kernel vector k the mean is k'T g and the variance sum_j (k'T)_j^2
// u_j, T = (I + D K)^-1 (M03-48), with dense inverses: T = K^-1 G.
func TestPredictAnywhere(t *testing.T) {
	p, s := readable(t, 2)
	m := s.Sites()
	k := normals(rand.New(rand.NewPCG(16, 9)), m)
	g, inv := denseG(t, p.Gram, s.SitePrecision), inverse(t, denseOf(p.Gram))
	var response mat.Dense // k'K^-1 G
	response.Product(mat.NewDense(1, m, slices.Clone(k)), inv, g)
	wantMean, wantVar := 0.0, 0.0
	for j, r := range response.RawRowView(0) {
		wantMean += r * s.SiteMean[j]
		wantVar += r * r * s.SiteVariance[j]
	}
	mean, variance := testutil.Must2(s.Predict(slices.Clone(k)))(t)
	sameNumber(t, "mean", mean[0], wantMean, 1e-8)
	sameNumber(t, "variance", variance[0], wantVar, 1e-8)
}

// TestCovariance: row i of G diag(u) G by dense products; its diagonal is Var, and it is symmetric.
func TestCovariance(t *testing.T) {
	p, s := readable(t, 3)
	g, m := denseG(t, p.Gram, s.SitePrecision), s.Sites()
	var want mat.Dense
	want.Product(g, mat.NewDiagDense(m, s.SiteVariance), g)
	rows := make([][]float64, m)
	for i := range rows {
		rows[i] = make([]float64, m)
		testutil.Check(t, s.Covariance(rows[i], i))
		same(t, "row of the covariance", rows[i], want.RawRowView(i), 1e-8)
		sameNumber(t, "diagonal", rows[i][i], s.Var[i], 1e-10)
		for j := range i {
			if math.Abs(rows[i][j]-rows[j][i]) > 1e-12*math.Sqrt(s.Var[i]*s.Var[j]) {
				t.Errorf("covariance of %d and %d: %g and %g", i, j, rows[i][j], rows[j][i])
			}
		}
	}
}

// TestLeftOut: for an example alone on its site the predictor without it is the cavity; with companions it is
// the cavity pulled by their counts, here Poisson with the mean of n-1 examples and summed term by term. The
// mean is over examples, not sites.
func TestLeftOut(t *testing.T) {
	p, s := readable(t, 4)
	targets := targetsOf(p)
	const weight = 1 / 0.1 // 1/s2
	for _, test := range allTests() {
		mean, each := s.LeftOut(test)
		sum, seen := 0.0, 0
		for e, y := range p.Y {
			sum += each[e] / float64(len(p.Y))
			cav := s.Cavity[p.Site[e]]
			others := slices.Clone(targets[p.Site[e]])
			at := slices.Index(others, y)
			others = slices.Delete(others, at, at+1)
			want := 0.0
			switch len(others) {
			case 0:
				want = test.Gaussian(cav.Mean, cav.Var, y)
			case 1:
				for k, pk := range p.Law.Counts(1).All() {
					kw := float64(k) * weight
					keep := cav.C / (cav.C + kw)
					want += pk * test.Gaussian(keep*cav.Mean+(1-keep)*others[0], keep*keep*cav.Var, y)
				}
			default:
				continue // three examples: the law over their split is package loss's own matter
			}
			seen++
			sameNumber(t, test.Name(), each[e], want, 1e-12)
		}
		sameNumber(t, "mean over examples", mean, sum, 1e-13)
		if seen != 10+20 {
			t.Errorf("%d examples compared, want 30", seen)
		}
	}
}

// err632plus is the .632+ rule in the form of its weight (Efron and Tibshirani 1997, 29) where that holds,
// else as plain .632. Beyond the no-information rate gamma R = 1, and their (32) comes to .632 of
// the left-out error and .368 gamma.
func err632plus(leftOut, apparent, gamma float64) (plus float64) {
	switch {
	case leftOut <= apparent, gamma <= apparent: // no overfitting, or worse than shuffled
		return 0.368*apparent + 0.632*leftOut
	case leftOut > gamma:
		return 0.632*leftOut + 0.368*gamma // worse than no information
	}
	weight := 0.632 / (1 - 0.368*(leftOut-apparent)/(gamma-apparent))
	return (1-weight)*apparent + weight*leftOut
}

// TestOverwritten: once a later solve has overwritten G in K's scratch triangle, what is
// read off G refuses; what the solution holds itself stays.
func TestOverwritten(t *testing.T) {
	p, first := readable(t, 6)
	leftOut, _ := first.LeftOut(loss.SquareTest{})
	p.Law = resample.Poisson{Ratio: 2}
	second := mustConverge(t, p, solver.Settings{})
	row := make([]float64, first.Sites())
	if _, _, err := first.Predict(slices.Clone(row)); !errors.Is(err, solver.ErrOverwritten) {
		t.Errorf("Predict: %v", err)
	}
	if err := first.Covariance(row, 0); !errors.Is(err, solver.ErrOverwritten) {
		t.Errorf("Covariance: %v", err)
	}
	if again, _ := first.LeftOut(loss.SquareTest{}); again != leftOut {
		t.Errorf("left-out error was %v and is %v", leftOut, again)
	}
	if _, _, err := second.Predict(row); err != nil {
		t.Errorf("the newer solution: %v", err)
	}
}

// TestOutOfBag: an example alone at its input has the cavity's mean and Phi(mean/sd), the errors are the ones
// of these numbers, and for a convex loss they do not exceed the left-out errors.
func TestOutOfBag(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}, loss.Square{Noise: 0.3}} {
		p := ordinaryMargin()
		p.Loss, p.Law = l, resample.Subsample{Size: 25, N: 40}
		s := mustConverge(t, p, solver.Settings{})
		bag := s.OutOfBag()
		wrong, missed, square := 0.0, 0.0, 0.0
		for i, cav := range s.Cavity {
			sameNumber(t, "mean", bag.Mean[i], cav.Mean, 1e-13)
			sameNumber(t, "vote", bag.Vote[i], 0.5*math.Erfc(-cav.Mean/math.Sqrt(2*cav.Var)), 1e-12)
			square += (cav.Mean - p.Y[i]) * (cav.Mean - p.Y[i]) / 40
			if cav.Mean*p.Y[i] <= 0 {
				wrong += 1. / 40
			}
			if (bag.Vote[i]-0.5)*p.Y[i] <= 0 {
				missed += 1. / 40
			}
		}
		got := bag.MeanLoss(loss.ZeroOne{})
		sameNumber(t, "error of the mean's sign", got, wrong, 1e-13)
		got = bag.VoteError()
		sameNumber(t, "error of the vote", got, missed, 1e-13)
		got = bag.MeanLoss(loss.SquareTest{})
		sameNumber(t, "square loss of the mean", got, square, 1e-12)
		if left, _ := s.LeftOut(loss.SquareTest{}); !(got < left) {
			t.Errorf("%s: the ensemble's square loss %g is not below the average predictor's %g",
				l.Name(), got, left)
		}
	}
}

// TestIntervals: normal intervals by the printed quantiles of the normal law, and percentile intervals by the
// mass of the law within, just so if it has no atom at the ends. They cannot be the same under the square
// loss, where the law is a mixture, but are so for certain counts: one Gaussian.
func TestIntervals(t *testing.T) {
	for _, c := range []struct{ level, reach float64 }{{0.95, 1.9599639845400543}, {0.5, 0.6744897501960817},
		{0.99, 2.5758293035489008}} {
		got := solver.NormalInterval(3, 4, c.level)
		sameNumber(t, "low", got.Low, 3-2*c.reach, 1e-13)
		sameNumber(t, "high", got.High, 3+2*c.reach, 1e-13)
	}
	if i := solver.NormalInterval(1, 0, 0.9); i.Low != 1 || i.High != 1 || !holds(i, 1) || holds(i, 0.9) ||
		holds(i, 1.1) {
		t.Errorf("without variance: %v", i)
	}
	_, s := readable(t, 8)
	percentile := testutil.Must(s.PercentileIntervals(0.9))(t)
	for i, p := range percentile {
		law := s.Distribution(i)
		sameNumber(t, "mass below", law.CDF(p.Low), 0.05, 1e-9)
		sameNumber(t, "mass up to the upper end", law.CDF(p.High), 0.95, 1e-9)
		if !holds(p, law.Quantile(0.5)) {
			t.Errorf("site %d: the median outside of %v", i, p)
		}
	}
	p := ordinaryMargin()
	hard := mustConverge(t, p, solver.Settings{})
	percentile = testutil.Must(hard.PercentileIntervals(0.9))(t)
	atoms := 0
	for i, interval := range percentile {
		law := hard.Distribution(i)
		if interval.Low == p.Y[i] || interval.High == p.Y[i] {
			atoms++
		}
		if held := law.CDF(interval.High) - law.Prob(math.Inf(-1), interval.Low); held < 0.9-1e-12 {
			t.Errorf("site %d: %v holds %g", i, interval, held)
		}
	}
	if atoms == 0 {
		t.Error("no interval ends at its margin")
	}
	for _, level := range []float64{0, 1, -0.5, math.NaN()} {
		if _, err := s.PercentileIntervals(level); err == nil {
			t.Errorf("percentile intervals of level %v", level)
		}
	}
}

// TestCombineErrors holds the combination to its definition on targets that
// repeat, labels among them, pair by pair, with a left-out error from anywhere.
func TestCombineErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	fit, labels, levels := normals(rng, 200), coins(rng, 200), times(2, normals(rng, 200))
	for i, v := range levels {
		levels[i] = math.Round(v)
	}
	for _, c := range []struct {
		name    string
		test    loss.Test
		y       []float64
		leftOut float64
	}{
		{"labels", loss.ZeroOne{}, labels, 0.3},
		{"labels", loss.ZeroOne{}, labels, 0.9},
		{"labels judged by squares", loss.SquareTest{}, labels, 2.1},
		{"levels", loss.SquareTest{}, levels, 5.2},
		{"levels", loss.Absolute{}, levels, 0.1},
	} {
		t.Run(c.name+"/"+c.test.Name(), func(t *testing.T) {
			n, apparent, shuffled := 200.0, 0.0, 0.0
			for i, y := range c.y {
				apparent += c.test.Value(fit[i], y) / n
				for j := range fit {
					shuffled += c.test.Value(fit[j], y) / (n * n)
				}
			}
			plus := err632plus(c.leftOut, apparent, shuffled)
			got := solver.Combine632(c.leftOut, c.test, c.y, fit, nil)
			// Sums of 40000 terms in another order.
			sameNumber(t, "left out", got.LeftOut, c.leftOut, 0)
			sameNumber(t, "apparent", got.Apparent, apparent, 1e-13)
			sameNumber(t, "no information", got.NoInformation, shuffled, 1e-11)
			sameNumber(t, ".632", got.Err632, 0.368*apparent+0.632*c.leftOut, 1e-13)
			sameNumber(t, ".632+", got.Err632Plus, plus, 1e-11)
			if none := solver.Combine632(math.NaN(), c.test, c.y, fit, nil); none.Apparent != got.Apparent ||
				none.NoInformation != got.NoInformation || !math.IsNaN(none.Err632) ||
				!math.IsNaN(none.Err632Plus) {
				t.Errorf("without a left-out error: %+v", none)
			}
		})
	}
}

// TestNoInformationOfMany: beyond some million pairs neighbours count at their mean, of
// which there are 2000, each off by less than a thousandth of the spread.
func TestNoInformationOfMany(t *testing.T) {
	const n = 6000
	rng := rand.New(rand.NewPCG(18, 2))
	y, fit := normals(rng, n), normals(rng, n)
	for _, test := range []loss.Test{loss.SquareTest{}, loss.Absolute{},
		loss.SmoothEps{Eps: 0.1, Beta: 0.1}} {
		want := 0.0
		for _, f := range fit {
			for _, v := range y {
				want += test.Value(f, v) / (n * n)
			}
		}
		got := solver.Combine632(math.NaN(), test, y, fit, nil).NoInformation
		if off := math.Abs(got/want - 1); off > 1e-4 || off > 1e-10 && test.Name() == "square" {
			t.Errorf("%s: %v, pair by pair %v", test.Name(), got, want)
		}
	}
}

// TestTinyLeftOutMeans: beside a kernel as narrow as exp(-30) and less between examples,
// G = K^-1 + D to first order has G_ij = -K_ij/((1 + d_i)(1 + d_j)) up to a share of 1e-13,
// so that m_c = sum_{j != i} K_ij d_j y_j/(1 + d_j) by hand, its sign and size far below the
// rounding of the labels. The left-out errors follow, in theory and as a bagged mean.
func TestTinyLeftOutMeans(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(7, 1))
	k := linalg.ZeroSym(n)
	p := solver.Problem{Gram: k, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 1}}
	for i := range n {
		p.Site, p.Y = append(p.Site, i), append(p.Y, float64(2*(i%2)-1))
		k.Set(i, i, 1)
		for j := range i {
			k.Set(j, i, math.Exp(-30-40*rng.Float64()))
		}
	}
	s := mustConverge(t, p, solver.Settings{})
	bag, wrong := s.OutOfBag(), 0.0
	for i := range n {
		mean := 0.0
		for j := range n {
			if d := s.SitePrecision[j]; j != i {
				mean += k.At(min(i, j), max(i, j)) * d * p.Y[j] / (1 + d)
			}
		}
		if mean*p.Y[i] < 0 {
			wrong += 1. / n
		}
		if !(math.Abs(bag.Mean[i]-mean) <= 1e-9*math.Abs(mean)) {
			t.Errorf("left-out mean %d is %g, by hand %g", i, bag.Mean[i], mean)
		}
	}
	got := bag.MeanLoss(loss.ZeroOne{})
	sameNumber(t, "error of the mean's sign", got, wrong, 1e-13)
	if len(s.Warnings) > 0 {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestTies: where the kernel carries nothing over, and where neighbours of opposite labels
// cancel up to rounding, the left-out prediction is a tie: half an error, of the mean and
// of the vote as well, and a warning.
func TestTies(t *testing.T) {
	alone := solver.Problem{Gram: linalg.ZeroSym(6), Loss: loss.Square{Noise: 0.1},
		Law: resample.Poisson{Ratio: 1}}
	for i := range 6 {
		alone.Gram.(*linalg.Sym).Set(i, i, 1)
		alone.Site, alone.Y = append(alone.Site, i), append(alone.Y, float64(2*(i%3/2)-1))
	}
	// Around example 0 the others stand in pairs of opposite labels at equal distances.
	ring := alone
	gram := linalg.ZeroSym(7)
	ring.Gram, ring.Site, ring.Y = gram, []int{0, 1, 2, 3, 4, 5, 6}, []float64{1, 1, -1, 1, -1, 1, -1}
	for i := range 7 {
		gram.Set(i, i, 1)
		if i > 0 {
			gram.Set(0, i, 0.3)
		}
	}
	s := mustConverge(t, ring, solver.Settings{})
	if each := s.OutOfBag().Mean[0]; each != 0 || !strings.Contains(strings.Join(s.Warnings, "; "),
		"at 1 of 7 inputs the sign") {
		t.Errorf("left-out mean %g; warnings %q", each, s.Warnings)
	}
	for _, l := range []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 1}} {
		alone.Loss = l
		s := mustConverge(t, alone, solver.Settings{})
		bag := s.OutOfBag()
		left, _ := s.LeftOut(loss.ZeroOne{})
		mean := bag.MeanLoss(loss.ZeroOne{})
		vote := bag.VoteError()
		// To the last digit: no mean of halves is above a half.
		if left != 0.5 || mean != 0.5 || vote != 0.5 ||
			s.Stats.Alone != len(alone.Y) {
			t.Errorf("%s: left-out error %v, of the mean %v, of the vote %v: want 1/2; warnings %q",
				l.Name(), left, mean, vote, s.Warnings)
		}
	}
}

// TestRetarget compares the solution of other targets on the same G with a solve of its own, also where
// examples with different targets share a site.
func TestRetarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n, merged = 40, 6
	_, k := line(rng, n, 0.7, 1e-3)
	problem := solver.Problem{Gram: k, Site: append(upTo(n-1), upTo(merged-1)...), Y: normals(rng, n+merged),
		Loss: loss.Square{Noise: 0.3}, Law: resample.Poisson{Ratio: 1}}
	const tolerance = 1e-9
	first := mustConverge(t, problem, solver.Settings{Tolerance: tolerance})
	other := problem
	other.Y = normals(rng, n+merged)
	got := testutil.Must(first.Retarget(other.Y, tolerance))(t)
	want := mustConverge(t, other, solver.Settings{Tolerance: tolerance})
	// Both stop within the tolerance, the linear equations within a thousandth of it.
	if sameAnswer(t, got, want, 1e-7); got.Status != solver.Converged {
		t.Error(got.Status)
	}
	if _, err := first.Retarget(problem.Y, tolerance); err == nil {
		t.Error("a G that another solve has overwritten was read")
	}
	margin := ordinaryMargin()
	margin.Loss = loss.Hinge{C: 1}
	if _, err := mustConverge(t, margin, solver.Settings{}).Retarget(margin.Y, 0); err == nil {
		t.Error("the G of a hinge loss served other targets")
	}
}
