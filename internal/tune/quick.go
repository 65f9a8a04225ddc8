package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/gp"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Sizes of QuickFit: it looks at so many examples, taken at random but always the same.
// Leave-one-out of 500 takes milliseconds per model, the theory of 300 some 30 ms.
const (
	quickRegression = 500
	quickLabels     = 300
)

// Grids of QuickFit. Gamma is in units of one over half the mean squared distance between
// examples, which is the number of features where these are standardised.
var (
	quickGammas = []float64{0.05, 0.126, 0.316, 0.8, 2}
	quickNoises = []float64{0.01, 0.027, 0.07, 0.19, 0.5} // shares of the variance of the target
	quickCs     = []float64{0.1, 1, 10, 100}
)

// quickRounds is how often the steps of the grid are halved around its best model, and
// quickMoves by how many whole steps the search leaves a grid on whose edge that lies, for
// regression: labels' errors differ less there than they are off.
const (
	quickRounds = 2
	quickMoves  = 4
)

// QuickFit is a model for a data set about which nothing is known.
type QuickFit struct {
	Spec      model.Spec // complete, Kernel.Gamma and the loss found
	Criterion string     // by which models were judged
	Value     float64    // of it
	Examples  int        // that were looked at
	Models    int        // that were judged
}

// Quickly fills in what spec leaves open, by a small search that is the same every
// time: Kernel.Gamma where it is 0, the kernel has one and there is no LengthScale; and
// where Loss is nil, or hinge with class weights but no C, the square loss and its noise for a regression,
// judged by exact leave-one-out, and for labels the hinge loss and its C, judged by the left-out error of the
// theory. Models are judged with a bias if spec has one. A loss
// that is given must be one of the two. progress, if not nil, is called with how many models of about how
// many are judged.
func Quickly(ctx context.Context, spec model.Spec, progress func(done, total int)) (*QuickFit, error) {
	if spec.Set == nil || spec.Set.N() == 0 {
		return nil, fmt.Errorf("%w: there are no examples", model.ErrInput)
	}
	q := &quickSearch{ctx: ctx, spec: spec, progress: progress, unit: 1, fit: QuickFit{Value: math.Inf(1)}}
	if err := q.begin(); err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	best, err := q.search()
	if err != nil {
		return nil, err
	}
	q.fit.Spec = spec
	q.set(&q.fit.Spec, best)
	return &q.fit, ctx.Err()
}

// quickSearch is a Quickly in progress. A point is the logarithms of what is open:
// gamma, and noise or C.
type quickSearch struct {
	ctx      context.Context
	spec     model.Spec // of the examples that are looked at
	fit      QuickFit
	progress func(done, total int)
	axes     [][]float64
	gamma    bool    // is the first axis
	other    bool    // noise or C is the last
	unit     float64 // of gamma: one over half the mean squared distance
	variance float64 // of all targets
	weights  loss.ClassWeights
	moves    int // beyond the grid
	judge    func(spec model.Spec) (float64, error)

	tries
	built *model.Model // the last model whose kernel matrix was made
}

// tries are the points so far.
type tries struct {
	tried   [][]float64
	best    []float64 // whose value is fit.Value
	failure error     // the first
}

// begin finds what is open and how to judge it.
func (q *quickSearch) begin() error {
	set := q.spec.Set
	q.variance = stat.PopVariance(set.Y, nil)
	size, others := quickRegression, quickNoises
	q.moves = quickMoves
	q.judge, q.fit.Criterion = q.leaveOneOut, "exact leave-one-out"
	if set.Task == dataset.Classification {
		size, others, q.moves = quickLabels, quickCs, 0
		q.judge, q.fit.Criterion = q.leftOut, "left-out error of the theory"
	}
	switch l := q.spec.Loss.(type) {
	case nil:
		q.other = true
	case loss.Hinge:
		q.other, q.weights = l.C == 0 && set.Task == dataset.Classification, l.ClassWeights
	case loss.Square:
	default:
		return fmt.Errorf("a quick fit is for the losses square and hinge, not for %s", q.spec.Loss.Name())
	}
	k := q.spec.Kernel
	if k.Scaled() && k.Gamma == 0 && k.LengthScale == nil {
		q.gamma, q.unit = true, 1/halfDistance(set, q.spec.Standardize)
		q.axes = append(q.axes, logs(quickGammas))
	}
	if q.other {
		q.axes = append(q.axes, logs(others))
	}
	if k.Kind != kernel.Precomputed && set.N() > size {
		q.spec.Set = set.Subset(representative(set, size))
	}
	q.fit.Examples = q.spec.Set.N()
	return nil
}

