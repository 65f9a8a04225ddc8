package bench

import (
	"context"
	"fmt"
	"time"

	"bootbench/loss"
	"bootbench/solver"
)

// StepsRow is one way of moving G in one solve of the theory: how long the solve
// takes with it, and where the time goes.
type StepsRow struct {
	Data  string  `json:"data"`
	Loss  string  `json:"loss"`
	N     int     `json:"n"`     // examples
	Sites int     `json:"sites"` // distinct inputs
	Ratio float64 `json:"ratio"`
	Steps string  `json:"steps"` // "all", "nocoarse", "nofollow", "double", "nonewton" or "exact"

	TotalS    float64 `json:"total_s"`    // seconds of the fastest of the repeats, from the start value to the left-out error
	ExactS    float64 `json:"exact_s"`    // of them in factorisations in double precision
	SingleS   float64 `json:"single_s"`   // in factorisations in single precision
	FollowS   float64 `json:"follow_s"`   // in small moves of all of G
	WoodburyS float64 `json:"woodbury_s"` // in low-rank updates
	RestS     float64 `json:"rest_s"`     // in everything else: start value, estimates, passes, linear solves, read-outs

	Refreshes solver.Refreshes `json:"refreshes"`
	Linear    int              `json:"linear"` // iterations of linear solves
	Passes    int              `json:"passes"`
	Error     float64          `json:"error"` // left-out error
	Status    string           `json:"status"`

	// LimitS is the time that all of G once, N^3 flops, takes at DgemmGflops, the
	// rate of dgemm at the same order in the same process.
	LimitS      float64 `json:"limit_s"`
	DgemmGflops float64 `json:"dgemm_gflops"`
	Backend     string  `json:"backend"`
	Core        string  `json:"core"`
	Threads     int     `json:"threads"`
}

// variant is a way of moving G.
type variant struct {
	name  string
	steps solver.Steps
	skip  solver.Skip
}

// variants are the ways there are for a loss: all steps; without a start from a factor
// of low rank; without small moves of all
// of G; without single precision, which small moves need; without Newton's method;
// exact refreshes only.
func variants(l loss.Loss) []variant {
	if _, square := l.(loss.Square); square {
		return []variant{
			{name: "all"},
			{name: "nocoarse", skip: solver.SkipCoarse},
			{name: "nofollow", skip: solver.SkipFollow},
			{name: "double", skip: solver.SkipSingle},
			{name: "exact", steps: solver.ExactOnly},
		}
	}
	return []variant{
		{name: "all"},
		{name: "nonewton", skip: solver.SkipNewton},
		{name: "exact", steps: solver.ExactOnly},
	}
}

// Steps solves each experiment with all steps and with each kind left out, and
// hands the rows of an experiment to emit (which may be nil) when it is finished.
// The ways take turns, and each counts with its fastest run. Sizes and ratios are
// checked before any work. When ctx ends or an experiment fails, it returns the
// rows that were finished and the error. Of the settings Seed, Tolerance,
// MaxSweeps and Progress count.
func Steps(ctx context.Context, cases []Case, s Settings, emit func([]StepsRow)) ([]StepsRow, error) {
	s, err := s.withDefaults()
	if err != nil {
		return nil, err
	}
	todo, err := experiments(cases, s)
	if err != nil {
		return nil, err
	}
	groups, err := each(ctx, todo, emit, func(x *experiment) ([]StepsRow, bool, error) {
		rows, err := x.steps(ctx)
		return rows, true, err
	})
	var all []StepsRow
	for _, group := range groups {
		all = append(all, group...)
	}
	return all, err
}

// steps makes the rows of one experiment.
func (x *experiment) steps(ctx context.Context) ([]StepsRow, error) {
	if err := x.build(); err != nil {
		return nil, err
	}
	x.rates()
	ways := variants(x.spec.Loss)
	rows := make([]StepsRow, len(ways))
	for repeat := range x.repeats() {
		for i, way := range ways {
			x.tell("theory", repeat*len(ways)+i, x.repeats()*len(ways))
			row, err := x.stepsRow(ctx, way)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			if repeat == 0 || row.TotalS < rows[i].TotalS {
				rows[i] = row
			}
		}
	}
	return rows, nil
}

// stepsRow is one timed solve.
func (x *experiment) stepsRow(ctx context.Context, way variant) (row StepsRow, err error) {
	row = StepsRow{
		Data: x.row.Data, Loss: x.row.Loss, N: x.row.N, Sites: x.row.Sites, Ratio: x.row.Ratio, Steps: way.name,
		DgemmGflops: x.row.DgemmGflops, Backend: x.row.Backend, Core: x.row.Core, Threads: x.row.Threads,
	}
	if row.DgemmGflops > 0 {
		m := float64(x.row.Sites)
		row.LimitS = m * m * m / row.DgemmGflops / 1e9
	}
	spent := map[string]*float64{"exact": &row.ExactS, "single": &row.SingleS, "follow": &row.FollowS, "woodbury": &row.WoodburyS}
	moving := 0.0
	began := time.Now()
	answer, err := x.model.Solve(ctx, x.scheme, solver.Settings{
		Tolerance: x.settings.Tolerance, MaxSweeps: x.settings.MaxSweeps, Steps: way.steps, Skip: way.skip,
		Progress: func(s solver.Sweep) {
			if kind := spent[s.Kind]; kind != nil {
				*kind += s.Step.Seconds()
				moving += s.Step.Seconds()
			}
		},
	})
	if err != nil {
		return row, err
	}
	if err := ctx.Err(); err != nil {
		return row, err
	}
	row.Error, _ = answer.LeftOut(x.test)
	row.TotalS = time.Since(began).Seconds()
	row.RestS = row.TotalS - moving
	row.Refreshes, row.Linear, row.Passes, row.Status = answer.Stats.Refreshes, answer.Stats.Linear, answer.Stats.Passes, answer.Status.String()
	return row, nil
}

// DefaultSteps are synthetic regression at each of sizes, and a hard and a soft
// margin.
func DefaultSteps(sizes []int) ([]Case, error) {
	cases, err := DefaultCases(sizes)
	if err != nil {
		return nil, err
	}
	var chosen []Case
	for _, c := range cases {
		if name := c.Title(); name == "sonar" || name == "pima" {
			soft := c
			soft.Name, soft.Spec.Loss = name+" soft", loss.Hinge{C: 1}
			chosen = append(chosen, c, soft)
		}
	}
	return append(chosen, cases[len(cases)-1]), nil
}
