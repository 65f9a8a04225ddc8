package calibration

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

// TestMeasures: the means of the losses are the area under the ROC curve, which is the weight of the pairs
// that are in order, ties counting half, the balanced error, the log loss and the cost of the labels by the
// left-out probabilities.
func TestMeasures(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n = 60
	f, y, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range f {
		y[i] = float64(2*(i%3/2) - 1)
		f[i], weights[i] = math.Round(3*(rng.NormFloat64()+y[i]/2))/3, 0.5+rng.Float64()
	}
	for _, w := range [][]float64{nil, weights} {
		ordered, pairs := 0.0, 0.0
		for i := range f {
			for j := range f {
				if of := WeightOf(w, i) * WeightOf(w, j); y[i] > y[j] {
					ordered, pairs = ordered+of*(indicator(f[i] > f[j])+0.5*indicator(f[i] == f[j])), pairs+of
				}
			}
		}
		x, z, area := ROC(f, y, w)
		if math.Abs(area-ordered/pairs)+x[0]+1-z[len(z)-1] > 1e-12 {
			t.Errorf("area %v, want %v; curve from %v to %v", area, ordered/pairs, x[0], z[len(z)-1])
		}
		p := CrossFit(f, y, w)
		logLoss, _ := Judge(p, y, w)
		var cost, off []float64
		for i := range f {
			off = append(off, (loss.ZeroOne{}).Value(f[i], y[i]))
			switch positive := p[i] >= 0.2; {
			case positive && y[i] < 0:
				cost = append(cost, 1)
			case !positive && y[i] > 0:
				cost = append(cost, 4)
			default:
				cost = append(cost, 0)
			}
		}
		for text, want := range map[string]float64{"error": stat.Mean(off, w), "auc": area,
			"log-loss": logLoss, "balanced": Balanced(off, y, w),
			"cost:1,4": stat.Mean(cost, w)} {
			m := testutil.Must(ParseMeasure(text))(t)
			each, wrong := m.Losses(f, y, w)
			got := m.Value(stat.Mean(each, w))
			if !scalar.EqualWithinAbs(got, want, 1e-12) || m.String() != text {
				t.Errorf("%v: %v, want %v", m, got, want)
			}
			for i, v := range wrong {
				if want := off[i]; !m.ByProbability() && v != want || m.ByProbability() &&
					(v == 0) != (p[i] >= m.Threshold() == (y[i] > 0)) {
					t.Fatalf("%v: row %d has a wrong label %v times", m, i, v)
				}
			}
		}
	}
	for _, text := range []string{"", "auc:1", "cost", "cost:1", "cost:1,0", "cost:a,1", "cost:1,2,3", "f1"} {
		if m, err := ParseMeasure(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
	few := []float64{1, 1, -1}
	if curve, _, _ := ROC(few[:2], few[:2], nil); curve != nil {
		t.Error("a curve of one class")
	}
	if each, _ := (Measure{Name: ByAUC}).Losses(few, few, nil); each != nil {
		t.Error("a class of one row is measured")
	}
}

// TestMeasureSE: the mean standard error of fixed fields is the standard deviation of the measure over tables
// of fixed sizes of the classes, within 10%: over 400 tables that has an error of 3.5%.
func TestMeasureSE(t *testing.T) {
	const n, positive, tables = 60, 20, 400
	for _, text := range []string{"auc", "balanced"} {
		m := testutil.Must(ParseMeasure(text))(t)
		rng := rand.New(rand.NewPCG(3, 2))
		var values, squares []float64
		for range tables {
			f, y := make([]float64, n), make([]float64, n)
			for i := range f {
				if y[i] = -1; i < positive {
					y[i] = 1
				}
				f[i] = rng.NormFloat64() + y[i]/2
			}
			each, _ := m.Losses(f, y, nil)
			values = append(values, stat.Mean(each, nil))
			squares = append(squares, math.Pow(m.SE(each, y, nil, nil), 2))
		}
		if se, sd := math.Sqrt(stat.Mean(squares, nil)), stat.StdDev(values, nil); math.Abs(se/sd-1) > 0.1 {
			t.Errorf("%v: a standard error of %v where the measure varies by %v", m, se, sd)
		}
	}
}

// TestQuality: figures worked out by hand.
func TestQuality(t *testing.T) {
	near := func(what string, got report.Number, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= 1e-12) { // sums of a few small numbers
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	said := func(q *report.Quality, testError report.Number) string {
		return strings.Join(q.Check(testError).Issues(), "; ")
	}
	// Targets 1, 2, 6: mean 3, variance (4+1+9)/3. Errors 1, 2, 3: mean 2, standard deviation 1.
	q := NewQuality(loss.SquareTest{}, 2, []float64{1, 2, 6}, []float64{1, 2, 3}, nil, nil, nil)
	near("variance", q.Baseline, 14.0/3)
	near("R^2", *q.RSquared, 1-2/(14.0/3))
	near("RMSE", *q.RMSE, math.Sqrt2)
	near("standard error", q.ExampleSE, 1/math.Sqrt(3))
	if q.Constant != "3" || q.Balanced != nil || said(q, 2) != "" || !strings.Contains(said(q, 5),
		"learned nothing") {
		t.Errorf("%+v", q)
	}
	// The median 2 is off by 1, 0, 4.
	q = NewQuality(loss.Absolute{}, 1, []float64{1, 2, 6}, []float64{1, 1, 1}, nil, nil, nil)
	near("absolute deviation", q.Baseline, 5.0/3)
	if q.Constant != "2" || q.RSquared != nil || q.RMSE != nil {
		t.Errorf("%+v", q)
	}
	// Three of four are "yes", which errs on the fourth; the error of "yes" is (0.5+0.1)/2 over
	// two that are known, the one of "no" 0.4.
	q = NewQuality(loss.ZeroOne{}, 0.25, []float64{1, 1, 1, -1}, []float64{0.5, 0.1, math.NaN(),
		0.4}, nil, nil, &dataset.Column{Levels: []string{"no", "yes"}})
	near("share", q.Baseline, 0.25)
	near("balanced", *q.Balanced, (0.3+0.4)/2)
	// the fourth row is ranked below two of three, by an AUC of 2/3 which is chance; of 40 rows it is not
	Rank(q, []float64{1, 2, 3, 1.5}, []float64{1, 1, 1, -1}, nil)
	if !strings.Contains(said(q, 0.25), "nothing") {
		t.Error(said(q, 0.25))
	}
	near("AUC", *q.AUC, 2.0/3)
	score, label := make([]float64, 40), make([]float64, 40)
	for i := range label {
		score[i], label[i] = float64(i*7%40), 1
		if i%4 == 0 && score[i] < 20 {
			label[i] = -1
		}
	}
	if Rank(q, score, label, nil); strings.Contains(said(q, 0.25), "nothing") ||
		!strings.Contains(said(q, 0.25), "yet the model ranks") {
		t.Errorf("AUC %v: %s", *q.AUC, said(q, 0.25))
	}
	if q.Constant != "yes" || said(q, 0.25) == "" {
		t.Errorf("%+v", q)
	}
	q = NewQuality(loss.SquareTest{}, 1, nil, nil, nil, nil, nil)
	if q != nil || said(q, 1) != "" {
		t.Errorf("of nothing: %+v", q)
	}
}

// TestCompare: Student's table (2.262 at 9 degrees of freedom and level 0.95), the p-value at
// the interval's end, and the coverage of a true difference over 2000 draws of 12 examples,
// within three standard errors, 0.02.
func TestCompare(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, make([]float64, 10)
	compare := func(a, b []float64, level float64) *report.Difference {
		return Compare(report.Examples{Each: a}, report.Examples{Each: b}, level)
	}
	p := compare(a, b, 0.95)
	se := math.Sqrt(82.5/9) / math.Sqrt(10)
	if math.Abs(float64(p.Value)-5.5) > 1e-12 || math.Abs(float64(p.StandardError)-se) > 1e-12 ||
		math.Abs(float64(p.High)-5.5-2.2621572*se) > 1e-6 || math.Abs(float64(p.High+p.Low)-11) > 1e-9 {
		t.Errorf("%+v", p)
	}
	for i := range b {
		b[i] = float64(p.Low)
	}
	if q := compare(a, b, 0.95); math.Abs(float64(q.PValue)-0.05) > 1e-8 || math.Abs(float64(q.Low)) > 1e-9 {
		t.Errorf("at the end of the interval: %+v", q)
	}
	if q := compare(a, a, 0.95); q.PValue != 1 || q.Value != 0 {
		t.Errorf("a model and itself: %+v", q)
	}
	rng, held := rand.New(rand.NewPCG(2, 3)), 0.0
	for range 2000 {
		x, y := make([]float64, 12), make([]float64, 12)
		for i := range x {
			common := 5 * rng.NormFloat64()
			x[i], y[i] = common+rng.NormFloat64()+0.3, common
		}
		if q := compare(x, y, 0.9); q.Low <= 0.3 && 0.3 <= q.High {
			held += 1. / 2000
		}
	}
	if math.Abs(held-0.9) > 0.02 {
		t.Errorf("%v of the intervals hold the difference", held)
	}
}

// TestPairsCountOnce: with e_j = y_j mean(x) the mean error is mean(x) mean(y), all of whose variance 1/n^2
// is of pairs of examples. The jackknife has twice that on average; corrected, and with at least half of
// itself left, it has E max(T - 1, T/2) = 1.37 times it, T exponential with mean 2. Without interactions
// nothing is corrected, and Monte-Carlo noise comes on top.
func TestPairsCountOnce(t *testing.T) {
	const n, draws = 40, 3000
	rng := rand.New(rand.NewPCG(4, 5))
	var plain, corrected, noisy float64
	none := report.Examples{Each: make([]float64, n), Influence: make([]float64, n),
		Interactions: blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}}
	for range draws {
		var x, y [n]float64
		var meanX, meanY float64
		for i := range n {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
			meanX, meanY = meanX+x[i]/n, meanY+y[i]/n
		}
		e := report.Examples{Each: make([]float64, n), Influence: make([]float64, n),
			Interactions: blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}}
		for i := range n {
			e.Each[i] = y[i] * meanX
			e.Influence[i] = (y[i]*meanX + x[i]*meanY - 2*meanX*meanY) / n
			for j := range n {
				e.Interactions.Data[i*n+j] = x[i] * y[j] / n
			}
		}
		squared := func(e report.Examples) float64 {
			return math.Pow(n*float64(Compare(e, none, 0.95).StandardError), 2) / draws
		}
		corrected += squared(e)
		e.Interactions = blas64.General{}
		plain += squared(e)
		e.Noise = 1. / (n * n)
		noisy += squared(e)
	}
	if math.Abs(plain-2) > 0.2 || math.Abs(corrected-1.37) > 0.15 || math.Abs(noisy-plain-1) > 1e-9 {
		t.Errorf("variances times n^2: %.3f by the jackknife, %.3f corrected, %.3f with noise", plain,
			corrected, noisy)
	}
}

// draw draws n normal fields, and labels of which +1 has probability p at a field.
func draw(n int, seed uint64, p func(field float64) float64) (field, label []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		f := rng.NormFloat64()
		field, label = append(field, f), append(label, 2*indicator(rng.Float64() < p(f))-1)
	}
	return field, label
}

func sigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }

// platt is the log loss of a curve on Platt's targets.
func platt(c Logistic, field, label []float64) (sum float64) {
	n := [2]float64{}
	for _, y := range label {
		n[int(indicator(y > 0))]++
	}
	for i, f := range field {
		t := 1 / (n[0] + 2)
		if label[i] > 0 {
			t = (n[1] + 1) / (n[1] + 2)
		}
		p := c.Probability(f)
		sum -= t*math.Log(p) + (1-t)*math.Log(1-p)
	}
	return sum
}

// TestLogisticIsTheMinimum: no other slope or offset nearby has a smaller log loss on
// Platt's targets; and of 20000 examples the curve is their law's within three
// standard errors (inverse Fisher information: 0.030 for the slope, 0.021 for the offset).
func TestLogisticIsTheMinimum(t *testing.T) {
	field, label := draw(300, 3, func(f float64) float64 { return sigmoid(2*f - 1) })
	for i := range field {
		field[i] = 100*field[i] + 1e4 // units that are far from the units of probabilities
	}
	best := testutil.Must(FitLogistic(field, label, nil))(t)
	at := platt(best, field, label)
	for _, d := range []float64{-1e-3, 1e-3} {
		// move the slope about the mean of the fields, and the offset
		turned := Logistic{Slope: best.Slope * (1 + d), Offset: best.Offset - d*best.Slope*1e4}
		lifted := Logistic{Slope: best.Slope, Offset: best.Offset + d}
		if platt(turned, field, label) <= at || platt(lifted, field, label) <= at {
			t.Errorf("%+v is not the minimum", best)
		}
	}
	field, label = draw(20000, 4, func(f float64) float64 { return sigmoid(2*f - 1) })
	l, err := FitLogistic(field, label, nil)
	if err != nil || math.Abs(l.Slope-2) > 0.09 || math.Abs(l.Offset+1) > 0.063 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestExtremes: fields that are alike, or point the wrong way, give the share of the label; of separated
// classes the slope is finite, and no probability passes Platt's targets.
func TestExtremes(t *testing.T) {
	label := []float64{-1, -1, -1, 1, 1, -1}
	for _, field := range [][]float64{{2, 2, 2, 2, 2, 2}, {3, 4, 5, -1, -2, 3}} {
		c, err := FitLogistic(field, label, nil)
		// 2 of 6, drawn in
		if err != nil || c.Name() != "constant" || math.Abs(c.Probability(9)-0.36) > 0.04 {
			t.Errorf("%v: %v %v", field, c, err)
		}
	}
	c := testutil.Must(FitLogistic([]float64{-3, -2, -1, 1, 2, -1.5}, label, nil))(t)
	low, high := c.Probability(-1), c.Probability(1)
	if !(0.1 < low && low < 0.5 && 0.5 < high && high < 0.9) {
		t.Errorf("%v and %v beside the gap", low, high)
	}
	if _, err := FitLogistic([]float64{1, 2}, []float64{1, 1}, nil); !errors.Is(err,
		ErrOneClass) {
		t.Errorf("one class: %v", err)
	}
	if p := CrossFit([]float64{1, 2, 3, 4}, []float64{-1, -1, 1, -1}, nil); p != nil {
		t.Errorf("a class of one: %v", p)
	}
}

// TestCrossFit: the label of a row does not move its own probability, which moves those of other rows.
func TestCrossFit(t *testing.T) {
	field, label := draw(100, 6, sigmoid)
	before := CrossFit(field, label, nil)
	label[7] = -label[7]
	after, moved := CrossFit(field, label, nil), 0
	for i, p := range after {
		if p != before[i] {
			moved++
		}
	}
	if after[7] != before[7] || moved < 50 || !(slices.Min(after) > 0) {
		t.Errorf("%v is %v with the other label; %d rows moved", before[7], after[7], moved)
	}
}

// TestCrossFitOfFewRows: over many tables of 50 rows the cross-fitted log loss and the share of wrong
// labels are those that the curve of all rows has on new rows, within three standard errors and 0.01 for
// the rows that each curve lacks, also where fields tell nothing.
func TestCrossFitOfFewRows(t *testing.T) {
	const tables, rows = 400, 50
	fresh, _ := draw(1000, 1, sigmoid)
	for _, slope := range []float64{0, 1.5} {
		p := func(f float64) float64 { return sigmoid(slope * f) }
		var logs, wrong []float64 // cross-fitted less true
		for k := range uint64(tables) {
			field, label := draw(rows, 100+k, p)
			curve := testutil.Must(FitLogistic(field, label, nil))(t)
			left := CrossFit(field, label, nil)
			logLoss, _ := Judge(left, label, nil)
			share := 0.0
			for i, q := range left {
				if q >= 0.5 != (label[i] > 0) {
					share += 1. / rows
				}
			}
			for _, f := range fresh {
				positive, q := p(f), curve.Probability(f)
				logLoss += (positive*math.Log(q) + (1-positive)*math.Log(1-q)) / float64(len(fresh))
				if q >= 0.5 {
					positive = 1 - positive
				}
				share -= positive / float64(len(fresh))
			}
			logs, wrong = append(logs, logLoss), append(wrong, share)
		}
		for name, off := range map[string][]float64{"log loss": logs, "wrong": wrong} {
			mean, sd := stat.MeanStdDev(off, nil)
			if se := sd / math.Sqrt(tables); !(math.Abs(mean) <= 3*se+0.01) {
				t.Errorf("slope %g: cross-fitted %s off by %.4f +- %.4f", slope, name, mean, se)
			}
		}
	}
}
