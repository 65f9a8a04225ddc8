package report

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// gridOf is a grid with these errors, the last axis fastest.
func gridOf(errors []float64, axes ...GridAxis) *Grid {
	g := &Grid{Data: "set", Over: axes}
	for i, e := range errors {
		values := make([]string, len(axes))
		for k, rest := len(axes)-1, i; k >= 0; k-- {
			values[k], rest = axes[k].Values[rest%len(axes[k].Values)], rest/len(axes[k].Values)
		}
		g.Results = append(g.Results, GridCell{Values: values, Estimate: &Answer{
			Quote: &Quote{Error: Number(e)}, Status: "complete"}})
	}
	best := slices.Index(errors, slices.Min(errors))
	g.Best = &best
	return g
}

// TestGridFigures: a map has a row for every value of the first axis, and the best cell is marked.
func TestGridFigures(t *testing.T) {
	c, gamma, kind := GridAxis{"C", []string{"1", "10", "100"}},
		GridAxis{"gamma", []string{"0.1", "1", "2", "4"}}, GridAxis{"kernel", []string{"rbf"}}
	errors := []float64{9, 8, 7, 6, 5, 4, 3, 2, 0.5, 1, 9, 8}
	g := gridOf(errors, c, kind, gamma)
	p := g.figures()[0].Panels[0]
	if len(p.Series) != 4 || p.X.Label != "gamma" || p.Y.Label != "C" || p.Series[1].Label != "C 10" {
		t.Fatalf("%+v", p)
	}
	for row := range 3 {
		if s := p.Series[row]; s.Mark != Heat || !slices.Equal(s.X, []float64{1, 2, 3, 4}) ||
			!slices.Equal(s.Y, errors[4*row:][:4]) {
			t.Errorf("row %d: %+v", row, s)
		}
	}
	if best := p.Series[3]; best.Mark != Frame || best.X[0] != 1 || best.Y[0] != 3 {
		t.Errorf("best %+v", best)
	}
	curve := gridOf([]float64{3, 1, 2}, c)
	if p := curve.figures()[0].Panels[0]; !slices.Equal(p.Series[0].Y, []float64{3, 1, 2}) ||
		p.Series[1].X[0] != 2 || p.Series[1].Y[0] != 1 {
		t.Errorf("%+v", p)
	}
	for _, g := range []*Grid{g, curve} {
		var b bytes.Buffer
		if err := g.figures()[0].WriteSVG(&b); err != nil || b.Len() < 1000 {
			t.Error(b.Len(), err)
		}
	}
	if figures := gridOf([]float64{1}, GridAxis{"C", []string{"1"}}).figures(); figures != nil {
		t.Errorf("%+v", figures)
	}
}

// TestTicks: an axis has a handful of marks with short labels, within its ends.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks     func(low, high float64) []Tick
		low, high float64
	}{
		{roundTicks, 0, 1}, {roundTicks, -3, 8.2}, {roundTicks, 14.2, 39.7}, {roundTicks, 0.0303, 0.0899},
		{roundTicks, 1e-7, 1.5e-7}, {roundTicks, 0, 506}, {decadeTicks, 1.1, 1.9}, {decadeTicks, 0.02, 0.09},
		{decadeTicks, 3, 40}, {decadeTicks, 0.9, 1200}, {decadeTicks, 1e-6, 1e9},
	} {
		labels := 0
		for _, tick := range c.ticks(c.low, c.high) {
			if v := tick.Value; v < c.low-1e-6*math.Abs(c.low) || v > c.high*(1+1e-6) ||
				len(tick.Label) > 8 {
				t.Errorf("%v to %v: mark %v %q", c.low, c.high, tick.Value, tick.Label)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 2 || labels > 16 {
			t.Errorf("%v to %v: %d labels", c.low, c.high, labels)
		}
	}
}
