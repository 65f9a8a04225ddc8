package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/retrain"
	"bootbench/linalg"
)

// replicates are the predictions at the sites of all resamples, a row each.
type replicates struct{ rows []float64 }

// keepReplicates has every resample's predictions kept, where --replicates asks for them.
func (r *retrainFlags) keepReplicates(j *job, settings *retrain.Settings) (*replicates, error) {
	if r.replicates == "" {
		return nil, nil
	}
	need := 16 * int64(settings.Resamples) * int64(j.Set.N())
	what := fmt.Sprintf("the predictions of %d resamples for %d examples", settings.Resamples, j.Set.N())
	if err := linalg.CheckMemory(need, int64(r.model.maxMemory), what); err != nil {
		return nil, err
	}
	kept := &replicates{}
	settings.OnFit = func(_ int, _, f []float64) { kept.rows = append(kept.rows, f[:j.Sites()]...) }
	return kept, nil
}

// write writes the predictions per example in the order of DATA.
func (r *replicates) write(path string, j *job) error {
	if r == nil {
		return nil
	}
	var all []float64
	for row := range slices.Chunk(r.rows, j.Sites()) {
		all = append(all, j.perExample(row)...)
	}
	if len(all) == 0 {
		return nil
	}
	floats.AddConst(j.TargetMean, all)
	n := j.Set.N()
	return files.Replace(path,
		func(w io.Writer) error { return npyio.Write(w, mat.NewDense(len(all)/n, n, all)) })
}
