package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/sbinet/npyio"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
)

// lawFlags ask for more of the law over resamples than its mean and variance.
type lawFlags struct {
	quantiles  values.Floats
	covariance string
	fits       []float64 // of the exact resamples at all points, one after the other
}

func (l *lawFlags) register(f *pflag.FlagSet, points string) {
	f.Var(&l.quantiles, "quantiles",
		"quantiles over resamples of the prediction at all "+points+", `Q[,Q...]` between 0 and 1, such as "+
			"0.05,0.5,0.95; default: none")
	f.StringVar(&l.covariance, "covariance", "",
		"write the covariances over resamples of the predictions at all "+points+" to `FILE`.npy; default: none")
}

// check reads what can be read before DATA is.
func (l *lawFlags) check() error {
	for _, q := range l.quantiles {
		if !(q > 0 && q < 1) {
			return usage.Errorf("--quantiles has %v, must lie between 0 and 1", q)
		}
	}
	return nil
}

// checkRows refuses covariances that do not fit.
func (l *lawFlags) checkRows(points int, limit int64) error {
	if l.covariance == "" {
		return nil
	}
	return linalg.CheckMemory(16*int64(points)*int64(points), limit,
		fmt.Sprintf("the covariances of %d predictions", points))
}

// collects keeps the fits of exact resamples for the quantiles, if any are asked for, beside what sees them
// already.
func (l *lawFlags) collects(wanted *refinement) {
	if len(l.quantiles) == 0 {
		return
	}
	before := wanted.onFit
	wanted.onFit = func(b int, weight, f []float64) {
		if before != nil {
			before(b, weight, f)
		}
		if b == 0 { // the first begins anew
			l.fits = nil
		}
		l.fits = append(l.fits, f...)
	}
}

// lawPoints are points with the law of each by the theory, and their places among the
// predictions of an exact resample.
type lawPoints struct {
	*report.Points
	law   func(point int) loss.Distribution
	place func(point int) int
	width int // predictions of a resample
	shift float64
}

// replicates are the exact fits at a point, in rising order.
func (l *lawFlags) replicates(p lawPoints, point int) []float64 {
	var values []float64
	for at := p.place(point); at < len(l.fits); at += p.width {
		values = append(values, l.fits[at]+p.shift)
	}
	slices.Sort(values)
	return values
}

// add adds quantiles to the points, and to the refined ones if there are any.
func (l *lawFlags) add(p lawPoints, refined *report.Points) {
	if len(l.quantiles) == 0 {
		return
	}
	points := len(p.Mean)
	levels := []float64(l.quantiles)
	p.QuantileLevels, p.Quantiles = levels, l.quantilesOf(points, func(point int) func(q float64) float64 {
		law := p.law(point)
		return func(q float64) float64 { return law.Quantile(q) + p.shift }
	})
	if refined == nil || len(l.fits) == 0 {
		return
	}
	refined.QuantileLevels, refined.Quantiles = levels,
		l.quantilesOf(points, func(point int) func(q float64) float64 {
			values := l.replicates(p, point)
			return func(q float64) float64 { return stat.Quantile(q, stat.Empirical, values, nil) }
		})
}

// quantilesOf are lists over the points, one for each of the levels.
func (l *lawFlags) quantilesOf(points int, of func(point int) func(q float64) float64) []null.Floats {
	lists := make([]null.Floats, len(l.quantiles))
	for k := range lists {
		lists[k] = make([]float64, points)
	}
	linalg.Parallel(points, func(point int) {
		quantile := of(point)
		for k, q := range l.quantiles {
			lists[k][point] = quantile(q)
		}
	})
	return lists
}

// writeCovariance writes a matrix where it was asked for.
func (l *lawFlags) writeCovariance(compute func() (blas64.General, error)) error {
	if l.covariance == "" {
		return nil
	}
	c, err := compute()
	if err != nil {
		return err
	}
	return files.Replace(l.covariance,
		func(w io.Writer) error { return npyio.Write(w, mat.NewDense(c.Rows, c.Cols, c.Data)) })
}

// exampleCovariances spreads a matrix over sites onto the examples.
func (j *job) exampleCovariances(c blas64.General) blas64.General {
	n := j.Set.N()
	out := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, 0, n*n)}
	for _, site := range j.Site {
		out.Data = append(out.Data, j.perExample(c.Data[site*c.Stride:][:c.Cols])...)
	}
	return out
}
