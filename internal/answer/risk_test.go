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
	"bootbench/train"
	"bootbench/train/svm"
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
		if err := set.Classify(""); err != nil {
			t.Fatal(err)
		}
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
// rows.
func TestRisksOfGivenModels(t *testing.T) {
	for name, c := range map[string]struct {
		n, levels, targets       int
		loss                     loss.Loss
		weighted, groups, paired bool
	}{
		"numbers": {n: 40, loss: loss.Square{Noise: 0.5}},
		"labels":  {n: 40, levels: 2, loss: loss.Hinge{C: 1}},
		"classes": {n: 60, levels: 3, loss: loss.Hinge{C: 1}},
		"pairs":   {n: 60, levels: 3, loss: loss.Hinge{C: 1}, paired: true},
		"targets": {n: 40, targets: 2, loss: loss.Square{Noise: 0.5}},
		"weights": {n: 40, loss: loss.Square{Noise: 0.5}, weighted: true},
		"groups":  {n: 60, loss: loss.EpsInsensitive{C: 1, Epsilon: 0.1}, groups: true},
	} {
		t.Run(name, func(t *testing.T) {
			set := tableOf(t, c.n, c.levels, c.targets, 3)
			for i := range c.n {
				if c.weighted {
					set.Weights = append(set.Weights, 0.5+float64(i%3))
				}
				if c.groups {
					set.Groups = append(set.Groups, i/4)
				}
			}
			spec := model.NewSpec(set, c.loss)
			spec.Pairs = c.paired
			s := testutil.Must(New(t.Context(), spec, nil))(t)
			found, v, err := s.risks(t.Context(), 4)
			if err != nil {
				t.Fatal(err)
			}
			a := testutil.Must(s.CrossValidate(t.Context(), v))(t)
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
				if own := float64(se); x.se < own || c.groups && x.se != own {
					t.Errorf("standard error %d: %v, over rows %v", k, x.se, own)
				}
			}
		})
	}
}

// TestBestElsewhere: a fold is judged by the candidate that is best on the rows outside it, the first of
// equals, and with weights.
func TestBestElsewhere(t *testing.T) {
	one, other := &candidate{byRow: []float64{0, 5, 3, 3}, sum: 11}, &candidate{byRow: []float64{9, 1, 1, 3},
		sum: 14}
	all := []*candidate{one, other}
	for name, c := range map[string]struct {
		without [][]int
		want    int
	}{"all rows": {nil, 0}, "without row 0": {[][]int{{0}}, 1},
		"without rows 0, 1 and 2": {[][]int{{0, 1}, {2}}, 0}} {
		if got := best(all, nil, c.without...); got != c.want {
			t.Errorf("%s: candidate %d, want %d", name, got, c.want)
		}
	}
	heavy := []float64{1, 9, 1, 1}
	one.sum, other.sum = 0+45+3+3, 9+9+1+3
	if got := best(all, heavy, []int{1}); got != 0 {
		t.Errorf("without the heavy row: candidate %d", got)
	}
}

