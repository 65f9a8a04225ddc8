package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/solver"
)

// Comparison is the answer of compare.
type Comparison struct{ Rows []CompareRow }

func (c *Comparison) fill(s *Sheet, _ bool) {
	s.JSON, s.CSV, s.Table, s.Figures = c.Rows, "compare.csv", TableOf(c.Rows), c.figures()
}

func (c *Comparison) document(bool) *document {
	d := &document{Title: "The theory against naive retraining"}
	times := []head{"<data", "n", "rank", "theory s", "200 fits s", "refined s", "retrain s", "<by",
		"speed-up", "<status"}
	if count := len(c.Rows); count > 0 {
		r := c.Rows[count-1]
		d.Lead = fmt.Sprintf("On %d rows of %s the theory takes the time of %.3g bootstrap fits; retraining "+
			"to the same accuracy takes %.3g times as long.", r.N, ShortName(r.Data), r.TheoryOverMergedFit,
			r.SpeedupEqualAccuracy)
	}
	d.claims(c.Rows)
	d.gap()
	if slices.ContainsFunc(c.Rows, func(r CompareRow) bool { return r.Rank > 0 }) {
		d.line("rank", "rank of the theory's kernel matrix, - for the exact one")
	}
	d.line("theory s", "seconds of the theory")
	d.line("200 fits s", "seconds of 200 resamples, trained one by one; ~: extrapolated from fewer")
	d.line("refined s", "seconds of the theory and of exact resamples around it")
	d.line("retrain s", "seconds of retraining alone to the same standard error, in the fastest way, "+
		"which is named (with its rank)")
	d.line("speed-up", "seconds of retraining to the theory's error in the variances, over theory s")
	d.table(known(times, each(c.Rows, CompareRow.times)))
	d.gap()
	d.line("theory", "left-out error by the theory; refined, +-: by exact resamples around it, with its "+
		"standard error; retrained: by retraining")
	d.line("all rows", "the theory's time in fits to all rows by our trainer, and by LIBSVM (M04)")
	d.line("S rows", "the same in fits to the S rows of a resample; merged: with repeated rows merged (M03)")
	d.table(known([]head{"<data", "n", "theory", "refined", "+-", "retrained", "all rows", "LIBSVM", "S rows",
		"merged"}, each(c.Rows, CompareRow.errors)))
	return d
}

func timesCell(v float64) string { return either(v > 0, fmt.Sprintf("%.3g", v), "-") }

func (r CompareRow) times() []string {
	return []string{ShortName(r.Data), strconv.Itoa(r.N), cmp.Or(nonzero("%d", r.Rank), "-"),
		seconds(r.TheoryS), either(r.FitsMeasured < 200, "~", "") + seconds(r.Fits200S),
		either(r.RefinedS > 0, seconds(r.RefinedS), "-"), seconds(r.BaselineS),
		r.Baseline + nonzero(" %d", r.BaselineRank),
		either(r.EqualIsBound, ">", "") + timesCell(r.SpeedupEqualAccuracy), unfinished(r.Status)}
}

// errors are the cells of the errors of a row, and of the theory's time in single fits.
func (r CompareRow) errors() []string {
	refined, se := "-", "-"
	if r.RefinedS > 0 {
		refined, se = number(r.RefinedError), fmt.Sprintf("%.2g", r.RefinedSE)
	}
	return []string{ShortName(r.Data), strconv.Itoa(r.N), number(r.TheoryError), refined, se,
		number(r.RetrainError), timesCell(r.TheoryOverFit),
		either(r.LIBSVMIsBound, "<", "") + timesCell(r.TheoryOverLIBSVM), timesCell(r.NaiveFitsEquivalent),
		timesCell(r.TheoryOverMergedFit)}
}

// noticeable is the quotient of two times from which they are called different: less is noise.
const noticeable = 1.1

