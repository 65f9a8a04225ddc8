package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figures show the objective over the grid: a curve for one axis, else a map over the
// two axes with the most values, with the least over the others in each cell.
func (g *Grid) Figures() []*Figure {
	across, down := g.mapAxes()
	if across < 0 {
		return nil
	}
	what, folded := "left-out error", ""
	if g.byOther() {
		what = g.By
	}
	if len(g.Over) > 2 {
		folded = " Each cell shows the least error over the other parameters."
	}
	x, y := valueAxis(&g.Over[across]), Axis{Label: what}
	if down >= 0 {
		y = valueAxis(&g.Over[down])
	}
	var series []Series
	for row, label := range g.rows(down) {
		s := Series{Label: label, Mark: Joined}
		if down >= 0 {
			s.Mark = Heat
		}
		for column := range g.Over[across].Values {
			s.Add(float64(column+1), g.least(across, column, down, row))
		}
		series = append(series, s)
	}
	if g.Best != nil {
		series = append(series, g.bestMark(across, down))
	}
	return []*Figure{NewFigure("grid-"+fileName(g.Data), ShortName(g.Data)+": "+what+" over the grid",
		"Without retraining; the mark is the best cell."+folded, x, y, series...)}
}

// mapAxes are the two axes with the most values, the later one across; down is -1 for a curve, and
// across where there is nothing to draw.
func (g *Grid) mapAxes() (across, down int) {
	var order []int
	for k, axis := range g.Over {
		if len(axis.Values) > 1 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(g.Over[j].Values) - len(g.Over[i].Values) })
	switch len(order) {
	case 0:
		return -1, -1
	case 1:
		return order[0], -1
	}
	return max(order[0], order[1]), min(order[0], order[1])
}

// bestMark marks the best cell.
func (g *Grid) bestMark(across, down int) Series {
	cell := &g.Results[*g.Best]
	place := func(axis int) float64 { return float64(slices.Index(g.Over[axis].Values, cell.Values[axis]) + 1) }
	if down < 0 {
		return Series{Label: "best", Mark: Triangles, Colour: 1, X: []float64{place(across)},
			Y: []float64{cell.Value()}}
	}
	return Series{Label: "best", Mark: Frame, Colour: 1, X: []float64{place(across)}, Y: []float64{place(down)}}
}

// rows are the values of the axis of a map that runs upwards; one without a name for none.
func (g *Grid) rows(down int) []string {
	if down < 0 {
		return []string{""}
	}
	var names []string
	for _, v := range g.Over[down].Values {
		names = append(names, g.Over[down].Name+" "+v)
	}
	return names
}

// valueAxis has a place for every value of an axis of the grid.
func valueAxis(a *GridAxis) Axis {
	axis := Axis{Label: a.Name, Min: 0.5, Max: float64(len(a.Values)) + 0.5}
	for i, v := range a.Values {
		axis.Ticks = append(axis.Ticks, plot.Tick{Value: float64(i + 1), Label: v})
	}
	return axis
}

// least is the least value among the cells with these values that have converged.
func (g *Grid) least(across, column, down, row int) float64 {
	least := math.NaN()
	for _, c := range g.Results {
		if c.Values[across] != g.Over[across].Values[column] || down >= 0 &&
			c.Values[down] != g.Over[down].Values[row] {
			continue
		}
		if v := c.Value(); !math.IsNaN(v) && !(v >= least) {
			least = v
		}
	}
	return least
}

// heat draws one row of a map, a series among others: cells that are the darker the smaller they are among
// all of the map, by rank, with their numbers where there is room for them.
type heat struct {
	rows []Series
	row  int
}

// mostNumbers is the number of cells across up to which they hold numbers.
const mostNumbers = 9

// Plot draws the cells.
func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var all []float64
	for _, s := range h.rows {
		if s.Mark == Heat {
			all = append(all, s.Y...)
		}
	}
	all = slices.DeleteFunc(all, math.IsNaN)
	slices.Sort(all)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign, style.Color = text.XCenter, text.YCenter, color.Gray{1}
	s, low, high := h.rows[h.row], y(float64(h.row)+0.5), y(float64(h.row)+1.5)
	for i, v := range s.Y {
		if math.IsNaN(v) {
			continue
		}
		rank, _ := slices.BinarySearch(all, v)
		light := float64(rank) / float64(max(1, len(all)-1))
		shade := func(from float64) uint8 { return uint8(from + (250-from)*light) }
		left, right := x(s.X[i]-0.5), x(s.X[i]+0.5)
		c.FillPolygon(color.RGBA{shade(86), shade(180), shade(233), 255}, []vg.Point{{X: left, Y: low},
			{X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
		if len(s.Y) <= mostNumbers {
			c.FillText(style, vg.Point{X: (left + right) / 2, Y: (low + high) / 2}, fmt.Sprintf("%.3g", v))
		}
	}
}