// halfDistance is half the mean squared distance between examples, the sum of the variances
// of the features; 1 where all examples are equal.
func halfDistance(set *dataset.Set, standardized bool) float64 {
	sum := 0.0
	if set.Sparse != nil {
		mean := make([]float64, set.D())
		for at, v := range set.Sparse.Value {
			mean[set.Sparse.Index[at]] += v / float64(set.N())
			sum += v * v / float64(set.N())
		}
		sum -= floats.Dot(mean, mean)
	} else {
		for _, sd := range set.PopulationSD() {
			if standardized && sd > 0 {
				sd = 1
			}
			sum += sd * sd
		}
	}
	if !(sum > 0) {
		return 1
	}
	return sum
}

// representative are the numbers of size examples, each class in its share and at least
// two of it.
func representative(set *dataset.Set, size int) []int {
	order := rand.New(rand.NewPCG(1, 1)).Perm(set.N())
	if set.Task != dataset.Classification {
		return order[:size]
	}
	var rows []int
	for _, label := range []float64{-1, 1} {
		class := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return set.Y[i] != label })
		share := int(math.Round(float64(size) * float64(len(class)) / float64(set.N())))
		rows = append(rows, class[:min(len(class), max(2, share))]...)
	}
	slices.Sort(rows)
	return rows
}

func logs(values []float64) []float64 {
	var l []float64
	for _, v := range values {
		l = append(l, math.Log(v))
	}
	return l
}

// threeDigits rounds, so that what is printed is what was used.
func threeDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return v
}

// set writes a point into a specification.
func (q *quickSearch) set(spec *model.Spec, point []float64) {
	if q.gamma {
		spec.Kernel.Gamma = threeDigits(math.Exp(point[0]) * q.unit)
	}
	value := 0.0
	if q.other {
		value = math.Exp(point[len(point)-1])
	}
	switch {
	case !q.other:
	case spec.Set.Task == dataset.Classification:
		spec.Loss = loss.Hinge{C: threeDigits(value), ClassWeights: q.weights}
	default:
		spec.Loss = loss.Square{Noise: threeDigits(value * q.variance)}
	}
}

// search judges the grid; where its best point lies on the edge, the neighbours beyond, as long as
// one is better; and then twice the neighbours of the best point at half the distance. Beyond
// the edge all neighbours count, as little noise goes with broad kernels.
func (q *quickSearch) search() (best []float64, err error) {
	if err := q.try(product(q.axes)); err != nil {
		return nil, err
	}
	if q.best == nil {
		return nil, cmp.Or(q.failure, fmt.Errorf("%w: %w", model.ErrInput, ErrNone))
	}
	for range q.moves {
		before := q.fit.Value
		if err := q.try(q.beyond(q.best)); err != nil {
			return nil, err
		}
		if !(q.fit.Value < before) {
			break
		}
	}
	for round := range quickRounds {
		if err := q.try(q.around(q.best, math.Exp2(-float64(round+1)))); err != nil {
			return nil, err
		}
	}
	return q.best, nil
}