// claims prints what holds of the claims of both papers, and where retraining is faster.
func (d *document) claims(rows []CompareRow) {
	var own, libsvm, naive, merged []float64
	var lost []string
	for _, r := range rows {
		own = append(own, r.TheoryOverFit)
		if r.RefinedS > noticeable*r.BaselineS && r.BaselineS > 0 {
			lost = append(lost, fmt.Sprintf("%s %d %s %.2g", ShortName(r.Data), r.N, r.Baseline,
				r.RefinedS/r.BaselineS))
		}
		if r.TheoryOverLIBSVM > 0 {
			libsvm = append(libsvm, r.TheoryOverLIBSVM)
		}
		if r.NaiveFitsEquivalent > 0 {
			naive, merged = append(naive, r.NaiveFitsEquivalent), append(merged, r.TheoryOverMergedFit)
		}
	}
	if len(naive) > 0 {
		d.line("claim of M03", "(JMLR 2003) at most 15 fits of S rows to N = 500, 25 to 2500: here %.3g to "+
			"%.3g, and %.3g to %.3g merged ones", slices.Min(naive), slices.Max(naive), slices.Min(merged),
			slices.Max(merged))
	}
	shorter := func(times []float64) string {
		return fmt.Sprintf("%d of %d rows", floats.Count(func(v float64) bool { return v < 1 }, times),
			len(times))
	}
	d.line("claim of M04", "(NIPS 2003) one training takes longer than the theory: in %s by our trainers, "+
		"in %s by LIBSVM", shorter(own), shorter(libsvm))
	if len(lost) > 0 {
		d.line("retraining wins",
			"in %d of %d rows over theory and refinement (data, n, way, times as fast): %s",
			len(lost), len(rows), strings.Join(lost, ", "))
	}
}

// compareGroups splits rows into runs with equal data set and loss, over sizes or over ratios.
func compareGroups(rows []CompareRow) (groups [][]CompareRow) {
	for i, r := range rows {
		last := len(groups) - 1
		if i > 0 && r.Data == rows[i-1].Data && r.Loss == rows[i-1].Loss &&
			(r.Ratio == rows[i-1].Ratio || r.N == rows[i-1].N) {
			groups[last] = append(groups[last], r)
		} else {
			groups = append(groups, []CompareRow{r})
		}
	}
	return groups
}

// figures are one for each data set with several sizes or ratios: times against these, with their slopes.
func (c *Comparison) figures() (figures []*Figure) {
	for _, rows := range compareGroups(c.Rows) {
		if len(rows) == 1 {
			continue
		}
		axis, data := sizeAxis(rows), ShortName(rows[0].Data)
		times := []Series{{Label: "200 fits"}, {Label: "theory"}, {Label: "theory and refinement"},
			{Label: "one fit to all rows"}}
		for i, r := range rows {
			for k, s := range []float64{r.Fits200S, r.TheoryS, r.RefinedS, r.FitS} {
				times[k].Mark, times[k].Colour = Joined, k
				if s > 0 { // else it is unknown
					times[k].Add(axis.Ticks[i].Value, s)
				}
			}
		}
		times = slices.DeleteFunc(times, func(s Series) bool { return len(s.X) < 2 })
		for k := range times {
			times[k].Label += fmt.Sprintf(", slope %.2g", times[k].slope())
		}
		figures = append(figures, NewFigure("compare-"+fileName(rows[0].Data)+"-time", data+": time",
			"Seconds of the theory, of one fit, of 200 bootstrap fits with repeated rows merged, and of the "+
				"theory with exact resamples around it.",
			axis, Axis{Label: "seconds", Log: true}, times...))
	}
	return figures
}

