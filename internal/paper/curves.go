package paper

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Curve is a learning curve: the left-out error against the size of resamples.
type Curve struct {
	Name   string  // of the data set
	Theory []Point // one per method and ratio, methods in a row
	Naive  []Point // retraining
}

// Point is one error of a curve.
type Point struct {
	Method string // as solver.Method has it; "" for retraining
	Ratio  float64
	Error  float64
	SE     float64 // of retraining; 0 for the theory
	Status string  // of the solve; "" for retraining
}

// Ratios of the learning curves: the theory is dense, retraining is not.
var (
	theoryRatios = spacedRatios(0.1, 5, 18)
	naiveRatios  = []float64{0.1, 0.2, 0.35, 0.6, 1, 1.7, 3, 5}
)

// spacedRatios are n ratios in equal factors. Both ends are exact, which those of
// floats.LogSpan are not.
func spacedRatios(from, to float64, n int) []float64 {
	ratios := floats.LogSpan(make([]float64, n), from, to)
	ratios[0], ratios[n-1] = from, to
	return ratios
}

// Boston is M03's model of the Boston housing data.
func Boston() (model.Spec, error) { return embedded("boston") }

func embedded(name string) (model.Spec, error) {
	set, err := dataset.Open(name)
	if err != nil {
		return model.Spec{}, err
	}
	preset, _ := model.PresetFor(set)
	return model.Spec{Set: set, Kernel: preset.Kernel, Loss: preset.Loss, Standardize: preset.Standardize}, nil
}

// robotScale is l^2 of M03's kernel exp(-sum_j (x_j - x'_j)^2/(v_j l^2)) on the
// robot arm, v_j the variance of input j.
const robotScale = 3

// Robot is M03's model of the robot arm (pumadyn-8nm): the first 500 examples.
func Robot(set *dataset.Set) (model.Spec, error) {
	const n = 500
	if set.N() < n || set.D() != 8 {
		return model.Spec{}, fmt.Errorf("%w: %s has %d examples of %d features; the robot arm has at least %d of 8",
			model.ErrInput, set.Name, set.N(), set.D(), n)
	}
	head := set.Head(n)
	head.Name = "robot arm"
	scales := head.PopulationSD()
	for j, sd := range scales {
		scales[j] = sd * math.Sqrt(robotScale/2.)
	}
	return model.Spec{Set: head, Kernel: kernel.Spec{Kind: kernel.RBF, LengthScale: scales},
		Loss: loss.Square{Noise: 0.01}}, nil
}

// LearningCurve computes the left-out error against the ratio by methods of the theory and by retraining:
// with all methods it is M03 figure 1, left.
func LearningCurve(ctx context.Context, spec model.Spec, test loss.Test, methods []solver.Method,
	s Settings) (*Curve, error) {
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	c := &Curve{Name: spec.Set.Name}
	for _, method := range methods {
		if err := c.theory(ctx, m, test, method); err != nil {
			return nil, err
		}
	}
	for _, ratio := range naiveRatios {
		ref, err := s.retrain(ctx, m, resample.Poisson{Ratio: ratio}, test, blas64.General{}, 1)
		if err != nil {
			return nil, err
		}
		c.Naive = append(c.Naive, Point{Ratio: ratio, Error: ref.LeftOut[0].Error, SE: ref.LeftOut[0].SE})
	}
	return c, nil
}

// ClassificationCurves are the curves of M04 figure 1, left: crabs, wisconsin,
// sonar and pima with a hard margin.
func ClassificationCurves(ctx context.Context, s Settings) ([]*Curve, error) {
	var curves []*Curve
	for _, name := range []string{"crabs", "wisconsin", "sonar", "pima"} {
		spec, err := embedded(name)
		if err != nil {
			return nil, err
		}
		c, err := LearningCurve(ctx, spec, loss.ZeroOne{}, []solver.Method{solver.ADATAP}, s)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return curves, nil
}

// theory adds one method's line to the curve.
func (c *Curve) theory(ctx context.Context, m *model.Model, test loss.Test, method solver.Method) error {
	var from *solver.Solution
	for _, ratio := range theoryRatios {
		settings := solver.Settings{Method: method}
		if method == solver.ADATAP {
			settings.From = from
		}
		s, err := m.Solve(ctx, resample.Poisson{Ratio: ratio}, settings)
		if err != nil {
			return fmt.Errorf("%s at ratio %v: %w", c.Name, ratio, err)
		}
		if s.Status == solver.Cancelled {
			return ctx.Err()
		}
		error, _ := s.LeftOut(test)
		c.Theory = append(c.Theory, Point{Method: method.String(), Ratio: ratio, Error: error,
			Status: s.Status.String()})
		if from = nil; s.Status == solver.Converged {
			from = s
		}
	}
	return nil
}
