package answer

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
)

// TestColumns: the difference without a column is the difference of the errors of models that are trained one
// by one without each fold, on data that have the column and on data that lack it; a column whose values are
// the same in all rows changes nothing. The first is the one with the largest difference.
func TestColumns(t *testing.T) {
	const n, d = 30, 3
	rng := rand.New(rand.NewPCG(4, 2))
	x, y, label := linalg.NewMatrix(n, d), make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range d - 1 {
			x.Row(i)[j] = rng.NormFloat64()
		}
		y[i] = 2*x.Row(i)[1] + rng.NormFloat64()/2
		label[i] = math.Copysign(1, y[i])
	}
	for _, c := range []struct {
		y    []float64
		loss loss.Loss
	}{{y, loss.Square{Noise: 0.3}}, {label, loss.Hinge{C: 2}}} {
		set := testutil.Must(dataset.New(x, c.y))(t)
		spec := model.NewSpec(set, c.loss)
		spec.Standardize, spec.NormalizeTarget, spec.Kernel.Gamma = false, false, 0.2
		s := testutil.Must(New(t.Context(), spec, nil))(t)
		v := riskValidation(set, 5)
		v.Repeats = columnPartitions
		left := testutil.Must(s.folded(v))(t)
		errorOn := func(set *dataset.Set) (sum float64) {
			for _, rows := range left.rows {
				one := s.Model.Spec
				one.Set = without(set, rows)
				f := testutil.Must(predictionsOf(t.Context(), s, one, set.Subset(rows)))(t)[0]
				for k, i := range rows {
					y := set.Columns[0].Y[i]
					if c.loss.Name() == "hinge" {
						y = 2*y - 1
					}
					sum += s.Test.Value(f[0][k], y) * float64(left.each) / float64(len(left.rows)*n)
				}
			}
			return sum
		}
		r := testutil.Must(s.Columns(t.Context(), 5, 0.95))(t)
		if len(r.Columns) != d || r.Columns[0].Column != "x2" {
			t.Fatalf("%s: columns %+v", c.loss.Name(), r.Columns)
		}
		for _, one := range r.Columns {
			column := set.FeatureColumns()[one.Column[1]-'1']
			want := errorOn(set.Without(column)) - errorOn(set)
			if got := float64(one.Without.Value); math.Abs(got-want) > 1e-5 {
				t.Errorf("%s without %s: %v, trained one by one %v", c.loss.Name(), one.Column, got, want)
			}
			if constant := one.Column == "x3"; constant != (one.Without.StandardError == 0) ||
				constant && (one.Without.Value != 0 || one.Permuted.Value != 0) {
				t.Errorf("%s without %s: %+v, permuted %+v", c.loss.Name(), one.Column, one.Without,
					one.Permuted)
			}
		}
	}
}

// TestByMeasure: the differences without a column, and between two models, are those of the measures that
// either model has alone.
func TestByMeasure(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(8, 2))
	x, label := linalg.NewMatrix(n, 2), make([]float64, n)
	for i := range n {
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64(), rng.NormFloat64()
		label[i] = math.Copysign(1, x.Row(i)[0]+rng.NormFloat64()/2)
	}
	for _, name := range []string{"auc", "cost:1,3"} {
		measured := func(set *dataset.Set, c float64) (s *Study, value float64) {
			spec := model.NewSpec(set, loss.Hinge{C: c})
			spec.Kernel.Gamma, spec.Measure = 0.2, testutil.Must(calibration.ParseMeasure(name))(t)
			s = testutil.Must(New(t.Context(), spec, nil))(t)
			m := testutil.Must(s.Measured(t.Context(), 3, 0.95))(t)
			if name == "auc" {
				return s, 1 - float64(m.Value)
			}
			return s, float64(m.Value)
		}
		set := testutil.Must(dataset.New(x, label))(t)
		one, own := measured(set, 1)
		r := testutil.Must(one.Columns(t.Context(), 3, 0.95))(t)
		for _, c := range r.Columns {
			_, without := measured(set.Without(set.FeatureColumns()[c.Column[1]-'1']), 1)
			if got := float64(c.Without.Value); math.Abs(got-(without-own)) > 1e-12 {
				t.Errorf("%s without %s: %v, alone %v", name, c.Column, got, without-own)
			}
		}
		other, its := measured(set, 0.01)
		d, _, err := CompareTrained(t.Context(), [2]*Study{one, other}, 3, 0.95)
		if err != nil || math.Abs(float64(d.Value)-(own-its)) > 1e-12 || !(d.StandardError > 0) {
			t.Errorf("%s: two models differ by %+v, alone by %v (%v)", name, d, own-its, err)
		}
	}
}

// TestColumnsOfChosenScales: without each fold models have the length scales that the other rows choose, and
// the difference is the one of these models.
func TestColumnsOfChosenScales(t *testing.T) {
	if testing.Short() {
		t.Skip("some twenty searches")
	}
	const n = 40
	rng := rand.New(rand.NewPCG(1, 9))
	x, y := linalg.NewMatrix(n, 3), make([]float64, n)
	for i := range n {
		for j := range 3 {
			x.Row(i)[j] = rng.NormFloat64()
		}
		y[i] = math.Sin(x.Row(i)[0]) + rng.NormFloat64()/5
	}
	spec := model.NewSpec(testutil.Must(dataset.New(x, y))(t), loss.Square{Noise: 0.05})
	spec.Kernel.LengthScale, spec.Chosen = []float64{1, 2, 3}, []string{"length-scale", "noise"}
	s := testutil.Must(New(t.Context(), spec, nil))(t)
	j := testutil.Must(s.columnJudge(t.Context(), 3, 0.95))(t)
	if len(s.again.specs) != 10 {
		t.Fatalf("%d choices without a fold", len(s.again.specs))
	}
	sum := 0.0
	for r, rows := range j.folded.rows[:10] {
		chosen, _, err := s.afresh(t.Context(), without(s.Model.Set, rows))
		testutil.Check(t, err)
		for k, l := range chosen.Kernel.LengthScale {
			if scales := s.again.specs[r].Kernel.LengthScale; l != scales[k] {
				t.Fatalf("fold %d: scales %v, chosen again %v", r, scales,
					chosen.Kernel.LengthScale)
			}
		}
		chosen.Set = s.Model.Set
		m := testutil.Must(New(t.Context(), chosen, nil))(t)
		left := testutil.Must(m.leaveOut(t.Context(), &j.folded.v, [][]int{rows}))(t)
		sum += floats.Sum(left[0].losses[0]) / n
	}
	if got := j.own[0].afresh.error; math.Abs(got-sum) > 1e-9 {
		t.Errorf("error %v, by each choice %v", got, sum)
	}
	none := j.difference(j.own[:1], j.own[0])
	if none.Value != 0 || none.StandardError != 0 {
		t.Errorf("a model less itself: %+v", none)
	}
}