// TestCandidatesAlong: candidates that differ only in C share a kernel matrix, and their fits along the path
// have the losses of single fits: fields differ by the tolerance of the trainer, which changes at most one
// label.
func TestCandidatesAlong(t *testing.T) {
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
	s := testutil.Must(New(t.Context(), of[0], nil))(t)
	v := riskValidation(set, 1)
	v.Repeats = 1
	folds, _, err := partitions(&v, s)
	testutil.Check(t, err)
	var path, alone []*candidate
	for _, k := range []int{4, 5, 3} {
		path = append(path, testutil.Must(s.candidate(t.Context(), of[k], path))(t))
		alone = append(alone, testutil.Must(s.candidate(t.Context(), of[k], nil))(t))
	}
	testutil.Check(t, judgeAlong(t.Context(), path, &v, folds))
	for k, c := range alone {
		testutil.Check(t, c.judgeOn(t.Context(), &v, folds))
		if math.Abs(c.sum-path[k].sum) > 1 || c.sum == 0 {
			t.Errorf("C %v: %v errors along the path, %v alone", c.Model.Loss, path[k].sum, c.sum)
		}
		if path[k].Model.Gram() != path[0].Model.Gram() {
			t.Error("a candidate has a kernel matrix of its own")
		}
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
		s := testutil.Must(New(t.Context(), model.NewSpec(set, loss.Hinge{C: 1}), nil))(t)
		found, _, err := s.risks(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		sum += found[0].error / tables
	}
	if math.Abs(sum-0.5) > 0.03 {
		t.Errorf("coins err in %.3f", sum)
	}
}

// TestNestedByHand: losses without two folds are those of the candidate that is best on the other rows, built
// and trained on these alone; the standard error is the one of Bates, Hastie and Tibshirani.
func TestNestedByHand(t *testing.T) {
	set := tableOf(t, 210, 0, 1, 7) // more than are chosen on again
	spec := model.NewSpec(set, loss.Square{Noise: 0.5})
	spec.Kernel.Gamma, spec.Kernel.Amplitude, spec.Chosen = 0.4, 2, []string{"noise"}
	spec.Standardize, spec.NormalizeTarget = false, false // by all rows
	s := testutil.Must(New(t.Context(), spec, nil))(t)
	v := tenFolds(set)
	v.Repeats = 2
	folds, each, err := partitions(&v, s)
	if err != nil {
		t.Fatal(err)
	}
	all := testutil.Must(s.candidates(t.Context(), &v, folds, each))(t)
	if len(all) < 3 {
		t.Fatalf("%d candidates", len(all))
	}
	lossesOf := func(c *candidate, without, at []int) (losses []float64) {
		var rows []int
		for i := range set.N() {
			if !slices.Contains(without, i) {
				rows = append(rows, i)
			}
		}
		one := c.Model.Spec
		one.Set = set.Subset(rows)
		m := testutil.Must(model.Build(t.Context(), one))(t)
		f := testutil.Must(testutil.Must(Train(t.Context(), m))(t).Predict(set))(t)
		for _, i := range at {
			losses = append(losses, loss.SquareTest{}.Value(f[i], set.Targets(0)[i]))
		}
		return losses
	}
	inner := testutil.Must(s.pairs(t.Context(), &v, all[1:], folds, each))(t)
	var square, variance float64
	for j, rows := range folds {
		pick := all[1+best(all[1:], nil, rows)]
		out := pick.outer[0][j]
		var in, weight float64
		for l := range each {
			if other := j - j%each + l; other != j {
				c := all[1+best(all[1:], nil, rows, folds[other])]
				want := lossesOf(c, slices.Concat(rows, folds[other]), folds[other])
				if got := inner[0][j][l]; floats.Distance(got, want, math.Inf(1)) > 1e-8 {
					t.Fatalf("without folds %d and %d: %v, trained alone %v", j, other, got, want)
				}
				in += stat.Mean(inner[0][j][l], nil) * float64(len(folds[other]))
				weight += float64(len(folds[other]))
			}
		}
		square += math.Pow(in/weight-stat.Mean(out, nil), 2) / float64(len(folds))
		variance += stat.Variance(out, nil) / float64(len(out)*len(folds))
	}
	want := math.Sqrt(0.9 * math.Max(0, square-variance))
	var nested []calibration.Nested
	for first := 0; first < len(folds); first += each {
		var outer [][]float64
		for j := first; j < first+each; j++ {
			outer = append(outer, all[1+best(all[1:], nil, folds[j])].outer[0][j])
		}
		nested = append(nested, nestedOf(set, folds[first:][:each], outer, inner[0][first:][:each]))
	}
	if got, _ := calibration.NestedError(nested, want/2); math.Abs(got-want) > 1e-12 {
		t.Errorf("standard error %v, by hand %v", got, want)
	}
}

// TestLeaveOutTogether: examples that are left out in blocks have the predictions of trainings one after the
// other from the solution of all, in units of their spread within the tolerance of blocks.
func TestLeaveOutTogether(t *testing.T) {
	for _, training := range []loss.Loss{loss.Hinge{C: 1}, loss.Hinge{C: 10}} {
		spec := model.NewSpec(testutil.Must(dataset.Load("sonar", dataset.Options{}))(t), training)
		s := testutil.Must(New(t.Context(), spec, loss.ZeroOne{}))(t)
		p, set := s.part(0), s.Model.Set
		list := []int{0, 7, 50, 99, 150, 207}
		f := p.leaveOutTogether(t.Context(), list, math.MaxInt32)
		if few := p.leaveOutTogether(t.Context(), list, 1); few != nil {
			t.Error("blocks for six examples of one free support vector")
		}
		k := testutil.Must(s.Model.Dense())(t)
		trainer := svm.NewTrainer(testutil.Must(svm.NewRows(k))(t))
		box := slices.Repeat([]float64{training.(loss.Hinge).C}, set.N())
		testutil.Must(trainer.Train(train.Set{Y: s.Model.Y, Site: s.Model.Site, Weight: box,
			Bias: s.Model.Bias},
			train.Settings{Tolerance: 1e-6}))(t)
		for at, i := range list {
			left := testutil.Must(trainer.LeaveOut(i))(t)
			if math.Abs(f[at]-left.F) > 5e-3 {
				t.Errorf("%s: without example %d %.5f, one after the other %.5f", training.Name(), i, f[at],
					left.F)
			}
		}
	}
}
