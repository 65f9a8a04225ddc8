package fits_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
)

// libsvmCell is a left-out error of models trained by LIBSVM 3.24 (Debian 3.24+ds-6), with its
// bias, on libsvmResamples Poisson resamples of ratio 1, the ones of retrain's seed 17:
//
//	svm-train -s 0 -t 2 -g gamma -c C -e 0.001             C-SVC
//	svm-train -s 3 -t 2 -g gamma -c C -p epsilon -e 0.001  epsilon-SVR
//
// on z-scored features, gamma one over their number, and raw targets; each example's zero-one
// or square loss averaged over the resamples without it, and these over the examples. se is
// the standard error, of the resamples' mean losses. scripts/libsvm.sh makes them anew.
type libsvmCell struct {
	name       string
	c, epsilon float64 // epsilon 0: C-SVC
	err, se    float64
}

var libsvmCells = []libsvmCell{
	{"pima", 0.1, 0, 0.24204, 0.0029},
	{"pima", 10, 0, 0.2734, 0.0027},
	{"sonar", 0.3, 0, 0.22981, 0.0046},
	{"sonar", 1, 0, 0.16868, 0.0043},
	{"wisconsin", 0.1, 0, 0.03378, 0.0011},
	{"crabs", 0.1, 0, 0.29397, 0.0098},
	{"crabs", 1, 0, 0.085092, 0.003},
	{"synthetic:blobs,n=200,d=4,noise=1.2,seed=3", 1, 0, 0.23355, 0.0044},
	{"boston", 0.1, 1, 62.807, 0.94},
	{"boston", 10, 1, 15.531, 0.39},
	{"synthetic:friedman1,n=200,seed=5", 1, 0.5, 8.5906, 0.16},
	{"synthetic:waves,n=200,seed=5", 1, 0.1, 0.076201, 0.003},
}

const libsvmResamples, libsvmSeed = 100, 17

func (c libsvmCell) model(t *testing.T) (*model.Model, loss.Test) {
	t.Helper()
	set := load(t, c.name)
	spec := model.Spec{Set: set, Standardize: true, Bias: true,
		Kernel: kernel.Spec{Gamma: 1 / float64(set.D())}, Loss: loss.Hinge{C: c.c}}
	test := loss.Test(loss.ZeroOne{})
	if c.epsilon > 0 {
		spec.Loss, test = loss.EpsInsensitive{C: c.c, Epsilon: c.epsilon}, loss.SquareTest{}
	}
	return modelOf(t, spec), test
}

// TestBiasAgainstLIBSVM: retraining on the same resamples leaves the same error as LIBSVM, up
// to the predictions that the two tolerances of 1e-3 put on either side of 0: half a
// percent of it. Theory and refined estimates, of other resamples, are within two standard
// errors of the difference, and so is the theory but on crabs: where most weights are at
// their bound, the bias of 200 examples jumps with the majority among the drawn ones, which is no Gaussian
// law, and the theory is 12 and 28% off. Refined estimates say so. With
// BOOTBENCH_LIBSVM, the path of svm-train with svm-predict beside it, the table is printed anew.
func TestBiasAgainstLIBSVM(t *testing.T) {
	for k, c := range libsvmCells {
		if testing.Short() && k != 3 && k != 6 && k != 10 {
			continue
		}
		m, test := c.model(t)
		if train := os.Getenv("BOOTBENCH_LIBSVM"); train != "" {
			c.err, c.se = c.byLIBSVM(t, train, m, test)
			t.Logf("{%q, %g, %g, %.5g, %.2g},", c.name, c.c, c.epsilon, c.err, c.se)
		}
		s := converge(t, m)
		theory, _ := s.LeftOut(test)
		tests := []loss.Test{test}
		same := testutil.Must(model.RetrainAround(t.Context(), m, s, law,
			model.RetrainSettings{Seed: libsvmSeed, Settings: fits.Settings{Resamples: libsvmResamples,
				Tests: tests}}))(t)
		if off := same.Tests[0].Error/c.err - 1; !(math.Abs(off) < 0.005) {
			t.Errorf("%v: retrained on the same resamples %g, off by %.2g%%", c, same.Tests[0].Error, 100*off)
		}
		refined := testutil.Must(model.Refine(t.Context(), m, s, law, model.RefineSettings{
			RetrainSettings: model.RetrainSettings{
				Seed: 1, Settings: fits.Settings{Resamples: 60, Tests: tests}}}))(t)
		r := refined.Tests[0]
		score := (r.Error - c.err) / math.Hypot(r.SE, c.se)
		if !(math.Abs(score) < 2) {
			t.Errorf("%v: refined %g +- %.2g, %.1f standard errors off", c, r.Error, r.SE, score)
		}
		_, contradictions := fits.Against(s, refined.Averages)
		contradicted := len(contradictions) > 0
		if contradicted != (c.name == "crabs") || !contradicted &&
			!(math.Abs(theory-c.err) < 2*math.Hypot(r.SE, c.se)) {
			t.Errorf("%v: theory %g, refined %g +- %.2g, contradicted: %v", c, theory, r.Error, r.SE,
				contradicted)
		}
		t.Logf("%v: theory %.5g (%+.1f), same resamples %.5g, refined %.5g +- %.2g (%+.1f)", c, theory,
			(theory-c.err)/c.se, same.Tests[0].Error, r.Error, r.SE, score)
	}
}

