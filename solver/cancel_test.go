package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// watched is a hinge loss that counts how often its sites are asked, and calls at at
// one of these times.
type watched struct {
	loss.Hinge
	asked *atomic.Int64
	at    int64
	call  func()
}

type watchedSite struct {
	loss.Site
	of watched
}

func (l watched) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	site, err := l.Hinge.Site(y, law)
	return watchedSite{site, l}, err
}

func (s watchedSite) Moments(cav loss.Cavity) loss.Moments {
	if s.of.asked.Add(1) == s.of.at {
		s.of.call()
	}
	return s.Site.Moments(cav)
}

// standsAtItsSites recomputes the means at the sites from D and Gamma with an engine of
// its own: G was not left where a step broke off.
func standsAtItsSites(t *testing.T, what string, p solver.Problem, s *solver.Solution) {
	t.Helper()
	finite(t, s)
	k := p.Gram.(*linalg.Sym)
	own := symmetric(k.N(), k.At)
	e := linalg.NewCholeskyEngine(own)
	if err := e.Factorize(s.SitePrecision); err != nil {
		t.Fatal(err)
	}
	e.FormG()
	chi, _ := e.Diag()
	mean := make([]float64, len(chi))
	e.MulVecOffDiag(mean, s.SiteMean)
	for i, g := range s.SiteMean {
		mean[i] += chi[i] * g
	}
	same(t, what+": mean", s.Mean, mean, 1e-8)
}

// TestCancelAmongSites calls a solve off while sites are being asked, at every stage
// in turn but for the last look at d and its limits, when it has converged. From then
// on (counted when the call is through: until then other goroutines go on) the
// goroutines finish the sites that they are at, up to the next look, and no
// other site is asked again; the iterate before stays.
func TestCancelAmongSites(t *testing.T) {
	p := kernelOf(t, "sonar", 0.5)
	p.Law = resample.Poisson{Ratio: 1}
	total := new(atomic.Int64)
	p.Loss = watched{Hinge: loss.Hinge{C: 1}, asked: total}
	mustConverge(t, p, solver.Settings{})
	runs, cancelled := int64(23), 0
	for run := range runs {
		ctx, cancel := context.WithCancel(context.Background())
		asked, at := new(atomic.Int64), 1+(total.Load()-int64(2*p.Gram.N()))*run/runs
		through := int64(0)
		p.Loss = watched{Hinge: loss.Hinge{C: 1}, asked: asked, at: at, call: func() {
			cancel()
			through = asked.Load()
		}}
		s, err := solver.Solve(ctx, p, solver.Settings{})
		cancel()
		after := asked.Load() - through
		if most := int64(24 * runtime.GOMAXPROCS(0)); after > most { // 8 sites, three questions each
			t.Errorf("called off at question %d: %d more", at, after)
		}
		if errors.Is(err, context.Canceled) && s == nil && run < runs/4 {
			continue // before the first sweep
		}
		stopped(t, s, err, solver.Cancelled)
		standsAtItsSites(t, fmt.Sprintf("called off at question %d of %d", at, total.Load()), p, s)
		cancelled++
	}
	if cancelled < 15 {
		t.Errorf("only %d of %d solves were called off on their way", cancelled, runs)
	}
}

// calledOff is an exact engine during one of whose refreshes the solve is called off.
type calledOff struct {
	linalg.Engine
	refreshes, at int
	call          func()
	after         int // refreshes begun since
}

func (e *calledOff) Factorize(d []float64) error {
	if e.refreshes++; e.refreshes > e.at {
		e.after++
	}
	if e.refreshes == e.at {
		e.call()
	}
	return e.Engine.Factorize(d)
}

// SingleError keeps the solve in double precision, where every refresh is counted.
func (e *calledOff) SingleError([]float64) float64 { return math.Inf(1) }

// TestCancelInRefresh: a refresh is finished, and is the last one.
func TestCancelInRefresh(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 1}} {
		p := kernelOf(t, "sonar", 0.5)
		p.Law, p.Loss = resample.Poisson{Ratio: 1}, l
		for at := 1; at <= 5; at++ {
			ctx, cancel := context.WithCancel(context.Background())
			e := &calledOff{at: at, call: cancel}
			s, err := solver.Solve(ctx, p, solver.Settings{Engine: func(k linalg.Kernel) linalg.Engine {
				e.Engine = k.Engine()
				return e
			}})
			cancel()
			stopped(t, s, err, solver.Cancelled)
			standsAtItsSites(t, fmt.Sprintf("%s, called off in refresh %d", l.Name(), at), p, s)
			if e.after > 0 || s.Stats.Sweeps != at {
				t.Errorf("%s: called off in refresh %d, %d more and %d sweeps", l.Name(), at, e.after, s.Stats.Sweeps)
			}
		}
	}
}
