package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette holds colours that readers with any colour vision can tell apart
// (Okabe and Ito).
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
	spare       = vg.Length(16)     // right of a legend, for wider fonts
	manyPoints  = 150               // from which on symbols are small
	insetShare  = 0.42              // of the panel's edges
)

// Formats lists the extensions that Figure.Write knows.
func Formats() []string { return []string{"svg", "png"} }

// Write draws the figure in one of Formats.
func (f *Figure) Write(w io.Writer, format string) error {
	f = f.legible()
	width, height := panelWidth*vg.Length(len(f.Panels)), panelHeight
	switch format {
	case "svg":
		c := vgsvg.New(width, height)
		if err := f.draw(draw.New(c)); err != nil {
			return err
		}
		_, err := c.WriteTo(w)
		return err
	case "png":
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))
		if err := f.draw(draw.New(c)); err != nil {
			return err
		}
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	return fmt.Errorf("no picture format %q", format)
}

// legible is the figure with as many panels as the palette needs: those with more series
// than colours are drawn in parts, with the same axes.
func (f *Figure) legible() *Figure {
	parted := *f
	parted.Panels = nil
	for _, p := range f.Panels {
		var parts [][]Series
		for _, s := range p.Series {
			k := s.Colour / len(palette)
			for len(parts) <= k {
				parts = append(parts, nil)
			}
			parts[k] = append(parts[k], s)
		}
		if len(parts) > 1 {
			p.X, p.Y = p.X.over(p.Series, func(s *Series) []float64 { return s.X }),
				p.Y.over(p.Series, func(s *Series) []float64 { return s.Y })
		}
		for k := range max(1, len(parts)) {
			part := p
			if parts != nil {
				part.Series = parts[k]
			}
			parted.Panels = append(parted.Panels, part)
		}
	}
	return &parted
}

// over is the axis with limits that hold all values that it can show, unless it has others.
func (a Axis) over(all []Series, of func(*Series) []float64) Axis {
	if a.Min < a.Max {
		return a
	}
	a.Min, a.Max = math.Inf(1), math.Inf(-1)
	for i := range all {
		for _, v := range of(&all[i]) {
			if drawable(v, a.Log) {
				a.Min, a.Max = math.Min(a.Min, v), math.Max(a.Max, v)
			}
		}
	}
	return a
}

