package solver

import (
	"fmt"
	"time"

	"bootbench/linalg"
)

// Retarget is the solution of the same problem with other targets, for the square loss. d and the cavities' c
// do not depend on the targets (T10), so the fields and the variances (T11) follow from the present G: two
// products and one linear system instead of a solve. tolerance is the solve's.
func (s *Solution) Retarget(y []float64, tolerance float64) (*Solution, error) {
	p := s.Problem
	p.Y = y
	if err := p.check(); err != nil {
		return nil, err
	}
	sites, err := p.sites()
	if err != nil {
		return nil, err
	}
	quadratic := quadraticSites(sites)
	if quadratic == nil || s.Method == MeanField {
		return nil, fmt.Errorf("%w: the G of other targets is another one, for loss %q and method %v",
			ErrProblem, p.Loss.Name(), s.Method)
	}
	settings, err := Settings{Tolerance: tolerance}.withDefaults(len(sites))
	if err != nil {
		return nil, err
	}
	other := &Solution{Problem: p, Method: s.Method, Status: s.Status, Residual: s.Residual,
		Stats: Stats{Sweeps: s.Stats.Sweeps, Refreshes: s.Stats.Refreshes}, SitePrecision: s.SitePrecision,
		sites: sites, engine: s.engine}
	return other, s.Read(func(linalg.Engine) error {
		(&run{settings: settings, Solution: other, quadratic: quadratic, began: time.Now()}).readOut()
		return nil
	})
}
