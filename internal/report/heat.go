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

// Figures show the objective over the grid: a curve for one axis, a map for two, and nothing for more.
func (g *Grid) Figures() []*Figure {
	axes := slices.DeleteFunc(slices.Clone(g.Over), func(a GridAxis) bool { return len(a.Values) == 1 })
	if len(axes) == 0 || len(axes) > 2 {
		return nil
	}
	what := "left-out error"
	if g.byOther() {
		what = g.By
	}
	across, y, mark := axes[len(axes)-1], Axis{Label: what}, Joined
	if len(axes) == 2 {
		y, mark = valueAxis(&axes[0]), Heat
	}
	var series []Series
	for cells := range slices.Chunk(g.Results, len(across.Values)) {
		s := Series{Mark: mark}
		if mark == Heat {
			s.Label = axes[0].Name + " " + axes[0].Values[len(series)]
		}
		for i := range cells {
			s.Add(float64(i+1), cells[i].Value())
		}
		series = append(series, s)
	}
	if g.Best != nil {
		row, column := *g.Best/len(across.Values), *g.Best%len(across.Values)
		best := Series{Label: "best", Colour: 1, Mark: Frame, X: []float64{float64(column + 1)},
			Y: []float64{float64(row + 1)}}
		if mark != Heat {
			best.Mark, best.Y[0] = Triangles, g.Results[column].Value()
		}
		series = append(series, best)
	}
	return []*Figure{NewFigure("grid-"+fileName(g.Data), ShortName(g.Data)+": "+what+" over the grid",
		"Without retraining; the mark is the best cell.", valueAxis(&across), y, series...)}
}

// valueAxis has a place for every value of an axis of the grid.
func valueAxis(a *GridAxis) Axis {
	axis := Axis{Label: a.Name, Min: 0.5, Max: float64(len(a.Values)) + 0.5}
	for i, v := range a.Values {
		axis.Ticks = append(axis.Ticks, plot.Tick{Value: float64(i + 1), Label: v})
	}
	return axis
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
