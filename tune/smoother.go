package tune

import (
	"context"
	"math"
	"slices"
)

// Halvings of the way on which smoothen looks for one standard error.
const smoothenHalvings = 6

// smoothen chooses by OneStandardError: it halves the way from the best model to the bound of
// C, of noise, or where neither is chosen of the scale of the kernel.
func (s *search) smoothen(ctx context.Context, best Evaluation) error {
	r := &s.result
	if s.problem.By == Evidence || len(r.Over) == 0 {
		return nil
	}
	limit := best.Value + r.StandardError
	from, to := 0.0, 1.0
	way := s.smoothWay(best.Values)
	found := best
	for range smoothenHalvings {
		middle := (from + to) / 2
		d := s.descent(ctx, s.spec, closeTolerance, best.Values, false)
		x := make([]float64, len(best.Values))
		for k := range x {
			x[k] = middle * way[k]
		}
		if v := d.value(d.outside(x)); v <= limit {
			from, found = middle, d.best
		} else {
			to = middle
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	if err := s.choose(found); err != nil {
		return err
	}
	return s.conclude(ctx)
}

// smoothWay is the way from values to the bound where the model is smoothest, in logarithms.
func (s *search) smoothWay(values []float64) []float64 {
	way := make([]float64, len(values))
	for _, name := range []string{"C", "noise", "gamma", "length-scale"} {
		for k, h := range s.result.Over {
			if h.Name != name {
				continue
			}
			bound := s.spans[k].from
			if slices.Contains([]string{"noise", "length-scale"}, name) {
				bound = s.spans[k].to
			}
			way[k] = math.Log(bound / values[k])
		}
		if slices.ContainsFunc(way, func(v float64) bool { return v != 0 }) {
			break
		}
	}
	return way
}