// draw puts the panels side by side.
func (f *Figure) draw(c draw.Canvas) error {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, edge, -edge, edge, -edge)
	width := c.Max.X - c.Min.X
	share := width / vg.Length(len(f.Panels))
	for i := range f.Panels {
		p := &f.Panels[i]
		drawn, err := p.plot(textSize)
		if err != nil {
			return err
		}
		area := draw.Crop(c, share*vg.Length(i), share*vg.Length(i+1)-width-edge, 0, 0)
		if len(f.Panels) == 1 && p.Title == "" {
			drawn.Title.Text = f.Title
		}
		p.placeLegend(drawn, area)
		drawn.Draw(area)
		if p.Inset != nil {
			if err := p.drawInset(drawn.DataCanvas(area)); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeLegend moves a legend on the right side there whole, marks before texts:
// gonum would align it with the right edge by the widths of its own fonts, and a
// reader's program has others.
func (p *Panel) placeLegend(drawn *plot.Plot, area draw.Canvas) {
	if p.Legend != TopRight {
		return
	}
	data := drawn.DataCanvas(area)
	legend := drawn.Legend.Rectangle(area)
	drawn.Legend.XOffs = data.Max.X - data.Min.X - (legend.Max.X - legend.Min.X) - spare
}

// drawInset draws the small panel in the upper right corner.
func (p *Panel) drawInset(area draw.Canvas) error {
	inset, err := p.Inset.plot(textSize * 0.72)
	if err != nil {
		return err
	}
	size := area.Max.Sub(area.Min)
	inset.Draw(draw.Crop(area, size.X*(1-insetShare), 0, size.Y*(1-insetShare), 0))
	return nil
}

// plot turns the panel into a plot with text of the given size.
func (p *Panel) plot(size vg.Length) (*plot.Plot, error) {
	out := plot.New()
	out.BackgroundColor = nil
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X.Label, p.Y.Label
	for _, style := range []*text.Style{&out.Title.TextStyle, &out.X.Label.TextStyle, &out.Y.Label.TextStyle,
		&out.X.Tick.Label, &out.Y.Tick.Label, &out.Legend.TextStyle} {
		style.Font.Variant, style.Font.Size = "Sans", size
	}
	out.X.Tick.Label.Font.Size, out.Y.Tick.Label.Font.Size = size*0.85, size*0.85
	out.Legend.TextStyle.Font.Size = size * 0.85
	out.Title.Padding = vg.Millimeter
	out.Legend.Top, out.Legend.Left = true, true
	out.Legend.Padding = vg.Millimeter
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	out.Add(grid)
	cells := heat{size: size}
	for i := range p.Series {
		if s := &p.Series[i]; s.Mark == Heat {
			cells.rows = append(cells.rows, *s)
		} else if err := p.add(out, s); err != nil {
			return nil, err
		}
	}
	if cells.rows != nil {
		out.Add(cells)
		for _, s := range p.Series {
			if s.Mark == Frame {
				around, err := frame(s.X[0], s.Y[0])
				if err != nil {
					return nil, err
				}
				out.Add(around)
			}
		}
	}
	p.X.apply(&out.X, 0)
	p.Y.apply(&out.Y, p.legendRoom())
	if p.Top != nil {
		out.Add(upperEdge{p.Top, p.Above, size})
		out.Title.Padding = size * 2.6
	}
	return out, nil
}

// legendRoom is the share of a linear vertical axis that is left free for the
// legend.
func (p *Panel) legendRoom() float64 {
	room := 0.0
	for _, s := range p.Series {
		if s.Label != "" && p.Legend != NoLegend {
			room += 0.07
		}
	}
	return room
}

// apply sets limits, scale and ticks. room is the share of the axis that stays
// free at its upper end.
func (a Axis) apply(out *plot.Axis, room float64) {
	if a.Min < a.Max {
		out.Min, out.Max = a.Min, a.Max
	}
	if !(out.Min <= out.Max) || math.IsInf(out.Min, 0) { // nothing is drawn
		out.Min, out.Max = 1, 10
	}
	if !a.Log {
		out.Tick.Marker = plot.TickerFunc(roundTicks)
		if a.Min == a.Max {
			margin := 0.03 * (out.Max - out.Min)
			if out.Min != 0 {
				out.Min -= margin
			}
			out.Max += margin + room*(out.Max-out.Min)
		}
	}
	if a.Log {
		logScale(out, a.Min < a.Max || a.Ticks != nil, room)
	}
	if a.Ticks != nil {
		ticks := make(plot.ConstantTicks, len(a.Ticks))
		for i, t := range a.Ticks {
			ticks[i] = plot.Tick{Value: t.At, Label: t.Label}
		}
		out.Tick.Marker = ticks
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

// logScale makes an axis logarithmic, over whole decades and the room above them
// unless its limits are given.
func logScale(a *plot.Axis, fixed bool, room float64) {
	const margin = 1.12
	if fixed {
		a.Min, a.Max = a.Min/margin, a.Max*margin
	} else {
		low, high := math.Floor(math.Log10(a.Min)), math.Ceil(math.Log10(a.Max))
		if high <= low {
			high = low + 1
		}
		a.Min, a.Max = math.Pow(10, low), math.Pow(10, high+room*(high-low))
	}
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decadeTicks)
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

// add draws a series and enters it into the legend.
func (p *Panel) add(out *plot.Plot, s *Series) error {
	at, bars := s.shown(p.X.Log, p.Y.Log)
	if len(at) == 0 {
		return nil
	}
	colour := palette[s.Colour%len(palette)]
	var icons []plot.Thumbnailer
	if s.Mark == Bars || s.Mark == Outline {
		icon, err := s.histogram(out, at, colour)
		if err != nil {
			return err
		}
		icons = append(icons, icon)
	}
	if s.Mark == Line || s.Mark == Dashed || s.Mark == Dotted || s.Mark == Joined {
		line, err := plotter.NewLine(at)
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: colour, Width: lineWidth, Dashes: s.Mark.dashes()}
		out.Add(line)
		icons = append(icons, line)
	}
	if s.Mark == Dots || s.Mark == Crosses || s.Mark == Joined {
		points, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: glyphRadius, Shape: draw.CircleGlyph{}}
		if s.Mark == Crosses {
			points.GlyphStyle.Shape, points.GlyphStyle.Radius = cross{}, glyphRadius*1.2
		}
		if len(at) > manyPoints {
			points.GlyphStyle.Radius = glyphRadius / 2
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
	if s.Label != "" && p.Legend != NoLegend {
		out.Legend.Add(s.Label, icons...)
	}
	return nil
}

// cross is gonum's cross with lines as thick as the others.
type cross struct{}

// DrawGlyph draws two strokes.
func (cross) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: style.Color, Width: lineWidth}
	r := style.Radius
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}

func (m Mark) dashes() []vg.Length {
	switch m {
	case Dashed:
		return []vg.Length{6, 3}
	case Dotted:
		return []vg.Length{1.5, 3}
	}
	return nil
}

// errorBars are points with symmetric errors.
type errorBars struct {
	plotter.XYs
	plotter.YErrors
}

// drawable reports whether a value has a place on an axis.
func drawable(v float64, log bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log)
}

// shown are the points that can be drawn, and those of them with an error bar.
func (s *Series) shown(logX, logY bool) (at plotter.XYs, bars errorBars) {
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

// histogram draws bars or their outline: bin i reaches from X[i] to X[i+1], the
// last as far as the one before it.
func (s *Series) histogram(out *plot.Plot, at plotter.XYs, colour color.RGBA) (plot.Thumbnailer, error) {
	width := 1.0
	if len(at) > 1 {
		width = at[len(at)-1].X - at[len(at)-2].X
	}
	outline := plotter.XYs{{X: at[0].X, Y: 0}}
	for i, p := range at {
		begin, end := p.X, p.X+width
		if i+1 < len(at) {
			end = at[i+1].X
		}
		outline = append(outline, plotter.XY{X: begin, Y: p.Y}, plotter.XY{X: end, Y: p.Y})
		if s.Mark != Outline {
			outline = append(outline, plotter.XY{X: end, Y: 0})
		}
	}
	outline = append(outline, plotter.XY{X: outline[len(outline)-1].X, Y: 0})
	polygon, err := plotter.NewPolygon(outline)
	if err != nil {
		return nil, err
	}
	if s.Mark == Bars {
		polygon.Color = color.NRGBA{colour.R, colour.G, colour.B, 110}
	}
	polygon.LineStyle = draw.LineStyle{Color: colour, Width: lineWidth * 0.6}
	out.Add(polygon)
	return polygon, nil
}

// upperEdge labels the upper edge of the data area.
type upperEdge struct {
	ticks []Tick
	label string
	size  vg.Length
}

// Plot draws the labels outside of the data area, which gonum leaves room for
// below the title.
func (u upperEdge) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = text.XCenter, text.YBottom
	style.Handler, style.Font = p.TextHandler, font.From(style.Font, u.size*0.8)
	for _, t := range u.ticks {
		if t.At < p.X.Min || t.At > p.X.Max {
			continue
		}
		at := vg.Point{X: x(t.At), Y: c.Max.Y}
		c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: 0.5}, at.X, at.Y, at.X, at.Y+vg.Millimeter)
		c.FillText(style, vg.Point{X: at.X, Y: at.Y + 1.5*vg.Millimeter}, t.Label)
	}
	middle := vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y + 1.5*vg.Millimeter + u.size*1.1}
	c.FillText(style, middle, u.label)
}
