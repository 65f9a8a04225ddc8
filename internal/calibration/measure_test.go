package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
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
				if of := calibration.WeightOf(w, i) * calibration.WeightOf(w, j); y[i] > y[j] {
					ordered, pairs = ordered+of*(indicator(f[i] > f[j])+0.5*indicator(f[i] == f[j])), pairs+of
				}
			}
		}
		x, z, area := calibration.ROC(f, y, w)
		if math.Abs(area-ordered/pairs)+x[0]+1-z[len(z)-1] > 1e-12 {
			t.Errorf("area %v, want %v; curve from %v to %v", area, ordered/pairs, x[0], z[len(z)-1])
		}
		p := calibration.CrossFit(f, y, w)
		logLoss, _ := calibration.Judge(p, y, w)
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
			"log-loss": logLoss, "balanced": calibration.Balanced(off, y, w),
			"cost:1,4": stat.Mean(cost, w)} {
			m := testutil.Must(calibration.ParseMeasure(text))(t)
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
		if m, err := calibration.ParseMeasure(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
	few := []float64{1, 1, -1}
	if curve, _, _ := calibration.ROC(few[:2], few[:2], nil); curve != nil {
		t.Error("a curve of one class")
	}
	if each, _ := (calibration.Measure{Name: calibration.ByAUC}).Losses(few, few, nil); each != nil {
		t.Error("a class of one row is measured")
	}
}

// TestMeasureSE: the mean standard error of fixed fields is the standard deviation of the measure over tables
// of fixed sizes of the classes, within 10%: over 400 tables that has an error of 3.5%.
func TestMeasureSE(t *testing.T) {
	const n, positive, tables = 60, 20, 400
	for _, text := range []string{"auc", "balanced"} {
		m := testutil.Must(calibration.ParseMeasure(text))(t)
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
