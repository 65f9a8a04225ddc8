package answer

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// classWeighted is a plan whose rows have further weights, by fit.
type classWeighted struct {
	resample.Without
	of [][]float64
}

// Fit implements resample.Plan.
func (p classWeighted) Fit(r int, weight []float64) []float64 {
	y := p.Without.Fit(r, weight)
	floats.Mul(weight, p.of[r])
	return y
}

// The path of class weights has the weight of +1 over the weight of -1 in factors of 2, from 1/widestWeight
// to widestWeight times the ratio that gives both classes the same weight, beyond which one class is all that
// is predicted; and 1, the model as it is.
const widestWeight = 16

// CheckROC refuses models that have no ROC by class weights.
func CheckROC(spec *model.Spec) error {
	if t := loss.TraitsOf(spec.Loss); t.Proximal == nil || math.IsInf(t.C, 1) || len(spec.Set.Levels()) != 2 {
		return model.InputError(errors.New("the ROC is of two labels and a loss with weights of rows (not " +
			"hard, probit, logit)"))
	}
	return nil
}

// AddROC adds the sensitivity and the specificity of the model along a path of class weights, by exact fits
// without each of ten folds: the receiver operating characteristic by training again, whose models differ,
// where thresholds of one model only shift its decision. The mean weight of a row is 1.
func (s *Study) AddROC(ctx context.Context, a *report.Answer, seed uint64, level float64) {
	if a.Status != Complete || ctx.Err() != nil {
		return
	}
	if roc, err := s.roc(ctx, seed, level); !missing(ctx, a, err, "no ROC") {
		a.ROC = roc
	}
}

func (s *Study) roc(ctx context.Context, seed uint64, level float64) (*report.ROC, error) {
	if err := CheckROC(&s.Model.Spec); err != nil {
		return nil, err
	}
	set, v, y := s.Model.Set, tenFolds(s.Model.Set), s.Model.Y
	v.Seed, v.Repeats, v.ErrorsAlone = seed, min(measuredPartitions, partitionsOf(set.N())), true
	left, err := s.folded(v)
	if err != nil {
		return nil, err
	}
	wider, err := s.wider(ctx, seed)
	if err != nil {
		return nil, err
	}
	var rows [2][]int // of -1 and +1
	for i, label := range y {
		class := int(math.Max(0, label))
		rows[class] = append(rows[class], i)
	}
	ratios := []float64{1}
	for r := 1.0 / widestWeight; r <= widestWeight; r *= 2 {
		ratios = append(ratios, r*float64(len(rows[0]))/float64(len(rows[1])))
	}
	slices.Sort(ratios)
	ratios = slices.Compact(ratios)
	var plan classWeighted
	n, positive := float64(len(y)), float64(len(rows[1]))
	for _, ratio := range ratios {
		negative, of := n/(n-positive+ratio*positive), make([]float64, len(y))
		for i, label := range y {
			if of[i] = negative; label > 0 {
				of[i] *= ratio
			}
		}
		for _, out := range left.rows {
			plan.Rows, plan.Y, plan.of = append(plan.Rows, out), append(plan.Y, y), append(plan.of, of)
		}
	}
	right := zeros(len(ratios), len(y)) // share of the partitions, by row
	p, settings := s.part(0), model.RetrainSettings{Plan: plan}
	settings.Resamples, settings.Progress = len(plan.Rows), s.counting("fit of the ROC")
	settings.OnFit = func(r int, _, f []float64) {
		for _, i := range plan.Rows[r] {
			wrong := loss.ZeroOne{}.Value(f[s.Model.Site[i]], y[i])
			right[r/len(left.rows)][i] += (1 - wrong) / float64(v.Repeats)
		}
	}
	if loss.TraitsOf(s.Model.Loss).Quadratic { // downdates have one weight of all rows
		v.Method = model.Single
	}
	if _, err := v.fits(ctx, p, riskFolds, settings, nil); err != nil || ctx.Err() != nil {
		return nil, err
	}
	roc := &report.ROC{Weights: ratios}
	for _, each := range right {
		for class, to := range []*report.Shares{&roc.Specificity, &roc.Sensitivity} {
			x := riskOf(set.Subset(rows[class]), at(each, rows[class]))
			x.se *= wider
			lower, upper := math.NaN(), math.NaN()
			if x.of.each = left.each; x.hasInterval() {
				q := x.quoteOf(loss.ZeroOne{}.Name(), level)
				lower, upper = float64(*q.Lower), float64(*q.Upper)
			}
			to.Value, to.SE = append(to.Value, x.error), append(to.SE, x.se)
			to.Lower, to.Upper = append(to.Lower, lower), append(to.Upper, upper)
		}
	}
	x, z := []float64{0}, []float64{0}
	for k := range ratios {
		x, z = append(x, math.Max(x[k], 1-roc.Specificity.Value[k])), append(z, roc.Sensitivity.Value[k])
	}
	roc.Area = report.Number(integrate.Trapezoidal(append(x, 1), append(z, 1)))
	return roc, nil
}
