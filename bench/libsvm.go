package bench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// libsvmCost is LIBSVM's C for a hard margin, above the dual weights of all sets here.
const libsvmCost = 1e10

// libsvmSeconds is the time of one training by LIBSVM's svm-train, with its own defaults, on examples of the
// given multiplicities: the least processor time of the process less the time of the same process with a
// tolerance so large that it ends before its first step. Start-up and reading are so excluded; the rows of
// the kernel matrix that it computes are included; no model is written. LIBSVM has a bias, merges no rows,
// and gets the examples of a hard margin once. The time is 0 if there is no svm-train, if the loss or the
// kernel is not LIBSVM's, or if it is less than a fifth of start-up and reading; a run is ended after two
// seconds, a lower bound then.
func (x *experiment) libsvmSeconds(ctx context.Context, weight []float64) (seconds float64, isBound bool) {
	t, k, set := loss.TraitsOf(x.model.Loss), x.model.Kernel, x.model.Set
	p, _ := loss.ParametersOf(x.model.Loss)
	if !t.Margin || p.ClassWeights != (loss.ClassWeights{}) {
		return 0, false
	}
	c := t.C
	if math.IsInf(c, 1) {
		c = libsvmCost
	}
	program, err := exec.LookPath("svm-train")
	if err != nil || k.Kind != kernel.RBF || k.LengthScale != nil || k.Jitter > 0 || set.Sparse != nil {
		return 0, false
	}
	z := set.X
	if x.model.Standardize {
		z, _ = dataset.Standardize(z)
	}
	var file []byte
	for rows, i := linalg.NewCSR(z), 0; i < z.Rows; i++ {
		copies := int(weight[i])
		if t.Dense {
			copies = min(copies, 1)
		}
		line := append(rows.AppendRow(fmt.Append(nil, x.model.Y[i]), i), '\n')
		file = append(file, bytes.Repeat(line, copies)...)
	}
	folder, err := os.MkdirTemp("", "libsvm")
	if err != nil {
		return 0, false
	}
	defer os.RemoveAll(folder)
	data := filepath.Join(folder, "data")
	if os.WriteFile(data, file, 0o600) != nil {
		return 0, false
	}
	limit := 4 * budget
	least := func(tolerance string) (seconds float64) {
		for began := time.Now(); time.Since(began) < budget/4; {
			ctx, cancel := context.WithTimeout(ctx, limit)
			run := exec.CommandContext(ctx, program, "-q", "-m", "2000", "-e", tolerance,
				"-g", fmt.Sprint(cmp.Or(k.Gamma, 0.5/float64(set.D()))),
				"-c", fmt.Sprint(c*cmp.Or(k.Amplitude, 1)), data, filepath.Join(folder, "none", "model"))
			run.Run() // fails at last, as it cannot write there
			late := ctx.Err() != nil
			if cancel(); late || run.ProcessState == nil {
				isBound = true
				return limit.Seconds()
			}
			used := (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
			seconds = min(cmp.Or(seconds, used), used)
		}
		return seconds
	}
	if seconds = least("0.001"); isBound {
		return seconds, true
	}
	start := least("1e30")
	if seconds -= start; seconds < start/5 {
		return 0, false
	}
	return seconds, false
}
