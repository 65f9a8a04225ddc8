package report

import (
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"bootbench/bench"
)

// Picture is a plot with the name of its file, without extension.
type Picture struct {
	Name string
	plot *plot.Plot
}

// Formats lists the extensions that Picture.Write knows.
func Formats() []string { return []string{"svg", "png"} }

// Write writes the picture in one of Formats.
func (p Picture) Write(w io.Writer, format string) error {
	out, err := p.plot.WriterTo(16*vg.Centimeter, 11*vg.Centimeter, format)
	if err != nil {
		return err
	}
	_, err = out.WriteTo(w)
	return err
}

// series is a line through points, or points with error bars.
type series struct {
	label string
	at    plotter.XYs
	error []float64 // half lengths of error bars; nil: none, and a line is drawn
}

// colours that readers with any colour vision can tell apart.
var colours = [...]color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
}

// ComparePictures are two pictures per data set: times and errors against n.
func ComparePictures(rows []bench.Row) ([]Picture, error) {
	var pictures []Picture
	for _, group := range Groups(rows) {
		name := "compare-" + fileName(shortName(group[0].Data))
		times, err := timePicture(group)
		if err != nil {
			return nil, err
		}
		errors, err := errorPicture(group)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, Picture{name + "-time", times}, Picture{name + "-error", errors})
	}
	return pictures, nil
}

// fileName keeps letters and digits.
func fileName(data string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, data), "-")
}

func timePicture(rows []bench.Row) (*plot.Plot, error) {
	equal := "retraining to the same accuracy"
	for _, r := range rows {
		if r.EqualIsBound {
			equal += " (at least)"
			break
		}
	}
	p := plot.New()
	p.Title.Text = shortName(rows[0].Data) + ": time"
	p.Y.Label.Text = "seconds"
	err := draws(p,
		series{label: equal, at: against(rows, func(r bench.Row) float64 { return r.SpeedupEqualAccuracy * r.TheoryS })},
		series{label: "theory", at: against(rows, func(r bench.Row) float64 { return r.TheoryS })},
		series{label: "one naive bootstrap fit", at: against(rows, func(r bench.Row) float64 { return r.NaiveFitS })},
		series{label: "one bootstrap fit, rows merged", at: against(rows, func(r bench.Row) float64 { return r.ResampleFitS })},
	)
	sizeAxis(p, rows)
	p.Y.Max *= 4 // for the legend
	logAxis(&p.Y)
	return p, err
}

func errorPicture(rows []bench.Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = shortName(rows[0].Data) + ": left-out error"
	p.Y.Label.Text = "left-out error"
	bars := make([]float64, 0, len(rows))
	for _, r := range rows {
		if r.RetrainError > 0 {
			bars = append(bars, 2*r.RetrainSE)
		}
	}
	err := draws(p,
		series{label: "theory", at: against(rows, func(r bench.Row) float64 { return r.TheoryError })},
		series{label: "retraining, with two standard errors", error: bars,
			at: against(rows, func(r bench.Row) float64 { return r.RetrainError })},
	)
	sizeAxis(p, rows)
	p.Legend.Left = false
	p.Y.Max += legendRoom * (p.Y.Max - p.Y.Min)
	return p, err
}

// legendRoom is the part of a linear axis that is left free for the legend.
const legendRoom = 0.15

// CurvePicture is the error against the ratio.
func CurvePicture(c *Curve) (Picture, error) {
	p := plot.New()
	p.Title.Text = shortName(c.Data) + ": error against the size of resamples"
	p.X.Label.Text = "ratio S/N"
	p.Y.Label.Text = "error"
	along := func(of func(*Estimate) float64) plotter.XYs {
		var at plotter.XYs
		for i := range c.Results {
			at = appendPoint(at, c.Results[i].Ratio, of(&c.Results[i]))
		}
		return at
	}
	err := draws(p,
		series{label: "left-out", at: along(func(e *Estimate) float64 { return e.TestError })},
		series{label: ".632+", at: along(func(e *Estimate) float64 { return e.Err632Plus })},
	)
	logAxis(&p.X)
	p.Legend.Left = false
	p.Y.Max += legendRoom * (p.Y.Max - p.Y.Min)
	return Picture{"curve-" + fileName(shortName(c.Data)), p}, err
}

// overRatios reports whether rows are a learning curve: one n, several ratios.
func overRatios(rows []bench.Row) bool {
	return rows[0].N == rows[len(rows)-1].N && rows[0].Ratio != rows[len(rows)-1].Ratio
}

// position is where a row stands on the horizontal axis: at its ratio in a
// learning curve, else at its n.
func position(rows []bench.Row, r bench.Row) float64 {
	if overRatios(rows) {
		return r.Ratio
	}
	return float64(r.N)
}

// against pairs a figure with the rows' positions.
func against(rows []bench.Row, of func(bench.Row) float64) plotter.XYs {
	var at plotter.XYs
	for _, r := range rows {
		at = appendPoint(at, position(rows, r), of(r))
	}
	return at
}

// appendPoint leaves out what is not known and what a logarithm cannot show.
func appendPoint(at plotter.XYs, x, y float64) plotter.XYs {
	if !(y > 0) || math.IsInf(y, 1) {
		return at
	}
	return append(at, plotter.XY{X: x, Y: y})
}

// draws adds the series that have points, each in its colour.
func draws(p *plot.Plot, all ...series) error {
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Millimeter
	p.Add(plotter.NewGrid())
	for i, s := range all {
		if len(s.at) == 0 {
			continue
		}
		points, err := plotter.NewScatter(s.at)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: colours[i], Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
		p.Add(points)
		if s.error == nil {
			line, err := plotter.NewLine(s.at)
			if err != nil {
				return err
			}
			line.LineStyle = draw.LineStyle{Color: colours[i], Width: vg.Points(1.2)}
			p.Add(line)
			p.Legend.Add(s.label, line, points)
			continue
		}
		p.Legend.Add(s.label, points)
		if err := addBars(p, s, colours[i]); err != nil {
			return err
		}
	}
	return nil
}

// addBars draws the error bars that are known.
func addBars(p *plot.Plot, s series, colour color.Color) error {
	var data struct {
		plotter.XYs
		plotter.YErrors
	}
	for i, e := range s.error {
		if !math.IsNaN(e) {
			data.XYs = append(data.XYs, s.at[i])
			data.YErrors = append(data.YErrors, struct{ Low, High float64 }{e, e})
		}
	}
	if len(data.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(data)
	if err != nil {
		return err
	}
	bars.Color = colour
	p.Add(bars)
	return nil
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio.
func sizeAxis(p *plot.Plot, rows []bench.Row) {
	p.X.Label.Text = "examples n"
	if overRatios(rows) {
		p.X.Label.Text = "ratio S/N"
	}
	var ticks plot.ConstantTicks
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		x := position(rows, r)
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 4, 64)})
		low, high = math.Min(low, x), math.Max(high, x)
	}
	const margin = 1.15
	p.X.Min, p.X.Max = low/margin, high*margin
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, ticks
}

// logAxis is a logarithmic axis over whole decades.
func logAxis(a *plot.Axis) {
	if a.Min > a.Max { // nothing is drawn
		a.Min, a.Max = 1, 10
	}
	low, high := math.Floor(math.Log10(a.Min)), math.Ceil(math.Log10(a.Max))
	if high <= low {
		high = low + 1
	}
	a.Min, a.Max = math.Pow(10, low), math.Pow(10, high)
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
}
