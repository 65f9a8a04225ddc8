package answer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// TestPValue: for every kind of target and every design the p-value is by cross-validations, one after the
// other, of the permuted targets.
func TestPValue(t *testing.T) {
	const n, permutations = 36, 9
	three := threeClasses(t).Head(n)
	labels, targets := *three, *three
	labels.Columns = []dataset.Column{{Y: make([]float64, n), Levels: []string{"low", "high"}, Texts: true}}
	targets.Columns = []dataset.Column{{Name: "a", Y: make([]float64, n)}, {Name: "b", Y: make([]float64, n)}}
	for i, y := range three.Targets(0) {
		labels.Columns[0].Y[i] = math.Min(1, y)
		targets.Columns[0].Y[i], targets.Columns[1].Y[i] = three.X.At(i, 0)+float64(i%5), 9*three.X.At(i, 3)
	}
	numbers := targets
	numbers.Columns = targets.Columns[:1]
	pairs, stratum, unequal, weights := make([]int, n), make([]int, n), make([]int, n), make([]float64, n)
	for i := range n {
		pairs[i], stratum[i], unequal[i], weights[i] = i/2, i%2, int(math.Sqrt(2*float64(i))), 1+float64(i%3)
	}
	square, hinge := loss.Square{Noise: 2}, loss.Hinge{C: 2}
	for what, spec := range map[string]model.Spec{"numbers": model.NewSpec(&numbers, square),
		"labels": model.NewSpec(&labels, hinge), "classes": model.NewSpec(three, hinge),
		"pairs": model.NewSpec(three, hinge), "targets": model.NewSpec(&targets, square)} {
		spec.Pairs = what == "pairs"
		for name, design := range map[string]resample.Design{"rows": {}, "groups": {Group: pairs},
			"unequal groups": {Group: unequal}, "rows of weights, twice": {},
			"strata": {Stratum: stratum}, "blocks": {Block: 6}, "rows, standardised without each fold": {}} {
			if testing.Short() && (len(what)+len(name)/2)%2 > 0 {
				continue // the run without -short has it
			}
			design.N = n
			v := answer.Validation{Design: design, Folds: 4, Permutations: permutations}
			if of := *spec.Set; strings.Contains(name, "weights") {
				of.Weights, v.Repeats = weights, 2
				spec.Set = &of
			}
			if strings.Contains(name, "standardised") {
				v.Choose = func(_ context.Context, set *dataset.Set) (model.Spec, error) {
					other := spec
					other.Set = set
					return other, nil
				}
			}
			a := testutil.Must(testutil.Must(answer.New(t.Context(), spec, nil))(t).CrossValidate(t.Context(),
				v))(t)
			v.Permutations = 0
			asGood := 1.0
			for k := range permutations {
				moved := spec
				set := *spec.Set
				moved.Set, set.Columns = &set, slices.Clone(set.Columns)
				for c := range set.Columns {
					column := &set.Columns[c]
					column.Y = (&resample.Permuted{Y: column.Y, Group: design.Group, Within: design.Stratum,
						Labels: column.Levels != nil}).Targets(k)
				}
				b := testutil.Must(testutil.Must(answer.New(t.Context(), moved, nil))(t).CrossValidate(
					t.Context(), v))(t)
				if b.Error <= a.Error*(1+1e-9) {
					asGood++
				}
			}
			if want := asGood / (1 + permutations); math.Abs(float64(*a.PValue)-want) > 1e-12 {
				t.Errorf("%s, %s: p-value %v, one by one %v", what, name, *a.PValue, want)
			}
		}
	}
}

// TestPermutedChoices: where the model is chosen on the targets, and again for the targets of every
// permutation, one of twenty p-values of numbers or labels that depend on nothing is at most 1/20: at most 8%
// of tables, and 2% or more. The chosen models' errors on the permuted targets would make it one of five.
// Groups whose inputs and levels are alike change places as a whole.
func TestPermutedChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	const n = 30
	ctx := t.Context()
	square := model.Spec{Loss: loss.Square{Noise: 1}, NormalizeTarget: true}
	for name, spec := range map[string]model.Spec{"numbers": square, "groups": square,
		"labels": {Loss: loss.Hinge{C: 1}, Bias: true}} {
		rng, hits, tables := rand.New(rand.NewPCG(77, 7)), 0.0, 200
		if name == "labels" { // whose fits have no closed form
			tables = 100
		}
		for k := range tables {
			x, y, groups := mat.NewDense(n, 2, nil), make([]float64, n), []int(nil)
			first, second, effect := 0.0, 0.0, 0.0
			for i := range y {
				if y[i] = rng.NormFloat64(); name == "groups" {
					if groups = append(groups, i/3); i%3 == 0 {
						first, second, effect = 3*rng.NormFloat64(), 3*rng.NormFloat64(), 3*rng.NormFloat64()
					}
				} else if name == "labels" {
					y[i] = float64(i % 2)
				}
				x.SetRow(i, []float64{first + rng.NormFloat64(), second + rng.NormFloat64()})
				y[i] += effect
			}
			set := testutil.Must(dataset.New(x, y))(t)
			if set.Groups = groups; name == "labels" {
				if err := set.Classify(""); err != nil {
					t.Fatal(err)
				}
			}
			of := spec
			of.Set, of.Kernel, of.Standardize = set, kernel.Spec{Kind: kernel.RBF}, true
			if of.Chosen = []string{"gamma", "noise"}; name == "labels" {
				of.Chosen = []string{"gamma", "C"}
			}
			v := answer.Validation{Design: resample.Design{N: n, Group: groups}, Folds: 5, Permutations: 19,
				Seed: uint64(k)}
			j := testutil.Must(answer.New(ctx, of, nil))(t)
			a := testutil.Must(j.CrossValidate(ctx, v))(t)
			if *a.PValue <= 0.05 {
				hits++
			}
			if k == 0 && !strings.Contains(a.NullHypothesis, "chosen again without each fold among 2") {
				t.Errorf("%s: %s", name, a.NullHypothesis)
			}
		}
		if share := hits / float64(tables); share < 0.02 || share > 0.08 {
			t.Errorf("%s: a share of %v of p-values is at most 0.05", name, share)
		}
	}
}
