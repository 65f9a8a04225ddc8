package train_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/train"
)

// TestStatus: each status has its own text, and an error unless it is Converged.
func TestStatus(t *testing.T) {
	seen := map[string]bool{}
	for s := train.Converged; s <= train.Cancelled; s++ {
		seen[s.String()] = true
		if (s.Err() == nil) != (s == train.Converged) {
			t.Errorf("%v has error %v", s, s.Err())
		}
	}
	if len(seen) != 5 {
		t.Errorf("statuses %v", seen)
	}
}

// TestSetCheck: what no trainer takes is refused with its example; only hard margins have infinite weights.
func TestSetCheck(t *testing.T) {
	for says, spoil := range map[string]func(p *train.Set){
		"":                       func(*train.Set) {},
		"1 weights do not fit 2": func(p *train.Set) { p.Weight = p.Weight[:1] },
		"1 targets do not fit 2 sites": func(p *train.Set) {
			p.Y, p.Weight, p.Site = p.Y[:1], p.Weight[:1], nil
		},
		"the map to sites has length 1":     func(p *train.Set) { p.Site = p.Site[:1] },
		"example 2 is on site 3 of 2":       func(p *train.Set) { p.Site[1] = 2 },
		"the target of example 2 is NaN":    func(p *train.Set) { p.Y[1] = math.NaN() },
		"the target of example 1 is +Inf":   func(p *train.Set) { p.Y[0] = math.Inf(1) },
		"the weight of example 1 is -1":     func(p *train.Set) { p.Weight[0] = -1 },
		"the weight of example 2 is NaN":    func(p *train.Set) { p.Weight[1] = math.NaN() },
		"the weight of example 1 is +Inf, ": func(p *train.Set) { p.Weight[0] = math.Inf(1) },
	} {
		p := train.Set{Y: []float64{1, 2}, Site: train.Sites{0, 1}, Weight: []float64{0, 3}}
		spoil(&p)
		err := p.Check(2, false)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if hard := p.Check(2, true) == nil; hard != (says == "" || slices.Contains(p.Weight, math.Inf(1))) {
			t.Errorf("%q: taken by hard margins: %v", says, hard)
		}
	}
}
