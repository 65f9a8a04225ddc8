package gp

import (
	"cmp"
	"fmt"
	"slices"

	"bootbench/linalg"

	"gonum.org/v1/gonum/blas/blas64"
)

// Naive fits a training set row by row: S rows make an S x S system, however
// often a row is repeated. It is what retraining costs when nothing is merged,
// and the plain reference for Trainer; it serves no other purpose.
type Naive struct {
	noise  float64
	system system
	ridge  []float64 // noise, of each row
	order  []int     // rows by ascending site
	index  []int     // their sites
	beta   []float64 // the right side, then the solution, in that order
	alpha  []float64 // beta summed over the rows of each site
}

// NewNaive returns an untrained Naive for kernel matrix k (M x M) and noise
// variance noise, which must be positive as soon as a row is repeated.
func NewNaive(k *linalg.Sym, noise float64) (*Naive, error) {
	if err := checkNoise(noise); err != nil {
		return nil, err
	}
	return &Naive{noise: noise, system: system{kernel: k}, alpha: make([]float64, k.N())}, nil
}

// Fit trains on the rows whose sites (0 to M-1) and targets are given.
func (n *Naive) Fit(site []int, target []float64) error {
	if err := n.begin(site, target); err != nil {
		return err
	}
	n.system.gather(n.index, len(site))
	n.ridge = n.ridge[:0]
	for range n.index {
		n.ridge = append(n.ridge, n.noise)
	}
	if err := n.system.solve(n.beta, n.index, n.ridge); err != nil {
		return err
	}
	for p, i := range n.index {
		n.alpha[i] += n.beta[p]
	}
	return nil
}

// begin forgets the last training set and sorts the rows of the next by site.
func (n *Naive) begin(site []int, target []float64) error {
	clear(n.alpha)
	if len(site) != len(target) {
		return fmt.Errorf("%d sites and %d targets do not match", len(site), len(target))
	}
	n.order, n.index, n.beta = n.order[:0], n.index[:0], n.beta[:0]
	for r, i := range site {
		if i < 0 || i >= len(n.alpha) {
			return fmt.Errorf("row %d names site %d of %d", r+1, i+1, len(n.alpha))
		}
		n.order = append(n.order, r)
	}
	slices.SortStableFunc(n.order, func(r, s int) int { return cmp.Compare(site[r], site[s]) })
	for _, r := range n.order {
		n.index = append(n.index, site[r])
		n.beta = append(n.beta, target[r])
	}
	return nil
}

// Predict writes the fit at all M sites into f (length M).
func (n *Naive) Predict(f []float64) error {
	m := len(n.alpha)
	if len(f) != m {
		return fmt.Errorf("%d places do not fit %d sites", len(f), m)
	}
	if m == 0 {
		return nil
	}
	blas64.Symv(1, n.system.kernel.Raw(),
		blas64.Vector{N: m, Data: n.alpha, Inc: 1}, 0,
		blas64.Vector{N: m, Data: f, Inc: 1})
	return nil
}