// try judges points that were not judged before. Of equals the first counts, the smoother
// model. One that cannot be trained is passed over, unless none can.
func (q *quickSearch) try(points [][]float64) error {
	for _, point := range points {
		if slices.ContainsFunc(q.tried, func(p []float64) bool { return floats.EqualApprox(p, point, 1e-6) }) {
			continue
		}
		q.tried = append(q.tried, point)
		value, err := q.value(point)
		switch {
		case q.ctx.Err() != nil:
			return q.ctx.Err()
		case err != nil:
			q.failure = cmp.Or(q.failure, err)
		case value < q.fit.Value:
			q.fit.Value, q.best = value, point
		}
	}
	return nil
}

// around are the neighbours of a point along the axes, a share of a step away.
func (q *quickSearch) around(center []float64, share float64) (points [][]float64) {
	for a, axis := range q.axes {
		for _, sign := range []float64{-1, 1} {
			point := slices.Clone(center)
			point[a] += sign * share * (axis[1] - axis[0])
			points = append(points, point)
		}
	}
	return points
}

// beyond are the neighbours of a point, a whole step away, that lie outside of the grid.
func (q *quickSearch) beyond(point []float64) [][]float64 {
	var around [][]float64
	for a, axis := range q.axes {
		step := axis[1] - axis[0]
		around = append(around, []float64{point[a] - step, point[a], point[a] + step})
	}
	return slices.DeleteFunc(product(around), func(p []float64) bool {
		const rounding = 1e-6
		for a, axis := range q.axes {
			if p[a] < axis[0]-rounding || p[a] > axis[len(axis)-1]+rounding {
				return false
			}
		}
		return true
	})
}

// product are all points of a grid, the last axis fastest; one without coordinates for no
// axes.
func product(axes [][]float64) [][]float64 {
	points := [][]float64{{}}
	for _, axis := range axes {
		var next [][]float64
		for _, p := range points {
			for _, v := range axis {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		points = next
	}
	return points
}

// value judges the model of a point.
func (q *quickSearch) value(point []float64) (float64, error) {
	q.fit.Models++
	if q.progress != nil {
		total := 1 + 2*quickRounds*len(q.axes)
		for _, a := range q.axes {
			total += len(a)
		}
		q.progress(q.fit.Models, max(total, q.fit.Models))
	}
	spec := q.spec
	q.set(&spec, point)
	return q.judge(spec)
}

// model is that of spec: the last one with another loss where only that differs.
func (q *quickSearch) model(spec model.Spec) (*model.Model, error) {
	if q.built != nil && q.built.Kernel.Gamma == spec.Kernel.Gamma {
		q.built.Loss = spec.Loss
		return q.built, nil
	}
	m, err := model.Build(spec)
	if err == nil {
		q.built = m
	}
	return m, err
}

// leaveOneOut is the mean square of the left-out residuals.
func (q *quickSearch) leaveOneOut(spec model.Spec) (float64, error) {
	m, err := q.model(spec)
	if err != nil {
		return 0, err
	}
	square, ok := spec.Loss.(loss.Square)
	if !ok {
		return 0, fmt.Errorf("%w: loss %s is for labels", model.ErrInput, spec.Loss.Name())
	}
	residuals, err := gp.Residuals(m.Matrix(), m.Site, m.Set.Y, square.Noise)
	if err != nil {
		return 0, err
	}
	return floats.Dot(residuals, residuals) / float64(len(residuals)), nil
}

// quickTolerance is the residual to which the theory is solved: its error then moves in the
// fifth digit.
const quickTolerance = 1e-3

// leftOut is the theory's share of errors on examples that a resample leaves out. (Over 20 splits of nine
// sets of labels the held-out error of the model chosen by it is 0.98 of that chosen by a 5-fold grid search,
// both with a bias; of the model chosen by .632+ 1.01.)
func (q *quickSearch) leftOut(spec model.Spec) (float64, error) {
	m, err := q.model(spec)
	if err != nil {
		return 0, err
	}
	s, err := m.Solve(q.ctx, resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: quickTolerance,
		MaxSweeps: 50})
	if err != nil {
		return 0, err
	}
	value, _ := s.LeftOut(loss.ZeroOne{})
	return value, nil
}
