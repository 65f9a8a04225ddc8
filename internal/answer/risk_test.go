package answer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
)

// tableOf is a table of n rows in the plane: numbers, classes or several targets.
func tableOf(t *testing.T, n, levels, targets int, seed uint64) *dataset.Set {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	x, y := linalg.NewMatrix(n, 2), make([]float64, n)
	for i := range n {
		x.Row(i)[0], x.Row(i)[1] = r.NormFloat64(), r.NormFloat64()
		if y[i] = x.Row(i)[0] + 0.6*r.NormFloat64(); levels > 0 {
			y[i] = math.Max(0, math.Min(float64(levels-1), math.Round(y[i]+float64(levels-1)/2)))
		}
	}
	set := testutil.Must(dataset.New(x, y))(t)
	if levels > 0 {
		testutil.Check(t, set.Classify(""))
	}
	for k := range targets - 1 {
		more := slices.Clone(y)
		for i := range more {
			more[i] = 3*more[i] + float64(k+1)*r.NormFloat64()
		}
		set.Columns = append(set.Columns, dataset.Column{Name: "more", Y: more})
	}
	return set
}

// TestRisksOfGivenModels: the error of a model that was given is the one by cross-validation with the same
// partitions, for every kind of target; its standard error is the one over groups, or at least the one over
// rows; only two groups have no interval.
func TestRisksOfGivenModels(t *testing.T) {
	for name, c := range map[string]struct {
		n, levels, targets int
		loss               loss.Loss
		weighted, paired   bool
		groups             int // rows of each
	}{
		"numbers": {n: 40, loss: loss.Square{Noise: 0.5}},
		"labels":  {n: 40, levels: 2, loss: loss.Hinge{C: 1}},
		"classes": {n: 60, levels: 3, loss: loss.Hinge{C: 1}},
		"pairs":   {n: 60, levels: 3, loss: loss.Hinge{C: 1}, paired: true},
		"targets": {n: 40, targets: 2, loss: loss.Square{Noise: 0.5}},
		"weights": {n: 40, loss: loss.Square{Noise: 0.5}, weighted: true},
		"groups":  {n: 60, loss: loss.EpsInsensitive{C: 1, Epsilon: 0.1}, groups: 4},
		"two":     {n: 60, loss: loss.Square{Noise: 0.5}, groups: 30},
	} {
		t.Run(name, func(t *testing.T) {
			set := tableOf(t, c.n, c.levels, c.targets, 3)
			for i := range c.n {
				if c.weighted {
					set.Weights = append(set.Weights, 0.5+float64(i%3))
				}
				if c.groups > 0 {
					set.Groups = append(set.Groups, i/c.groups)
				}
			}
			spec := model.NewSpec(set, c.loss)
			spec.Pairs = c.paired
			s := ask(t, spec)
			found := testutil.Must(s.risks(t.Context(), 4))(t)
			a := testutil.Must(s.CrossValidate(t.Context(), found[0].of.v))(t)
			for k, x := range found {
				of := a
				if k > 0 {
					of = a.Targets[a.Names[k-1]]
				}
				if want := float64(of.Error); math.Abs(x.error-want) > 1e-9*want ||
					math.Abs(x.plain-x.error) > 1e-12*want {
					t.Errorf("error %d: %v, %v without the choice, by cross-validation %v", k, x.error,
						x.plain, want)
				}
				se, _ := calibration.StandardError(x.each, set.Weights, set.Groups)
				q := x.quoteOf(s.Test.Name(), 0.95)
				if none := name == "two"; none != (q.Lower == nil) || none != (q.Upper == nil) {
					t.Errorf("interval %d from %v to %v", k, q.Lower, q.Upper)
				}
				if own := float64(se); x.se < own {
					t.Errorf("standard error %d: %v, over rows %v", k, x.se, own)
				}
			}
		})
	}
}

// TestDecide: a part has the other choice where that errs less on the rows of the other parts, and not where
// it errs less on its own.
func TestDecide(t *testing.T) {
	a := &chosenAgain{specs: make([]model.Spec, 4), foldOf: []int{0, 0, 1, 2, 3},
		chosen: leftOut{losses: [][]float64{{1, 1, 9, 5, 7}},
			fields: [][]float64{{1, 2, 3, 4, 5}}}}
	others := []*model.Spec{{Pairs: true}, {Pairs: true}, {Pairs: true}, nil}
	a.decide(others, leftOut{losses: [][]float64{{2, 3, 4, 5.5, 0}},
		fields: [][]float64{{-1, -2, -3, -4, -5}}}, nil)
	if got := a.chosen.losses[0]; !slices.Equal(got, []float64{2, 3, 9, 5.5, 7}) {
		t.Errorf("losses %v", got)
	}
	if got := a.chosen.fields[0]; !slices.Equal(got, []float64{-1, -2, 3, -4, 5}) {
		t.Errorf("fields %v", got)
	}
	for part, want := range []bool{true, false, true, false} { // gains of the others: 4.5, -3.5, 2
		if got := a.specs[part].Pairs; got != want {
			t.Errorf("part %d: the other choice is %v", part, got)
		}
	}
}