func (s *Series) slope() float64 {
	_, slope := stat.LinearRegression(each(s.X, math.Log), each(s.Y, math.Log), nil, false)
	return slope
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio of a learning curve.
func sizeAxis(rows []CompareRow) Axis {
	first, last := &rows[0], &rows[len(rows)-1]
	overRatios := first.N == last.N && first.Ratio != last.Ratio
	a := Axis{Label: either(overRatios, "ratio S/N", "examples n"), Log: true}
	for _, r := range rows {
		x := either(overRatios, r.Ratio, float64(r.N))
		a.Ticks = append(a.Ticks, Tick{x, strconv.FormatFloat(x, 'g', 4, 64)})
	}
	return a
}

// CompareRow is one comparison: the theory and retraining on the same n examples, in the same process, one
// after the other. Times are wall times in seconds, without the kernel matrix.
type CompareRow struct {
	Setup
	// One solve: start value, all refreshes, variances and the left-out error.
	TheoryS     float64 `json:"theory_s"`
	TheoryError Number  `json:"theory_error"`
	Engine      string  `json:"engine"` // that held the kernel matrix
	Rank        int     `json:"rank,omitempty"`
	Solve
	// One fit with predictions at all sites, by the fastest own trainer of the loss with all BLAS threads: on
	// all data, on a resample with repeated rows merged, and on the S rows of a resample without merging
	// (square loss only, else 0); and on all data by LIBSVM (see libsvmSeconds), a bound if it took longer.
	FitS          float64 `json:"fit_s"`
	ResampleFitS  float64 `json:"resample_fit_s"`
	NaiveFitS     float64 `json:"naive_fit_s"`
	LIBSVMFitS    float64 `json:"libsvm_fit_s"`
	LIBSVMIsBound bool    `json:"libsvm_is_bound"`
	// TheoryS divided by each of these; FitsEquivalent is in merged fits, too.
	TheoryOverFit       float64 `json:"theory_over_fit"`
	TheoryOverMergedFit float64 `json:"theory_over_merged_fit"`
	FitsEquivalent      float64 `json:"fits_equivalent"`
	NaiveFitsEquivalent float64 `json:"naive_fits_equivalent"`
	TheoryOverLIBSVM    float64 `json:"theory_over_libsvm"`
	Retrained
	// The theory refined by exact resamples in batches: RefinedS is the time with the solve, and
	// RefinedEquivalent the number of plain retrainings whose left-out error has the same standard error. 0
	// if the loss has no proximal map.
	RefinedError      Number  `json:"refined_error,omitempty"`
	RefinedSE         Number  `json:"refined_se,omitempty"`
	RefinedResamples  int     `json:"refined_resamples,omitempty"`
	RefinedS          float64 `json:"refined_s,omitempty"`
	RefinedEquivalent Number  `json:"refined_equivalent,omitempty"`
	// Retraining without the theory. Fits50S and Fits200S are the seconds of 50 and 200 resamples, repeated
	// rows merged, one after the other by the fastest own trainer, from the mean of FitsMeasured ones. The
	// fastest way, in blocks and by LIBSVM included, to retrain BaselineFits resamples takes BaselineS: as
	// many as have the standard error of the refined left-out error (all retrained ones, if nothing was
	// refined).
	Fits50S        float64 `json:"fits50_s"`
	Fits200S       float64 `json:"fits200_s"`
	FitsMeasured   int     `json:"fits_measured"`
	Baseline       string  `json:"baseline"`
	BaselineEngine string  `json:"baseline_engine"`
	BaselineRank   int     `json:"baseline_rank,omitempty"`
	BaselineFits   float64 `json:"baseline_fits"`
	BaselineS      float64 `json:"baseline_s"`
	VarianceAccuracy
	PeakBytes int64 `json:"peak_bytes"` // of the theory: kernel matrix, engine, solution
	// Speeds of diag(G), counting 2M^3/3 flops, and of M x M times M x M, measured one after the other.
	RefreshGflops float64 `json:"refresh_gflops"`
	DgemmGflops   float64 `json:"dgemm_gflops"`
	Backend       string  `json:"backend"` // of the linear algebra
	Core          string  `json:"core"`
	Threads       int     `json:"threads"`
}

// Setup is the problem of a row.
type Setup struct {
	Data   string  `json:"data"`
	Loss   string  `json:"loss"`
	N      int     `json:"n"`     // examples
	Sites  int     `json:"sites"` // distinct inputs
	D      int     `json:"d"`
	Ratio  float64 `json:"ratio"`
	Scheme string  `json:"scheme"`
}

// Solve is the status of a solve, and its cost.
type Solve struct {
	Status    string           `json:"status"`
	Residual  Number           `json:"residual"`
	Sweeps    int              `json:"sweeps"`
	Refreshes solver.Refreshes `json:"refreshes"`
}

// NewSolve is the Solve of a solution.
func NewSolve(s *solver.Solution) Solve {
	return Solve{s.Status.String(), Number(s.Residual), s.Stats.Sweeps, s.Stats.Refreshes}
}

// Retrained is the reference, in parallel with one BLAS thread per worker.
type Retrained struct {
	RetrainError     Number  `json:"retrain_error"`
	RetrainSE        Number  `json:"retrain_se"`
	RetrainResamples int     `json:"retrain_resamples"`
	RetrainS         float64 `json:"retrain_s"` // of all resamples
}

// VarianceAccuracy is the accuracy of the theory's variances.
type VarianceAccuracy struct {
	// VarianceError is the theory's root mean square relative error in the per-site variances, with the
	// noise of the retraining reference subtracted, 0 if it is insignificant; VarianceNoise is that noise.
	VarianceError float64 `json:"variance_error"`
	VarianceNoise float64 `json:"variance_noise"`
	// EqualResamples is the number of resamples with which retraining has the same error in the variances,
	// and SpeedupEqualAccuracy their time by the fastest way over theory_s. If VarianceError is 0 both are
	// lower bounds, from the resamples drawn, and EqualIsBound is set.
	EqualResamples       float64 `json:"equal_resamples"`
	SpeedupEqualAccuracy float64 `json:"speedup_equal_accuracy"`
	EqualIsBound         bool    `json:"equal_is_bound"`
}
