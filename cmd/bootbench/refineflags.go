package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/multifidelity"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// refineFlags say how many exact resamples stand beside the theory.
type refineFlags struct {
	refine   string
	accuracy string
	seed     uint64
}

// autoResamples is what auto refines with, on every machine: 200 fits in batches cost
// about as much as the solve that they stand beside (BENCHMARKS.md, batch).
const autoResamples = 200

// The words that --refine takes beside a number.
const (
	refineAuto = "auto"
	refineNone = "none"
)

func (r *refineFlags) register(f *pflag.FlagSet, byDefault string) {
	f.StringVar(&r.refine, "refine", byDefault,
		fmt.Sprintf("exact resamples beside the theory, trained together around it: unbiased values with "+
			"standard errors, `R`: auto (%d, where the loss can and each example is left out by %d or more), none, "+
			"or a number from 2", autoResamples, leastLeftOut))
	f.Uint64Var(&r.seed, "seed", 0, "seed of the exact resamples, `SEED` at least 0; default 0")
	f.StringVar(&r.accuracy, "accuracy", "",
		"refine until the standard error of the left-out error is at most `P%` of it, such as 0.5%; default: "+
			"--refine decides")
}

// refinement is what refineFlags ask for.
type refinement struct {
	resamples int  // 0: none
	optional  bool // auto: where it cannot be done the answer is the theory's alone
	accuracy  float64
	seed      uint64
	// onFit, if set, sees every resample: see refit.RefineSettings.
	onFit func(b int, weight, f []float64)
	tests []loss.Test // besides that of the problem
	kept  bool        // the resamples are tasks of a journal
}

// leastLeftOut is the number of resamples that must leave an example out, on average, for auto
// to refine a left-out error: with fewer some examples have none.
const leastLeftOut = 10

// leavesOutFew reports whether they are fewer. Schemes with periods, such as folds, leave every
// example out in each.
func (r refinement) leavesOutFew(scheme resample.Scheme) bool {
	return resample.Period(scheme) == 1 && float64(r.resamples)*resample.ProbZero(scheme, 1) < leastLeftOut
}

// String is the refinement as a setting that decides an answer.
func (r refinement) String() string {
	return fmt.Sprintf("%d optional %v accuracy %v seed %d", r.resamples, r.optional, r.accuracy, r.seed)
}

func (r *refineFlags) settings() (refinement, error) {
	var out refinement
	switch r.refine {
	case refineAuto:
		out = refinement{resamples: autoResamples, optional: true}
	case refineNone:
		if r.accuracy != "" {
			return out, usage.Errorf(
				"--accuracy needs exact resamples, which --refine none leaves out: take --refine auto")
		}
	default:
		n, err := strconv.Atoi(r.refine)
		if err != nil || n < 2 || n > refit.DefaultMaxResamples {
			return out, usage.Errorf("--refine is %q, must be auto, none or a number of resamples from 2 to %d",
				r.refine, refit.DefaultMaxResamples)
		}
		out.resamples = n
	}
	out.seed = r.seed
	if r.accuracy == "" {
		return out, nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(r.accuracy, "%"), 64)
	if err != nil || !strings.HasSuffix(r.accuracy, "%") || !(percent > 0 && percent < 100) {
		return out, usage.Errorf(
			"--accuracy is %q, must be a share in percent between 0%% and 100%%, such as 0.5%%", r.accuracy)
	}
	out.accuracy, out.optional = percent/100, false
	return out, nil
}

// openFits opens a journal whose tasks are the exact resamples.
func openFits(a *app, cmd *cobra.Command, data []string, j *job, wanted *refinement) error {
	if a.tasks.folder == "" && a.tasks.wanted == "" && !a.tasks.merging {
		return nil
	}
	_, proximal := j.Loss.(loss.Proximal)
	switch {
	case wanted.resamples == 0:
		return usage.Errorf("--journal keeps the exact resamples of --refine, and there are none: give --refine " +
			"R, or do without --journal")
	case wanted.accuracy > 0 && a.tasks.wanted != "":
		return usage.Errorf("--shard needs to know how many exact resamples there are, which --accuracy decides " +
			"on the way: give --refine R instead")
	case !proximal:
		return usage.Errorf("--journal keeps exact resamples, which loss %s has none of: do without it",
			j.Loss.Name())
	}
	wanted.kept = true
	return a.openJournal(cmd, data, j.choice)
}

