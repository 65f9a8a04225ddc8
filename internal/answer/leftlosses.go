package answer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/blas"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/linalg"
	"bootbench/resample"
)

// trial is a fit to targets, without some rows, that is tested on the first ones of these.
type trial struct {
	without []int
	tested  int
	of      *dataset.Set
}

// trials are the fits without each fold of a cross-validation of a set.
func (v *Validation) trials(set *dataset.Set) (all []trial, err error) {
	p, err := v.folds(set)
	if err != nil {
		return nil, err
	}
	weight, plan := make([]float64, set.N()), resample.Resamples{Scheme: p.Sampler}
	for r := range p.Period() * p.repeats {
		p.Draw(v.Seed, r, weight)
		var rows []int
		first, end := resample.Tested(plan, r, set.N())
		for i := first; i < set.N(); i++ {
			if weight[i] == 0 {
				rows = append(rows, i)
			}
		}
		tested, _ := slices.BinarySearch(rows, end)
		all = append(all, trial{rows, tested, set})
	}
	return all, nil
}

// judge returns the losses of a row of in by the predictions of all functions: the study's, and of several
// targets also the square of each.
func (s *Study) judge(in *dataset.Inputs) func(i int, f []float64) []float64 {
	if s.classes() {
		decision, scores := s.decision(), make([]float64, len(s.Model.Set.Levels()))
		return func(i int, f []float64) []float64 {
			if decision.Scores(scores, f); floats.MaxIdx(scores) != int(in.Columns[0].Y[i]) {
				return []float64{1}
			}
			return []float64{0}
		}
	}
	var y [][]float64
	var share []float64
	for _, p := range s.parts() {
		y = append(y, p.targetsOf(in))
		variance := stat.PopVariance(p.targets(), s.Model.Set.Weights)
		share = append(share, 1/(float64(len(s.Model.Functions))*variance))
	}
	return func(i int, f []float64) []float64 {
		if len(y) == 1 {
			return []float64{s.Test.Value(f[0], y[0][i])}
		}
		losses := make([]float64, 1+len(y))
		for k := range y {
			losses[1+k] = s.Test.Value(f[k], y[k][i])
			losses[0] += share[k] * losses[1+k]
		}
		return losses
	}
}

// trialsOf are fits without some rows each, which are tested on these.
func trialsOf(without [][]int, of *dataset.Set) (all []trial) {
	for _, rows := range without {
		all = append(all, trial{rows, len(rows), of})
	}
	return all
}

