package erm

import (
	"cmp"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// flat is a constant in the kernel and a bias in the loss: the predictor is f + bias, f = (K + constant) a.
type flat struct{ constant, bias float64 }

// ErrNoFiniteBias: no finite bias is optimal, since the loss of one class decreases to infinity.
var ErrNoFiniteBias = errors.New(
	"no finite bias is the best: the training examples are of one class, and the loss keeps falling as the " +
		"predictor grows")

// Limits of the search for the bias.
const (
	flatShare     = 100  // constant as a multiple of the mean K_ii
	maxRounds     = 200  // trainings of one fit
	biasTolerance = 1e-7 // last change of the bias, relative to |bias| and sqrt(constant)
)

// trainWithBias trains f = K a + b with an unpenalised bias b, sum a = 0: the limit of trainings on K + c.
//
// Each round trains on K + c for one c, with the loss shifted by the current bias, and adds c sum a to the
// bias: the proximal point method in b (Rockafellar 1976). It ends when b changes by rounding only, or too
// little to change the objective. If no finite bias is optimal, the error is ErrNoFiniteBias. On one class a
// loss with a flat part, such as the squared hinge, gives the b of zero loss nearest 0.
func (t *Trainer) trainWithBias(p train.Set, s train.Settings) (*Result, error) {
	on := t.system
	variance := floats.Sum(t.diag) / float64(max(1, len(t.diag)))
	t.flat = flat{constant: flatShare * cmp.Or(variance, 1)}
	t.system = &shifted{system: on, constant: t.flat.constant}
	defer func() { t.flat, t.system = flat{}, on }()
	var start []float64
	steps, sweeps := 0, 0
	for round := 1; ; round++ {
		r, err := t.train(p, s, start)
		if err != nil {
			return nil, err
		}
		steps, sweeps = steps+r.Steps, sweeps+r.Sweeps
		r.Steps, r.Sweeps = steps, sweeps
		if round == 1 {
			if b, ok, err := t.set.constant(); err != nil || ok {
				return t.constantResult(b), err
			}
		}
		move := r.Bias - t.flat.bias
		t.flat.bias = r.Bias
		switch {
		case r.Status != train.Converged ||
			math.Abs(move) <= biasTolerance*(math.Sqrt(t.flat.constant)+math.Abs(r.Bias)):
			return r, nil
		case round == maxRounds:
			r.Status = train.IterationLimit
			return r, nil
		}
		start = r.Weight
	}
}

// constantResult is the Result of a constant predictor without loss.
func (t *Trainer) constantResult(b float64) *Result {
	r := &t.result
	clear(r.Weight)
	for i := range r.F {
		r.F[i] = b
	}
	r.Bias, r.Objective, r.Gap, r.Status = b, 0, 0, train.Converged
	return r
}

// shifted is K + constant; only its spread is K's.
type shifted struct {
	system
	constant float64
	ones     []float64 // (K + diag(e))^-1 1, 0 where e is infinite
	sum      float64   // of ones
}

func (s *shifted) mulAdd(dst, x []float64) {
	s.system.mulAdd(dst, x)
	floats.AddConst(s.constant*floats.Sum(x), dst)
}

func (s *shifted) factorise(e []float64) bool {
	if !s.system.factorise(e) {
		return false
	}
	s.ones = workspace.Resize(s.ones, len(e))
	for i := range e {
		s.ones[i] = 1
	}
	s.system.solve(s.ones)
	s.sum = floats.Sum(s.ones)
	return true
}

// solve uses the formula of Sherman and Morrison.
func (s *shifted) solve(b []float64) {
	s.system.solve(b)
	floats.AddScaled(b, -floats.Sum(b)/(1/s.constant+s.sum), s.ones)
}

func (s *shifted) sweep(f, a []float64, visit func(i int, f float64) (float64, error)) error {
	level := s.constant * floats.Sum(a)
	floats.AddConst(-level, f)
	err := s.system.sweep(f, a, func(i int, f float64) (float64, error) {
		step, err := visit(i, f+level)
		level += s.constant * step
		return step, err
	})
	floats.AddConst(level, f)
	return err
}

// far is an |f| beyond which no loss of these examples changes the sign of its slope.
func (l *siteLosses) far() float64 {
	most := 1.0
	for _, y := range l.Y {
		most = max(most, math.Abs(y))
	}
	return 30 * most
}

// pull has the sign of minus the slope of the total loss at a constant predictor f.
func (l *siteLosses) pull(f float64) float64 {
	sum := 0.0
	for i := range l.Active {
		p, _ := l.prox(i, 1, f)
		sum += p - f
	}
	return sum
}

// constant is the constant of zero loss nearest 0; ok if there is one, as for one class under a loss with a
// flat part. If the loss decreases to infinity the error is ErrNoFiniteBias.
func (l *siteLosses) constant() (b float64, ok bool, err error) {
	if len(l.Active) == 0 {
		return 0, true, nil
	}
	for _, far := range []float64{l.far(), -l.far()} {
		switch out := l.pull(far) * far; {
		case out > 0:
			return 0, false, ErrNoFiniteBias
		case out == 0:
			for near := 0.0; ; { // l pulls from near towards b
				if b = (near + far) / 2; b == near || b == far {
					return far, true, nil
				}
				if l.pull(b) == 0 {
					far = b
				} else {
					near = b
				}
			}
		}
	}
	return 0, false, nil
}
