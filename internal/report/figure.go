package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture with the numbers that it shows: one panel or several side
// by side. What is not finite is not drawn, and an empty cell in its CSV.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // what is shown and how it was made, in a sentence or two
	Panels  []Panel
}

// NewFigure is a figure of one panel.
func NewFigure(name, title, caption string, x, y Axis, series ...Series) *Figure {
	return &Figure{Name: name, Title: title, Caption: caption, Panels: []Panel{{X: x, Y: y, Series: series}}}
}

// Panel is a pair of axes with what is drawn between them.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// Axis is one axis. Where Min and Max are equal, both follow from the series.
type Axis struct {
	Label    string
	Log      bool
	Min, Max float64
	Ticks    []plot.Tick // nil: round numbers
}

// Mark is how a series is drawn.
type Mark int

// Theory is drawn as lines, retraining as symbols.
const (
	Line      Mark = iota
	Dashed         // a line
	Dotted         // a line
	Dots           // filled circles, with bars where Err is known
	Triangles      // the same
	Joined         // circles on a line
	Steps          // the outline of a histogram: Y[i] from X[i] to X[i+1]
	Bars           // the same, filled
	Heat           // a row of a map: Y are colours; the first series is at 1, the second at 2
	Frame          // the outline of a cell of a map
)

// Series is what one entry of the legend describes.
type Series struct {
	Label  string // "" keeps it out of the legend
	Mark   Mark
	Colour int // number in the palette
	X, Y   []float64
	Err    []float64 // half lengths of error bars; nil: none
}

// Add adds a point.
func (s *Series) Add(x, y float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, y)
}

// AddErr adds a point with an error bar.
func (s *Series) AddErr(x, y, err float64) {
	s.Add(x, y)
	s.Err = append(s.Err, err)
}

// Diagonal is the line where two shares are equal.
func Diagonal(label string) Series {
	return Series{Label: label, Mark: Dashed, Colour: 6, X: []float64{0, 1}, Y: []float64{0, 1}}
}

// WriteCSV writes every number of the figure: a line per point.
func (f *Figure) WriteCSV(w io.Writer) error {
	rows := [][]string{{"panel", "series", "x", "y", "error"}}
	for k, p := range f.Panels {
		for _, s := range p.Series {
			for i, x := range s.X {
				err := ""
				if i < len(s.Err) {
					err = numberCell(s.Err[i])
				}
				rows = append(rows, []string{strconv.Itoa(k + 1), textCell(s.Label), numberCell(x), numberCell(s.Y[i]),
					err})
			}
		}
	}
	return writeCSV(w, rows)
}

// palette holds colours that readers with any colour vision can tell apart
// (Okabe and Ito). Series beyond its end have other symbols.
var palette = [...]color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255},
	{230, 159, 0, 255}, {90, 90, 90, 255},
}

// The house style: lengths that stay readable at half size.
const (
	panelWidth  = 14 * vg.Centimeter
	panelHeight = 10.5 * vg.Centimeter
	textSize    = vg.Length(12)
	lineWidth   = vg.Length(1.6)
	glyphRadius = vg.Length(2.8)
	edge        = 2 * vg.Millimeter // around the panels
	manyPoints  = 150               // from which on symbols are small
)

// Formats lists the extensions that Figure.Write knows.
func Formats() []string { return []string{"svg", "png"} }

// Write draws the figure in one of Formats.
func (f *Figure) Write(w io.Writer, format string) error {
	width, height := panelWidth*vg.Length(len(f.Panels)), panelHeight
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		canvas = vgsvg.New(width, height)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	default:
		return fmt.Errorf("no picture format %q", format)
	}
	if err := f.draw(draw.New(canvas)); err != nil {
		return err
	}
	_, err := canvas.WriteTo(w)
	return err
}

// draw puts the panels side by side.
func (f *Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, edge, -edge, edge, -edge)
	width := c.Max.X - c.Min.X
	share := width / vg.Length(len(f.Panels))
	for i := range f.Panels {
		drawn, err := f.Panels[i].plot()
		if err != nil {
			return err
		}
		if len(f.Panels) == 1 && f.Panels[i].Title == "" {
			drawn.Title.Text = f.Title
		}
		drawn.Draw(draw.Crop(c, share*vg.Length(i), share*vg.Length(i+1)-width-edge, 0, 0))
	}
	return nil
}

// plot turns the panel into a plot.
func (p *Panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.BackgroundColor = nil
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X.Label, p.Y.Label
	for _, style := range []*text.Style{&out.Title.TextStyle, &out.X.Label.TextStyle, &out.Y.Label.TextStyle,
		&out.X.Tick.Label, &out.Y.Tick.Label, &out.Legend.TextStyle} {
		style.Font.Variant, style.Font.Size = "Sans", textSize
	}
	out.X.Tick.Label.Font.Size, out.Y.Tick.Label.Font.Size = textSize*0.85, textSize*0.85
	out.Legend.TextStyle.Font.Size = textSize * 0.85
	out.Title.Padding, out.Legend.Padding = vg.Millimeter, vg.Millimeter
	out.Legend.Top, out.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	out.Add(grid)
	room := 0.0 // share of the vertical axis that is left free for the legend
	for row := range p.Series {
		s := &p.Series[row]
		if s.Mark == Heat {
			out.Add(heat{p.Series, row})
			continue
		}
		if s.Label != "" && s.Mark != Frame {
			room += 0.07
		}
		if err := p.add(out, s); err != nil {
			return nil, err
		}
	}
	p.X.apply(&out.X, 0)
	p.Y.apply(&out.Y, room)
	return out, nil
}