// fields are, by trial, the predictions of all functions, row after row, NaN where ctx has ended a fit.
func (s *Study) fields(ctx context.Context, v *Validation, trials []trial) ([][]float64, error) {
	functions := len(s.Model.Functions)
	fields := make([][]float64, len(trials))
	for r, t := range trials {
		fields[r] = slices.Repeat([]float64{math.NaN()}, functions*t.tested)
	}
	known := &sync.Map{}
	for _, p := range s.parts() {
		of, plan := p.model.Function, resample.Without{}
		targets := map[*dataset.Set][]float64{s.Model.Set: p.model.Y}
		var err error
		for _, t := range trials {
			if targets[t.of] == nil {
				y := slices.Clone(p.targetsOf(t.of))
				floats.AddConst(-of.Mean, y)
				floats.Scale(1/of.Unit, y)
				targets[t.of] = y
			}
			plan.Rows, plan.Y = append(plan.Rows, t.without), append(plan.Y, targets[t.of])
		}
		if v.Choose == nil && s.Model.Set.N() <= mostPaired && model.CanDowndate(p.model) &&
			s.Model.Set.AreNumbers() {
			err = p.leaveOut(ctx, trials, plan.Y, fields)
		} else {
			settings := model.RetrainSettings{Plan: plan}
			settings.Resamples, settings.Workers = len(trials), v.Workers
			settings.OnFit = func(r int, _, f []float64) {
				for k, i := range trials[r].without[:trials[r].tested] {
					fields[r][k*functions+p.number] = of.Mean + of.Unit*f[p.model.Site[i]]
				}
			}
			_, err = v.fits(ctx, p, riskFolds, settings, known)
		}
		if err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func (s *Study) judged(trials []trial, fields [][]float64) (all [][][]float64) {
	functions, judges := len(s.Model.Functions), map[*dataset.Set]func(int, []float64) []float64{}
	for r, t := range trials {
		if judges[t.of] == nil {
			judges[t.of] = s.judge(t.of)
		}
		for k, i := range t.without[:t.tested] {
			f := fields[r][k*functions:][:functions]
			for at, loss := range judges[t.of](i, f) {
				if at == len(all) {
					all = append(all, make([][]float64, len(trials)))
				}
				if floats.HasNaN(f) {
					loss = math.NaN()
				}
				all[at][r] = append(all[at][r], loss)
			}
		}
	}
	return all
}

// leftOut is what exact fits say of the rows that they lack: losses by judge, predictions by function, and,
// of a measure, its losses and the wrong labels; each by row.
type leftOut struct{ losses, fields, measured [][]float64 }

func zeros(lists, n int) (all [][]float64) {
	for range lists {
		all = append(all, make([]float64, n))
	}
	return all
}

// leaveOut is what fits without folds say of their rows, for each list of folds that share no row.
func (s *Study) leaveOut(ctx context.Context, v *Validation, lists ...[][]int) (all []leftOut, err error) {
	functions, n := len(s.Model.Functions), s.Model.Set.N()
	trials := trialsOf(slices.Concat(lists...), s.Model.Set)
	fields, err := s.fields(ctx, v, trials)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	losses, r := s.judged(trials, fields), 0
	for _, folds := range lists {
		l := leftOut{losses: zeros(len(losses), n), fields: zeros(functions, n)}
		for _, rows := range folds {
			for k, i := range rows {
				for at := range losses {
					l.losses[at][i] = losses[at][r][k]
				}
				for of := range functions {
					l.fields[of][i] = fields[r][k*functions+of]
				}
			}
			r++
		}
		all = append(all, l)
	}
	return all, nil
}

// measure adds the study's measure of the rows, all of which were left out.
func (l *leftOut) measure(s *Study) error {
	each, wrong := s.Measure.Losses(l.fields[0], s.Model.Y, s.Model.Set.Weights)
	if l.measured = [][]float64{each, wrong}; each == nil {
		return errFewOfClass
	}
	return nil
}

// leaveOut sets the fields of trials of the square loss in closed form: those without the same rows together.
func (p *part) leaveOut(ctx context.Context, trials []trial, targets, fields [][]float64) error {
	began := time.Now()
	inverse, err := p.model.Inverse()
	if err != nil {
		return err
	}
	var alike [][]int // trials
	at := map[*int]int{}
	for r, t := range trials {
		if len(t.without) == 0 {
			continue
		}
		if _, known := at[&t.without[0]]; !known {
			at[&t.without[0]], alike = len(alike), append(alike, nil)
		}
		k := at[&t.without[0]]
		alike[k] = append(alike[k], r)
	}
	of, functions, n := p.model.Function, len(p.study.Model.Functions), p.model.Set.N()
	failed := make([]error, len(alike))
	blas.SingleThreaded(func() {
		linalg.Parallel(len(alike), func(k int) {
			if ctx.Err() != nil {
				return
			}
			count := len(alike[k])
			y := blas64.General{Rows: n, Cols: count, Stride: count, Data: make([]float64, n*count)}
			for column, r := range alike[k] {
				for i, v := range targets[r] {
					y.Data[i*count+column] = v
				}
			}
			var f blas64.General
			if f, failed[k] = inverse.LeaveOut(trials[alike[k][0]].without, y); failed[k] != nil {
				return
			}
			for column, r := range alike[k] {
				for j := range trials[r].tested {
					fields[r][j*functions+p.number] = of.Mean + of.Unit*f.Data[j*count+column]
				}
			}
		})
	})
	p.study.Times.Retrain += time.Since(began).Seconds()
	return cmp.Or(failed...)
}

// folded are the rows of a set in the folds of random partitions, one partition after the other.
type folded struct {
	set  *dataset.Set
	v    Validation // whose folds they are
	rows [][]int    // by fold
	each int        // the number of folds of a partition
}

// folded has the folds of the study's rows.
func (s *Study) folded(v Validation) (*folded, error) {
	p, err := v.folds(s.Model.Set)
	if err != nil {
		return nil, err
	}
	f := &folded{set: s.Model.Set, v: v, each: p.Period()}
	all, err := v.trials(s.Model.Set)
	for _, t := range all {
		f.rows = append(f.rows, t.without)
	}
	return f, err
}

func (f *folded) partitions() [][][]int { return slices.Collect(slices.Chunk(f.rows, f.each)) }