// recallFits has refinement look fits up in the journal, and keep those that it makes.
func recallFits(a *app, settings *refit.RefineSettings, j *job, p plan) *fitKeeper {
	if !p.refine.kept {
		return nil
	}
	digest := sha256.New()
	for row := range settings.Cross.Rows {
		binary.Write(digest, binary.LittleEndian,
			settings.Cross.Data[row*settings.Cross.Stride:][:settings.Cross.Cols])
	}
	key := keyOf("refine", j.Key(p.scheme, settings.Seed, hex.EncodeToString(digest.Sum(nil)),
		p.settings.Tolerance, p.settings.MaxSweeps))
	resamples := settings.Count(p.scheme)
	if settings.Accuracy > 0 {
		resamples = 0
	}
	kept := a.keepFits(key, j.Sites()+settings.Cross.Rows, resamples, j.Set.Name)
	if kept != nil {
		also, passes := settings.OnFit, 0
		settings.Lookup, settings.Unchecked = kept.lookup, a.tasks.sharded()
		settings.OnFit = func(b int, weight, f []float64) {
			if b == 0 {
				passes++
			}
			if passes == 1 { // a second one is of single fits, where blocks have failed
				kept.add(b, f, nil)
			}
			if also != nil {
				also(b, weight, f)
			}
		}
	}
	return kept
}

// refineSolution trains on exact resamples around a solution: at the sites, and at new inputs
// whose kernel rows are given. It is nil where nothing is asked for, where other shards
// have resamples, or where auto finds that it cannot be done; warnings then say why.
func refineSolution(a *app, j *job, s *solver.Solution, p plan, cross blas64.General) (
	result *multifidelity.Result, warnings []string, err error) {
	wanted := p.refine
	_, proximal := j.Loss.(loss.Proximal)
	switch {
	case wanted.resamples == 0 || s.Status == solver.Cancelled:
		return nil, nil, nil
	case resample.ProbZero(p.scheme, 1) == 0:
		return nil, []string{"no resample leaves an example out: the left-out error is the theory's " +
			"leave-one-out error, and is not refined"}, nil
	case wanted.optional && !proximal:
		return nil, nil, nil
	}
	settings := refit.RefineSettings{
		Cross: cross, Resamples: wanted.resamples, Seed: wanted.seed, Accuracy: wanted.accuracy,
		Tests: append([]loss.Test{j.test},
			wanted.tests...), OnFit: wanted.onFit,
		Progress: func(done, total int) {
			a.console.Progress(fmt.Sprintf("exact resample %d of %d", done, total), done, total)
		},
	}
	kept := recallFits(a, &settings, j, p)
	if kept.incomplete() {
		return nil, nil, nil
	}
	result, err = refit.Refine(a.ctx, j.Model, s, p.scheme, settings)
	if err == nil && result.Status == retrain.Complete {
		kept.end()
	}
	switch {
	case errors.Is(err, retrain.ErrCancelled) && a.tasks.sharded():
		return nil, nil, a.ctx.Err()
	case errors.Is(err, retrain.ErrCancelled):
		a.interrupted()
		return nil, nil, nil
	case err != nil && wanted.optional:
		return nil, []string{fmt.Sprintf("not refined: %v", err)}, nil
	case err != nil:
		return nil, nil, err
	}
	if kept != nil && a.tasks.sharded() { // most of it is other processes'
		return nil, nil, a.ctx.Err()
	}
	if result.Status == retrain.Cancelled {
		a.interrupted()
	}
	return result, result.Warnings, nil
}

// refinedReport says what exact resamples give beside a solution. fitted is the fit to all data at the
// sites; nil: .632 is not known.
func (j *job) refinedReport(r *multifidelity.Result, s *solver.Solution, fitted []float64) *report.Refined {
	test, agreement := r.TestError(), r.Against(s)
	out := &report.Refined{
		Resamples: r.Resamples, Method: r.Method, OneClass: r.OneClass,
		EquivalentResamples: null.Float(test.EquivalentResamples),
		TestError:           null.Float(test.Error), SE: null.Float(test.StandardError),
		BaggedError:   null.Float(test.BaggedError),
		BaggedSE:      null.Float(test.BaggedSE),
		VarianceRatio: null.Float(agreement.VarianceRatio), Contradicts: agreement.Contradictions(),
		Time: report.RefinedTime{Fits: r.Time.Fits.Seconds(), Total: r.Time.Total.Seconds(),
			Iterations: r.Iterations,
			Exact:      r.Exact},
	}
	out.Err632, out.Err632Plus = null.Float(math.NaN()), null.Float(math.NaN())
	if fitted != nil {
		combined := r.ErrorEstimates(0, fitted)
		out.Err632, out.Err632Plus = null.Float(combined.Err632), null.Float(combined.Err632Plus)
	}
	return out
}

// refinedPoints are the estimates per example.
func (j *job) refinedPoints(r *multifidelity.Result) *report.Points {
	p := r.Points
	out := &report.Points{
		Mean: j.perExample(p.Mean), Variance: j.perExample(p.Variance), Error: r.TestError().Examples,
		MeanSE: j.perExample(p.MeanSE), VarianceSE: j.perExample(p.VarianceSE),
	}
	if j.Set.Task == dataset.Classification {
		out.Vote = j.perExample(p.Vote)
	}
	out.Shift(j.TargetMean)
	return out
}
