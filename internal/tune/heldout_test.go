package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// TestHeldOut sets the models that are chosen by each objective beside the best of a grid of 42 by retrained
// 5-fold cross-validation, by the errors of all on held-out rows, over splits into at most 300 examples to
// train on and at most 2000 others. It prints the table of doc/tuning.md and runs where BOOTBENCH_DATA names
// a folder of CSV files, or BOOTBENCH_SETS sets:
//
//	BOOTBENCH_DATA=data go test -tags openblas -run TestHeldOut -v -timeout 2h ./internal/tune
func TestHeldOut(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("BOOTBENCH_DATA"), "*.csv"))
	files = append(files, strings.Fields(os.Getenv("BOOTBENCH_SETS"))...)
	if err != nil || os.Getenv("BOOTBENCH_DATA")+os.Getenv("BOOTBENCH_SETS") == "" {
		t.Skip("BOOTBENCH_DATA names no folder, and BOOTBENCH_SETS no sets")
	}
	runtime.GOMAXPROCS(1)
	blas.Bound().SetThreads(1)
	fmt.Print("| set | n | grid | s ")
	for _, v := range variants {
		fmt.Print("| ", v.name)
	}
	fmt.Println(" |")
	for _, path := range files {
		heldOutRow(t, path)
	}
}

// variants are the objectives that are compared, the default first.
var variants = []struct {
	name string
	By
	scales Scales
}{
	{"default", Folds, IfBetter}, {"one length scale", Folds, AsGiven}, {"left-out error", LeftOut, AsGiven},
	{".632+", Plus632, AsGiven}, {"leave-one-out", LeaveOneOut, AsGiven}, {"evidence", Evidence, AsGiven},
}

// splits is how often a set is split.
const splits = 10

// heldOutRow prints the row of one set: the mean error of the grid's model, and of the models by each
// objective relative to it (geometric mean and worst over splits); said is the objective over the error
// found.
func heldOutRow(t *testing.T, path string) {
	t.Helper()
	set := load(t, path)
	if set.AreNumbers() && len(slices.Compact(slices.Sorted(slices.Values(set.Targets(0))))) == 2 {
		if err := set.Classify(""); err != nil {
			t.Fatal(err)
		}
	}
	train := min(300, 2*set.N()/3)
	var grid, said []float64
	var gridTime, ownTime time.Duration
	ratio := make([][]float64, len(variants))
	for split := range splits {
		order := rand.New(rand.NewPCG(uint64(split), 1)).Perm(set.N())
		open := model.NewSpec(set.Subset(order[:train]), nil)
		fresh := set.Subset(order[train:min(set.N(), train+2000)])
		began := time.Now()
		best := gridSearch(t, open)
		gridTime += time.Since(began)
		grid = append(grid, heldOut(t, best, fresh))
		for by, v := range variants {
			began, scales := time.Now(), v.scales
			if !open.Set.AreNumbers() {
				scales = AsGiven // as the command has it
			}
			r, err := Run(t.Context(), Problem{Spec: open, By: v.By, Scales: scales}, Settings{})
			if err != nil {
				continue // an objective that is not for labels
			}
			found := heldOut(t, r.Spec, fresh)
			ratio[by] = append(ratio[by], (found+1e-3*grid[0])/(grid[split]+1e-3*grid[0]))
			if by == 0 {
				ownTime += time.Since(began)
				said = append(said, r.Value/found)
			}
		}
	}
	fmt.Printf("| %s | %d | %.4g | %.2f", strings.TrimSuffix(filepath.Base(path), ".csv"), train,
		stat.Mean(grid, nil), gridTime.Seconds()/splits)
	for by, r := range ratio {
		if len(r) == 0 {
			fmt.Print(" | ")
			continue
		}
		fmt.Printf(" | %.3f, worst %.2f", stat.GeometricMean(r, nil), slices.Max(r))
		if by == 0 {
			fmt.Printf(" | %.2f | %.3f", ownTime.Seconds()/splits, stat.Mean(said, nil))
		}
	}
	fmt.Println(" |")
}

// gridSearch is the model with the least error of 5-fold cross-validation, all folds retrained.
func gridSearch(t *testing.T, open model.Spec) (best model.Spec) {
	t.Helper()
	least := math.Inf(1)
	for _, gamma := range []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10} {
		for k := range 6 {
			spec := open
			spec.Kernel.Gamma = gamma / float64(open.Set.D())
			share := []float64{0.001, 0.01, 0.03, 0.1, 0.3, 1}[k]
			spec.Loss = loss.Square{Noise: share * stat.PopVariance(open.Set.Targets(0), nil)}
			var test loss.Test = loss.SquareTest{}
			if !open.Set.AreNumbers() {
				spec.Loss, test = loss.Hinge{C: []float64{0.1, 1, 10, 100, 1000, 1e4}[k]}, loss.ZeroOne{}
			}
			r, err := model.Retrain(t.Context(), testutil.Must(model.Build(t.Context(), spec))(t),
				model.Single, resample.KFold{Folds: 5, N: open.Set.N()},
				model.RetrainSettings{Settings: fits.Settings{Resamples: 5, Tests: []loss.Test{test}}})
			if err != nil {
				t.Logf("%v: %v", spec.Loss, err)
				continue
			}
			if r.Tests[0].Error < least {
				least, best = r.Tests[0].Error, spec
			}
		}
	}
	return best
}

// heldOut is the error of the model, trained once, on rows that it has not seen.
func heldOut(t *testing.T, spec model.Spec, fresh *dataset.Set) float64 {
	t.Helper()
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	rows := testutil.Must(m.CrossAll(fresh))(t)
	all := resample.Subsample{Size: m.Set.N(), N: m.Set.N()}
	r := testutil.Must(model.Retrain(t.Context(), m, model.Single, all,
		model.RetrainSettings{Settings: fits.Settings{Resamples: 2}, Cross: rows}))(t)
	var test loss.Test = loss.SquareTest{}
	if m.Labels() {
		test = loss.ZeroOne{}
	}
	sum := 0.0
	y := fresh.Targets(0)
	for i, f := range r.Mean[m.Sites():] {
		sum += test.Value(f+m.Mean, y[i])
	}
	return sum / float64(fresh.N())
}