// add draws a series and enters it into the legend.
func (p *Panel) add(out *plot.Plot, s *Series) error {
	at, bars := s.shown(p.X.Log, p.Y.Log)
	if len(at) == 0 {
		return nil
	}
	colour := palette[s.Colour%len(palette)]
	var icons []plot.Thumbnailer
	if s.Mark != Dots && s.Mark != Triangles {
		line, err := plotter.NewLine(s.Mark.path(at))
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: colour, Width: lineWidth, Dashes: dashes[s.Mark]}
		if s.Mark == Bars {
			line.FillColor = color.NRGBA{colour.R, colour.G, colour.B, 110}
		}
		out.Add(line)
		icons = append(icons, line)
	}
	if s.Mark == Dots || s.Mark == Triangles || s.Mark == Joined {
		points, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: glyphRadius, Shape: draw.CircleGlyph{}}
		if s.Mark == Triangles || s.Colour >= len(palette) {
			points.Shape = draw.PyramidGlyph{}
		}
		if len(at) > manyPoints {
			points.Radius = glyphRadius / 2
		}
		out.Add(points)
		icons = append(icons, points)
	}
	if len(bars.XYs) > 0 {
		drawn, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		drawn.Color, drawn.Width = colour, lineWidth*0.7
		out.Add(drawn)
	}
	if s.Label != "" && s.Mark != Frame {
		out.Legend.Add(s.Label, icons...)
	}
	return nil
}

// dashes of lines that have any.
var dashes = map[Mark][]vg.Length{Dashed: {6, 3}, Dotted: {1.5, 3}}

// path is the line through points, the frame of a cell, or the outline of a histogram whose last bin is
// as wide as the one before it.
func (m Mark) path(at plotter.XYs) plotter.XYs {
	switch m {
	case Frame:
		x, y := at[0].X, at[0].Y
		return plotter.XYs{{X: x - 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y + 0.5},
			{X: x - 0.5, Y: y + 0.5}, {X: x - 0.5, Y: y - 0.5}}
	case Steps, Bars:
	default:
		return at
	}
	width := 1.0
	if n := len(at); n > 1 {
		width = at[n-1].X - at[n-2].X
	}
	path := plotter.XYs{{X: at[0].X}}
	for i, p := range at {
		end := p.X + width
		if i+1 < len(at) {
			end = at[i+1].X
		}
		path = append(path, p, plotter.XY{X: end, Y: p.Y})
	}
	return append(path, plotter.XY{X: path[len(path)-1].X})
}

// errorBars are points with symmetric errors.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// shown are the points that can be drawn, and those of them with an error bar.
func (s *Series) shown(logX, logY bool) (at plotter.XYs, bars errorBars) {
	drawable := func(v float64, log bool) bool { return v-v == 0 && (v > 0 || !log) } // finite
	for i, y := range s.Y {
		if !drawable(s.X[i], logX) || !drawable(y, logY) {
			continue
		}
		point := plotter.XY{X: s.X[i], Y: y}
		at = append(at, point)
		if i < len(s.Err) && drawable(s.Err[i], false) && drawable(y-s.Err[i], logY) {
			bars.XYs = append(bars.XYs, point)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{s.Err[i], s.Err[i]})
		}
	}
	return at, bars
}

// apply sets limits, scale and ticks. room is the share of the axis that stays
// free at its upper end.
func (a Axis) apply(out *plot.Axis, room float64) {
	fixed := a.Min < a.Max
	if fixed {
		out.Min, out.Max = a.Min, a.Max
	}
	if !(out.Min <= out.Max) || math.IsInf(out.Min, 0) { // nothing is drawn
		out.Min, out.Max = 1, 10
	}
	switch {
	case a.Log:
		const margin = 1.12
		out.Min, out.Max = out.Min/margin, out.Max*margin
		if !fixed && a.Ticks == nil { // whole decades, and the room above them
			low, high := math.Floor(math.Log10(out.Min*margin)), math.Ceil(math.Log10(out.Max/margin))
			high = max(high, low+1)
			out.Min, out.Max = math.Pow(10, low), math.Pow(10, high+room*(high-low))
		}
		out.Scale, out.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decadeTicks)
	default:
		out.Tick.Marker = plot.TickerFunc(roundTicks)
		if margin := 0.03 * (out.Max - out.Min); !fixed {
			if out.Min != 0 {
				out.Min -= margin
			}
			out.Max += margin + room*(out.Max-out.Min)
		}
	}
	if a.Ticks != nil {
		out.Tick.Marker = plot.ConstantTicks(a.Ticks)
	}
}

// roundTicks marks multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) []plot.Tick {
	const most = 7
	step := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(factor*step) <= most {
			step *= factor
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-12); i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 6, 64)})
	}
	return ticks
}

// decadeTicks marks powers of ten, with 2 and 5 times these where there are few, and round
// numbers within one decade: no axis is without labels.
func decadeTicks(low, high float64) []plot.Tick {
	decades := math.Log10(high / low)
	if decades < 1 {
		return roundTicks(low, high)
	}
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); math.Pow(10, power) <= high; power++ {
		for factor := 1.0; factor < 10; factor++ {
			tick := plot.Tick{Value: factor * math.Pow(10, power)}
			if factor == 1 || decades < 3 && (factor == 2 || factor == 5) {
				tick.Label = strconv.FormatFloat(tick.Value, 'g', 3, 64)
			}
			if tick.Value >= low*(1-1e-9) && tick.Value <= high*(1+1e-9) {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}
