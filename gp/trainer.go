package gp

import (
	"fmt"
	"math"

	"bootbench/blas"
	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Trainer fits weighted training sets over the sites of one kernel matrix, one
// after the other. It takes about 8 n^2 bytes for the largest number n of
// active sites met so far; once that has settled a fit allocates nothing beyond
// what the bound BLAS takes for itself. Trainers that share a
// kernel matrix only read it and may run at the same time; one Trainer serves
// one goroutine.
type Trainer struct {
	noise  float64
	system system
	active []int     // sites with k > 0, ascending
	ridge  []float64 // s2/k over the active sites
	beta   []float64 // the system's right side, then its solution, over the active sites
	fitted []float64 // f at the active sites
	alpha  []float64 // beta spread over all M sites
}

// NewTrainer returns a Trainer for kernel matrix k (M x M, positive
// semidefinite) and noise variance noise >= 0, untrained: it predicts the prior
// mean 0.
func NewTrainer(k *linalg.Sym, noise float64) (*Trainer, error) {
	if err := checkNoise(noise); err != nil {
		return nil, err
	}
	m := k.N()
	return &Trainer{
		noise:  noise,
		system: system{kernel: k},
		active: make([]int, 0, m),
		ridge:  make([]float64, m),
		beta:   make([]float64, m),
		fitted: make([]float64, m),
		alpha:  make([]float64, m),
	}, nil
}

func checkNoise(noise float64) error {
	if !(noise >= 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("the noise variance must be finite and not negative, got %v", noise)
	}
	return nil
}

// Sites is the number M of sites.
func (t *Trainer) Sites() int { return t.system.kernel.N() }

// Fit trains on the set that holds site i count[i] >= 0 times with mean target
// target[i]; both have length M, and targets of sites with count 0 are not
// looked at. A set without rows leaves the prior mean 0. A failed
// factorisation is a *PivotError. After an error the Trainer is untrained.
func (t *Trainer) Fit(count []int, target []float64) error {
	if err := t.begin(count, target); err != nil {
		return err
	}
	n := len(t.active)
	t.system.resize(n, t.Sites())
	t.system.gather(t.active)
	for p, i := range t.active {
		t.ridge[p] = t.noise / float64(count[i])
		t.system.addDiagonal(p, t.ridge[p])
		t.beta[p] = target[i]
	}
	if err := t.system.solve(t.beta[:n], t.active, t.diagonal); err != nil {
		t.active = t.active[:0]
		return err
	}
	t.finish(target)
	return nil
}

// begin forgets the last training set and lists the active sites of the next.
func (t *Trainer) begin(count []int, target []float64) error {
	t.active = t.active[:0]
	clear(t.alpha)
	if err := checkTrainingSet(t.Sites(), count, target); err != nil {
		return err
	}
	for i, k := range count {
		if k > 0 {
			t.active = append(t.active, i)
		}
	}
	return nil
}

func checkTrainingSet(m int, count []int, target []float64) error {
	if len(count) != m || len(target) != m {
		return fmt.Errorf("%d counts and %d targets do not fit %d sites", len(count), len(target), m)
	}
	for i, k := range count {
		if k < 0 {
			return fmt.Errorf("site %d has count %d", i+1, k)
		}
	}
	return nil
}

// diagonal is diagonal element p of the training matrix.
func (t *Trainer) diagonal(p int) float64 {
	i := t.active[p]
	return t.system.kernel.At(i, i) + t.ridge[p]
}

// finish spreads the solution over the sites. The system itself says what f is
// at the active ones: K_aa alpha = t_a - (s2/k_a) alpha.
func (t *Trainer) finish(target []float64) {
	for p, i := range t.active {
		t.alpha[i] = t.beta[p]
		t.fitted[p] = target[i] - t.ridge[p]*t.beta[p]
	}
}

// Alpha is a view of the dual weights over all M sites, f = K alpha, zero where
// the count was 0. The next Fit overwrites it.
func (t *Trainer) Alpha() []float64 { return t.alpha }

// Predict writes the fit at all M sites into f (length M). Active sites cost
// nothing; the others take one pass over the stored triangle of K.
func (t *Trainer) Predict(f []float64) error {
	if len(f) != t.Sites() {
		return fmt.Errorf("%d places do not fit %d sites", len(f), t.Sites())
	}
	if len(t.active) == 0 {
		clear(f)
		return nil
	}
	if len(t.active) < len(f) {
		t.predictInactive(f)
	}
	for p, i := range t.active {
		f[i] = t.fitted[p]
	}
	return nil
}

// predictInactive writes f = K_.a alpha at the sites with count 0, reading each
// row of the triangle once and in order: an active site's row hands its weight
// on to the later sites, an inactive site's row collects theirs. What it leaves
// at active sites has no meaning.
func (t *Trainer) predictInactive(f []float64) {
	clear(f)
	bound, last := blas.Bound(), len(f)-1
	next := 0 // place in t.active of the first active site >= i
	for i := 0; i < last; i++ {
		later := t.system.kernel.Row(i)[1:]
		if next < len(t.active) && t.active[next] == i {
			bound.Daxpy(len(later), t.alpha[i], later, 1, f[i+1:], 1)
			next++
			continue
		}
		f[i] += bound.Ddot(len(later), later, 1, t.alpha[i+1:], 1)
	}
}

// PredictAt writes the fit at P new inputs into f (length P). The cross-kernel
// between the new inputs and the sites is P x M (gonum blas.NoTrans) or M x P
// (blas.Trans).
func (t *Trainer) PredictAt(trans gonum.Transpose, cross blas64.General, f []float64) error {
	return predictAt(trans, cross, t.alpha, f)
}

func predictAt(trans gonum.Transpose, cross blas64.General, alpha, f []float64) error {
	p, m := cross.Rows, cross.Cols
	if trans != gonum.NoTrans {
		p, m = m, p
	}
	if p != len(f) || m != len(alpha) {
		return fmt.Errorf("a cross-kernel of %d x %d does not fit %d new inputs and %d sites", cross.Rows, cross.Cols, len(f), len(alpha))
	}
	if p == 0 || m == 0 {
		clear(f)
		return nil
	}
	blas64.Gemv(trans, 1, cross,
		blas64.Vector{N: m, Data: alpha, Inc: 1}, 0,
		blas64.Vector{N: p, Data: f, Inc: 1})
	return nil
}