// TestBestOf: candidates that differ only in C share a kernel matrix, and their fits along the path have the
// errors of single fits: fields differ by the tolerance of the trainer, which changes at most one label.
func TestBestOf(t *testing.T) {
	set, of := tableOf(t, 120, 2, 1, 3), []model.Spec(nil)
	for _, gamma := range []float64{0.3, 2} {
		for _, c := range []float64{30, 0.5, 4} {
			spec := model.NewSpec(set, loss.Hinge{C: c})
			spec.Kernel.Gamma = gamma
			of = append(of, spec)
		}
	}
	of[2].Bias = false
	if got := Paths(of); !slices.EqualFunc(got, [][]int{{1, 0}, {2}, {4, 5, 3}}, slices.Equal) {
		t.Errorf("paths %v", got)
	}
	s := ask(t, of[0])
	s.Candidates = of
	v := tenFolds(set)
	cells, least, at := s.cells(t.Context(), set), math.Inf(1), 0
	for _, number := range []int{4, 5, 3} {
		along := float64(testutil.Must(cells.CrossValidate(t.Context(), number, v))(t).Error)
		one := ask(t, of[number])
		alone := float64(testutil.Must(one.CrossValidate(t.Context(), v))(t).Error)
		if math.Abs(along-alone) > 1.01/120 {
			t.Errorf("candidate %d: error %v along the path, alone %v", number, along, alone)
		}
	}
	v.Folds = 5
	for k := range of {
		one := ask(t, of[k])
		if e := float64(testutil.Must(one.CrossValidate(t.Context(), v))(t).Error); e < least-1e-9 {
			least, at = e, k
		}
	}
	if best := testutil.Must(s.bestOf(t.Context(), set))(t); best.Loss != of[at].Loss ||
		best.Kernel.Gamma != of[at].Kernel.Gamma {
		t.Errorf("%v, gamma %v is the best; of single fits %v, %v", best.Loss, best.Kernel.Gamma, of[at].Loss,
			of[at].Kernel.Gamma)
	}
}

// TestCoins: labels that depend on nothing err in half of the rows. Folds within classes say 0.45.
func TestCoins(t *testing.T) {
	sum := 0.0
	const tables, n = 30, 30
	for table := range uint64(tables) {
		set, r := tableOf(t, n, 2, 1, table), rand.New(rand.NewPCG(table, 9))
		for i := range set.Columns[0].Y {
			set.Columns[0].Y[i] = float64(r.IntN(2))
		}
		s := ask(t, model.NewSpec(set, loss.Hinge{C: 1}))
		sum += testutil.Must(s.risks(t.Context(), table))(t)[0].error / tables
	}
	if math.Abs(sum-0.5) > 0.03 {
		t.Errorf("coins err in %.3f", sum)
	}
}

// TestNestedByHand: losses without two folds are the losses of the model built and trained on the other rows
// alone; the standard error is the one of Bates, Hastie and Tibshirani.
func TestNestedByHand(t *testing.T) {
	set := tableOf(t, 60, 0, 1, 7)
	spec := model.NewSpec(set, loss.Square{Noise: 0.5})
	spec.Kernel.Gamma, spec.Kernel.Amplitude = 0.4, 2
	spec.Standardize, spec.NormalizeTarget = false, false // by all rows
	s := ask(t, spec)
	v := tenFolds(set)
	v.Repeats = 2
	left := testutil.Must(s.folded(v))(t)
	folds, each := left.rows, left.each
	lossesOf := func(rows, at []int) (losses []float64) {
		one := spec
		one.Set = without(set, rows)
		m := testutil.Must(model.Build(t.Context(), one))(t)
		f := testutil.Must(testutil.Must(Train(t.Context(), m))(t).Predict(set))(t)
		for _, i := range at {
			losses = append(losses, loss.SquareTest{}.Value(f[i], set.Targets(0)[i]))
		}
		return losses
	}
	inner := testutil.Must(s.pairs(t.Context(), left))(t)[0]
	outer := zeros(v.Repeats, 60)
	var square, variance float64
	for j, rows := range folds {
		out := lossesOf(rows, rows)
		for k, i := range rows {
			outer[j/each][i] = out[k]
		}
		var in, weight float64
		for l := range each {
			if other := j - j%each + l; other != j {
				want := lossesOf(slices.Concat(rows, folds[other]), folds[other])
				if got := at(inner[j], folds[other]); floats.Distance(got, want, math.Inf(1)) > 1e-8 {
					t.Fatalf("without folds %d and %d: %v, trained alone %v", j, other, got, want)
				}
				in += floats.Sum(want)
				weight += float64(len(want))
			}
		}
		square += math.Pow(in/weight-stat.Mean(out, nil), 2) / float64(len(folds))
		variance += stat.Variance(out, nil) / float64(len(out)*len(folds))
	}
	want := math.Sqrt(0.9 * math.Max(0, square-variance))
	var nested []calibration.Nested
	for k, of := range left.partitions() {
		nested = append(nested, *nestedOf(set, of, outer[k], inner[k*each:], 0))
	}
	if got, _ := calibration.NestedError(nested, want/2); math.Abs(got-want) > 1e-12 {
		t.Errorf("standard error %v, by hand %v", got, want)
	}
}

