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

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
)

// TestFlagless sets the model that Quickly chooses beside the best of a grid of 42 by
// retrained 5-fold cross-validation, by the errors of both on held-out rows, over splits
// into at most 300 examples to train on and at most 2000 others. It prints the table of
// doc/accuracy.md and runs where BOOTBENCH_DATA names a folder of CSV files:
//
//	BOOTBENCH_DATA=data go test -tags openblas -run TestFlagless -v -timeout 1h ./internal/tune
func TestFlagless(t *testing.T) {
	folder := os.Getenv("BOOTBENCH_DATA")
	if folder == "" {
		t.Skip("BOOTBENCH_DATA names no folder")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatal("no CSV files", err)
	}
	runtime.GOMAXPROCS(1)
	blas.Bound().SetThreads(1)
	fmt.Println("| set | n | flagless | s | grid search | s | off |\n|---|---|---|---|---|---|---|")
	var off []float64
	for _, path := range files {
		off = append(off, flagless(t, path))
	}
	slices.Sort(off)
	if half := stat.Quantile(0.5, stat.Empirical, off, nil); half > 0.05 {
		t.Errorf("the flagless errors are %v above those of the grid search in the median", half)
	}
}

// splits is how often a set is split.
const splits = 20

// flagless prints the row of one set, and returns how far the flagless error is above that
// of the grid search.
func flagless(t *testing.T, path string) float64 {
	t.Helper()
	set := load(t, path)
	if set.Task == dataset.Regression && slices.Max(set.Y) == 1 &&
		len(slices.Compact(slices.Sorted(slices.Values(set.Y)))) == 2 {
		if err := set.Classify(""); err != nil {
			t.Fatal(err)
		}
	}
	var quick, search, ratio []float64
	train := min(300, 2*set.N()/3)
	var quickTime, searchTime time.Duration
	for split := range splits {
		order := rand.New(rand.NewPCG(uint64(split), 1)).Perm(set.N())
		open := model.NewSpec(set.Subset(order[:train]), nil)
		fresh := set.Subset(order[train:min(set.N(), train+2000)])
		began := time.Now()
		fit := need.One(Quickly(t.Context(), open, nil))(t)
		quickTime += time.Since(began)
		began = time.Now()
		best := gridSearch(t, open)
		searchTime += time.Since(began)
		quick, search = append(quick, heldOut(t, fit.Spec, fresh)), append(search, heldOut(t, best, fresh))
	}
	ours, theirs := stat.Mean(quick, nil), stat.Mean(search, nil)
	for i := range quick {
		ratio = append(ratio, quick[i]-search[i])
	}
	fmt.Printf("| %s | %d | %.4g | %.2f | %.4g | %.2f | %+.1f%% +- %.1f%% |\n",
		strings.TrimSuffix(filepath.Base(path), ".csv"), train,
		ours, quickTime.Seconds()/splits, theirs, searchTime.Seconds()/splits, 100*(ours/theirs-1),
		100*stat.StdErr(stat.StdDev(ratio, nil), splits)/theirs)
	return ours/theirs - 1
}

// gridSearch is the model with the least error of 5-fold cross-validation, all folds
// retrained.
func gridSearch(t *testing.T, open model.Spec) (best model.Spec) {
	t.Helper()
	least := math.Inf(1)
	for _, gamma := range []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10} {
		for k := range 6 {
			spec := open
			spec.Kernel.Gamma = gamma / float64(open.Set.D())
			share := []float64{0.001, 0.01, 0.03, 0.1, 0.3, 1}[k]
			spec.Loss = loss.Square{Noise: share * stat.PopVariance(open.Set.Y, nil)}
			var test loss.Test = loss.SquareTest{}
			if open.Set.Task == dataset.Classification {
				spec.Loss, test = loss.Hinge{C: []float64{0.1, 1, 10, 100, 1000, 1e4}[k]}, loss.ZeroOne{}
			}
			r, err := refit.RetrainSingly(t.Context(), need.One(model.Build(spec))(t),
				resample.KFold{Folds: 5, N: open.Set.N()},
				refit.RetrainSettings{Settings: retrain.Settings{Resamples: 5, Tests: []loss.Test{test}}})
			if err != nil {
				t.Logf("%v: %v", spec.Loss, err)
				continue
			}
			if r.LeftOut[0].Error < least {
				least, best = r.LeftOut[0].Error, spec
			}
		}
	}
	return best
}

// heldOut is the error of the model, trained once, on rows that it has not seen.
func heldOut(t *testing.T, spec model.Spec, fresh *dataset.Set) float64 {
	t.Helper()
	m := need.One(model.Build(spec))(t)
	rows := need.One(m.CrossAll(model.Dense(blas64.General(fresh.X))))(t)
	all := resample.Subsample{Size: m.Set.N(), N: m.Set.N()}
	r := need.One(refit.RetrainSingly(t.Context(), m, all,
		refit.RetrainSettings{Settings: retrain.Settings{Resamples: 2},
			Cross: rows}))(t)
	var test loss.Test = loss.SquareTest{}
	if m.Set.Task == dataset.Classification {
		test = loss.ZeroOne{}
	}
	sum := 0.0
	for i, f := range r.Mean[m.Sites():] {
		sum += test.Value(f+m.TargetMean, fresh.Y[i])
	}
	return sum / float64(fresh.N())
}