// byLIBSVM computes a cell's error and its standard error.
func (c libsvmCell) byLIBSVM(t *testing.T, train string, m *model.Model, test loss.Test) (mean, se float64) {
	t.Helper()
	z, _ := dataset.Standardize(m.Set.X)
	scaled := &dataset.Set{X: z, Columns: []dataset.Column{{Y: m.Y}}}
	dir, n := t.TempDir(), m.Set.N()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(program string, args ...string) {
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	args := []string{"-q", "-t", "2", "-g", fmt.Sprintf("%.17g", m.Kernel.Gamma), "-c", fmt.Sprint(c.c), "-e",
		"0.001", "-s", "0"}
	if c.epsilon > 0 {
		args = append(args, "-s", "3", "-p", fmt.Sprint(c.epsilon))
	}
	sums, absent, means := make([]float64, n), make([]float64, n), []float64(nil)
	_, err := model.Retrain(t.Context(), m, model.Single, law,
		model.RetrainSettings{Seed: libsvmSeed, Settings: fits.Settings{Resamples: libsvmResamples,
			OnFit: func(_ int, weight, _ []float64) {
				var left []int
				times := make([]float64, n)
				for i, k := range weight {
					if k == 0 {
						left, times[i] = append(left, i), 1
					}
				}
				writeLIBSVM(t, file("train"), scaled, weight)
				writeLIBSVM(t, file("test"), scaled, times)
				run(train, append(args, file("train"), file("model"))...)
				run(filepath.Join(filepath.Dir(train), "svm-predict"), file("test"), file("model"),
					file("out"))
				out := testutil.Must(os.Open(file("out")))(t)
				defer out.Close()
				total := 0.0
				for _, i := range left {
					var f float64
					testutil.Must(fmt.Fscan(out, &f))(t)
					l := test.Value(f, m.Y[i])
					sums[i], absent[i], total = sums[i]+l, absent[i]+1, total+l
				}
				means = append(means, total/float64(len(left)))
			}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, sum := range sums {
		mean += sum / absent[i] / float64(n)
	}
	return mean, stat.StdErr(stat.StdDev(means, nil), float64(len(means)))
}

// writeLIBSVM writes each example as often as weights say.
func writeLIBSVM(t *testing.T, path string, set *dataset.Set, weight []float64) {
	t.Helper()
	var rows []int
	for i, k := range weight {
		rows = append(rows, slices.Repeat([]int{i}, int(k))...)
	}
	f := testutil.Must(os.Create(path))(t)
	defer f.Close()
	if err := dataset.Write(f, ".svm", set.Subset(rows)); err != nil {
		t.Fatal(err)
	}
}