// TestChooseAgain: models that are chosen without a part of the rows are judged on its folds by fits without
// each fold, as if built alone.
func TestChooseAgain(t *testing.T) {
	set := tableOf(t, 400, 0, 1, 7)
	spec := model.NewSpec(set, loss.Square{Noise: 0.5})
	spec.Kernel.Gamma, spec.Kernel.Amplitude, spec.Chosen = 0.4, 2, []string{"noise"}
	spec.Standardize, spec.NormalizeTarget = false, false
	s := ask(t, spec)
	a := testutil.Must(s.chooseAgain(t.Context(), 5))(t)
	if len(a.specs) != 4 {
		t.Fatalf("%d choices of 400 rows", len(a.specs))
	}
	left := testutil.Must(s.folded(riskValidation(set, 5)))(t)
	for _, rows := range left.rows[:4] {
		part := a.foldOf[rows[0]]
		var own []int
		for i, of := range a.foldOf {
			if of == part {
				own = append(own, i)
			}
		}
		alone, _, err := s.afresh(t.Context(), without(set, own))
		testutil.Check(t, err)
		if alone.Set = without(set, rows); alone.Loss != a.specs[part].Loss {
			t.Errorf("without part %d %v is chosen, alone %v", part, a.specs[part].Loss, alone.Loss)
		}
		m := testutil.Must(model.Build(t.Context(), alone))(t)
		f := testutil.Must(testutil.Must(Train(t.Context(), m))(t).Predict(set))(t)
		for _, i := range rows {
			if of := a.foldOf[i]; of != part || math.Abs(a.chosen.fields[0][i]-f[i]) > 1e-8 {
				t.Fatalf("row %d of part %d: %v, alone %v of part %d", i, of, a.chosen.fields[0][i], f[i],
					part)
			}
		}
	}
}

// TestMeasuredChoice: a choice that only changes the scale of the fields, as a large noise does, changes no
// measure: the rows of a coarse fold are compared by fits of one specification. 1e6 noise variances leave
// relative differences of 1e-6.
func TestMeasuredChoice(t *testing.T) {
	set := tableOf(t, 60, 2, 1, 7)
	spec := model.NewSpec(set, loss.Square{Noise: 1e8})
	spec.Bias, spec.Measure = false, calibration.Measure{Name: calibration.ByLogLoss}
	s := ask(t, spec)
	left := testutil.Must(s.folded(riskValidation(set, 5)))(t)
	var own, mixed leftOut
	testutil.Check(t, s.judgeRows(t.Context(), &left.v, left.rows, left.rows, &own))
	coarse := left.coarse(2)
	for k, noise := range []float64{1e6, 1e8} {
		of := spec
		of.Loss = loss.Square{Noise: noise}
		testutil.Check(t, s.judgeSpec(t.Context(), &left.v, of, coarse, k, &mixed))
	}
	if first := left.rows[0][0]; !(mixed.fields[0][first]/own.fields[0][first] > 50) {
		t.Fatalf("fields %v and %v have the same scale", mixed.fields[0][first], own.fields[0][first])
	}
	if !floats.EqualApprox(mixed.measured[0], own.measured[0], 1e-4) {
		t.Errorf("log losses %v, of one noise %v", mixed.measured[0], own.measured[0])
	}
}

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
		s := ask(t, spec)
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
			s = ask(t, spec)
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
	s := ask(t, spec)
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
		m := ask(t, chosen)
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
