package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Figure is a figure with its numbers: one panel or several side by side. Numbers that are not finite are
// gaps of lines, and empty cells in its CSV.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // content and origin, in a sentence or two
	Panels  []Panel
}

// NewFigure is a figure of one panel.
func NewFigure(name, title, caption string, x, y Axis, series ...Series) *Figure {
	return &Figure{Name: name, Title: title, Caption: caption,
		Panels: []Panel{{Title: title, X: x, Y: y, Series: series}}}
}

// Panel is a pair of axes with series, or a horizontal axis with intervals.
type Panel struct {
	Title     string
	X, Y      Axis
	Series    []Series
	Intervals []IntervalRow
}

// IntervalRow is a number with its interval, in a row of its own. Unknown ends are NaN.
type IntervalRow struct {
	Label  string `json:"label"`
	Value  Number `json:"value"`
	Lower  Number `json:"lower"`
	Upper  Number `json:"upper"`
	Text   string `json:"-"` // the number for a reader
	Colour int    `json:"-"` // as of a Series
}

// ends are the lowest and the highest number that are known of an interval.
func (i *IntervalRow) ends() (low, high float64) {
	return float64(*knownOf(&i.Lower, &i.Value)), float64(*knownOf(&i.Upper, &i.Value))
}

// intervalFigure is a figure of intervals; nil for less than two, which a sentence says as well.
func intervalFigure(name, title, caption, axis string, all []IntervalRow) []*Figure {
	all = slices.DeleteFunc(all, func(i IntervalRow) bool { return math.IsNaN(float64(i.Value - i.Value)) })
	if len(all) < 2 {
		return nil
	}
	return []*Figure{{Name: name, Title: title, Caption: caption,
		Panels: []Panel{{Title: title, X: Axis{Label: axis}, Intervals: all}}}}
}

// Axis is one axis. If Min is not below Max, both follow from the series.
type Axis struct {
	Label    string
	Log      bool
	Min, Max float64
	Ticks    []Tick // nil: round numbers
}

// Tick is a mark on an axis.
type Tick struct {
	Value float64
	Label string // "" for a mark without a number
}

// Mark is the symbol or line of a series.
type Mark int

// Theory is drawn as lines, retraining as symbols.
const (
	Line      Mark = iota
	Dashed         // a line
	Dotted         // a line
	Dots           // filled circles, with bars where Err is known
	Triangles      // like Dots
	Joined         // circles on a line
	Steps          // the outline of a histogram: Y[i] from X[i] to X[i+1]
	Bars           // like Steps, filled
	Heat           // a row of a map: Y are colours; the first series is at 1, the second at 2
	Frame          // the outline of a cell of a map
)

// Series is one entry of the legend.
type Series struct {
	Label  string // "": not in the legend
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

// equality is the line y = x between two values.
func equality(label string, from, to float64) Series {
	return Series{Label: label, Mark: Dashed, Colour: 6, X: []float64{from, to}, Y: []float64{from, to}}
}

// WriteCSV writes every number of the figure: a line per point or interval.
func (f *Figure) WriteCSV(w io.Writer) error {
	if all := f.Panels[0].Intervals; all != nil {
		return TableOf(all, "label", "value", "lower", "upper").WriteCSV(w)
	}
	t := &Table{Heads: []head{"panel", "series", "x", "y", "error"}}
	for k, p := range f.Panels {
		for _, s := range p.Series {
			errs := append(slices.Clone(s.Err), slices.Repeat([]float64{math.NaN()}, len(s.X))...)
			for i, x := range s.X {
				t.Rows = append(t.Rows, []string{strconv.Itoa(k + 1), textCell(s.Label), numberCell(x),
					numberCell(s.Y[i]), numberCell(errs[i])})
			}
		}
	}
	return t.WriteCSV(w)
}

// scale maps the values of an axis to pixels.
type scale struct {
	Axis
	from, to float64 // pixels of Min and Max
}

// fitted is an axis with its limits and ticks. Values lie between low and high.
func (a Axis) fitted(low, high float64) Axis {
	fixed := a.Min < a.Max
	if fixed {
		low, high = a.Min, a.Max
	} else if low > high { // no values
		low, high = 1, 10
	}
	switch {
	case a.Log && (fixed || a.Ticks != nil):
		const margin = 1.12
		low, high = low/margin, high*margin
	case a.Log: // full decades
		first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
		last = max(last, first+1)
		low, high = math.Pow(10, first), math.Pow(10, last)
	case !fixed:
		margin := cmp.Or(0.03*(high-low), 1)
		low = either(low == 0, 0, low-margin)
		high += margin
	}
	a.Min, a.Max = low, high
	if a.Ticks == nil {
		a.Ticks = either(a.Log, decadeTicks, roundTicks)(low, high)
	}
	return a
}

// at is the pixel of a value; on a logarithmic axis 0, where outlines of histograms begin, is at its end.
func (s scale) at(v float64) float64 {
	low, high := s.Min, s.Max
	if s.Log {
		v, low, high = math.Log(cmp.Or(v, low)), math.Log(low), math.Log(high)
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// draws reports whether a value can be drawn on the axis.
func (a *Axis) draws(v float64) bool { return v-v == 0 && (v > 0 || !a.Log) }

// roundTicks marks multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) (ticks []Tick) {
	const most = 6
	step := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(factor*step) <= most {
			step *= factor
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high*(1+1e-12); i++ {
		ticks = append(ticks, Tick{i * step, strconv.FormatFloat(i*step+0, 'g', 6, 64)})
	}
	return ticks
}

// decadeTicks marks powers of ten, with 2 and 5 times these if there are few, and round numbers within one
// decade.
func decadeTicks(low, high float64) (ticks []Tick) {
	decades := math.Log10(high / low)
	if decades < 1 {
		return roundTicks(low, high)
	}
	for power := math.Floor(math.Log10(low)); math.Pow(10, power) <= high; power++ {
		for factor := 1.0; factor < 10; factor++ {
			tick := Tick{Value: factor * math.Pow(10, power)}
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

// palette holds colours for all kinds of colour vision (Okabe and Ito).
var palette = [...]string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5A5A5A"}

// symbols are the paths of a circle, a triangle, a square and a diamond around a point, of this radius, its
// double and half of three. Every series has its own, filled or hollow, so that nobody needs colours to tell
// series apart.
var symbols = [...]string{"m-%[1]g 0a%[1]g %[1]g 0 1 0 %[2]g 0a%[1]g %[1]g 0 1 0-%[2]g 0z",
	"m0-%[1]gl%[1]g %[2]gh-%[2]gz", "m-%[1]g-%[1]gh%[2]gv%[2]gh-%[2]gz",
	"m0-%[3]gl%[3]g %[3]g-%[3]g %[3]g-%[3]g-%[3]gz"}

// Pixels of a panel in a file and on a page, where it is not wider than a telephone, of the margins around
// its axes, and of symbols, lines and the rows of intervals.
const (
	fileWidth, fileHeight, pageWidth, pageHeight           = 560, 420, 400, 310
	leftMargin, rightMargin, topMargin, bottomMargin       = 64, 16, 32, 52
	lineWidth, symbolRadius, capLength, tickLength, legend = 2, 3.6, 4, 5, 18
	rowHeight, fontSize                                    = 38, 13
	manyPoints, mostPoints                                 = 150, 5000 // for large symbols, for all of them
)

// WriteSVG draws the figure. Text and axes have the colour of the text around the picture.
func (f *Figure) WriteSVG(w io.Writer) error { return f.write(w, fileWidth, fileHeight) }

// write draws the figure with panels of this size and legends below them; intervals are as high as they need
// to be.
func (f *Figure) write(w io.Writer, panelWidth, panelHeight int) error {
	var b bytes.Buffer
	width := panelWidth * len(f.Panels)
	if rows := len(f.Panels[0].Intervals); rows > 0 {
		panelHeight = topMargin + rows*rowHeight + bottomMargin
	}
	height := panelHeight
	for _, p := range f.Panels {
		height = max(height, panelHeight+legend*len(p.entries())+6)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" viewBox="0 0 %d %d" `+
		`width="%d" height="%d" font-family="Arial, Helvetica, sans-serif" font-size="%d" `+
		`fill="currentColor">`+"\n"+
		`<rect class="paper" width="100%%" height="100%%" fill="#FFFFFF"/>`+"\n",
		html.EscapeString(f.Title), width, height, width, height, fontSize)
	for i := range f.Panels {
		fmt.Fprintf(&b, `<g transform="translate(%d)">`+"\n", i*panelWidth)
		(&drawing{Panel: &f.Panels[i], Buffer: &b, width: panelWidth, height: panelHeight}).draw()
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	_, err := b.WriteTo(w)
	return err
}

// drawing is a panel that is being drawn.
type drawing struct {
	*Panel
	*bytes.Buffer
	width, height int
	x, y          scale
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// point is a point of a series with its error bar, 0 for none.
type point struct{ x, y, err float64 }

// drawn are the points of a series that the axes can show, in runs without a gap.
func (d *drawing) drawn(s *Series) (runs [][]point) {
	gap := true
	for i, y := range s.Y {
		if !d.X.draws(s.X[i]) || !d.Y.draws(y) {
			gap = true
			continue
		}
		p := point{x: s.X[i], y: y}
		if i < len(s.Err) && s.Err[i] > 0 && d.Y.draws(y-s.Err[i]) && d.Y.draws(s.Err[i]) {
			p.err = s.Err[i]
		}
		if gap {
			runs, gap = append(runs, nil), false
		}
		last := &runs[len(runs)-1]
		*last = append(*last, p)
	}
	return runs
}

func (d *drawing) draw() {
	if d.Intervals != nil {
		d.intervals()
		return
	}
	d.fit()
	d.axes()
	top, height := topMargin-5, d.height-topMargin-bottomMargin+10
	d.printf(`<svg y="%d" width="%d" height="%d" viewBox="0 %d %d %d">`, top, d.width, height, // clips
		top, d.width, height)
	for k, s := range d.Series {
		if s.Mark == Heat {
			d.heat(&s, float64(k+1))
		} else {
			d.series(&s)
		}
	}
	d.printf(`</svg>`)
	for k, s := range d.entries() {
		d.entry(&s, k)
	}
}

func (p *Panel) entries() []Series {
	return slices.DeleteFunc(slices.Clone(p.Series), func(s Series) bool {
		return s.Label == "" || len(s.X) == 0 || s.Mark == Heat || s.Mark == Frame
	})
}

func (d *drawing) fit() {
	low, high := point{x: math.Inf(1), y: math.Inf(1)}, point{x: math.Inf(-1), y: math.Inf(-1)}
	for _, s := range d.Series {
		for _, p := range s.Mark.path(slices.Concat(d.drawn(&s)...)) {
			low.x, high.x = min(low.x, p.x), max(high.x, p.x)
			if d.Y.draws(p.y) {
				low.y, high.y = min(low.y, p.y-p.err), max(high.y, p.y+p.err)
			}
		}
	}
	d.x = scale{d.X.fitted(low.x, high.x), leftMargin, float64(d.width - rightMargin)}
	d.y = scale{d.Y.fitted(low.y, high.y), float64(d.height - bottomMargin), topMargin}
}

// intervals draws a row for each interval: its label and its text, and the interval below them. A constant
// that would leave them less than a third of the axis is beyond it.
func (d *drawing) intervals() {
	const most = 3
	low, high, constant := 0.0, 0.0, 0.0
	for _, i := range d.Intervals {
		if from, to := i.ends(); i.Colour == constantRow {
			constant = float64(i.Value)
		} else {
			low, high = min(low, from), max(high, to)
		}
	}
	if constant < most*high {
		high = max(high, constant)
	}
	d.x = scale{d.X.fitted(low, high), rightMargin, float64(d.width - rightMargin)}
	d.y = scale{Axis{}, float64(d.height - bottomMargin), topMargin}
	d.axes()
	if low < 0 {
		d.printf(`<path d="M%.1f %.1fV%.1f" stroke="currentColor"/>`, d.x.at(0), d.y.from, d.y.to)
	}
	for k, i := range d.Intervals {
		s, y := Series{Colour: i.Colour, Mark: Dots}, d.y.to+rowHeight*float64(k)
		d.text(d.x.from+6, y+14, "start", shorten(i.Label, d.x.to-d.x.from-18-textWidth(i.Text)))
		d.text(d.x.to-4, y+14, "end", i.Text)
		y += 26
		low, high := i.ends()
		if from, to := d.x.at(low), d.x.at(high); from < to {
			d.printf(`<path d="M%.1f %.1fv%dm0-%dH%.1fm0-%dv%d" stroke="%s" stroke-width="%d" fill="none"/>`,
				from, y-capLength, 2*capLength, capLength, to, capLength, 2*capLength, s.colour(), lineWidth)
		}
		if x := d.x.at(float64(i.Value)); x <= d.x.to {
			d.symbol(&s, x, y, 1)
		} else { // an arrow
			d.printf(`<path d="M%.1f %.1fh16m-5-4l5 4-5 4" fill="none" stroke="%s" stroke-width="%d"/>`,
				d.x.to-20, y, s.colour(), lineWidth)
		}
	}
}

// path is the line through points, the frame of a cell, or the outline of a histogram whose last two bins
// have equal width.
func (m Mark) path(at []point) (path []point) {
	switch {
	case m == Frame && len(at) > 0:
		x, y := at[0].x, at[0].y
		return []point{{x: x - 0.5, y: y - 0.5}, {x: x + 0.5, y: y - 0.5}, {x: x + 0.5, y: y + 0.5},
			{x: x - 0.5, y: y + 0.5}, {x: x - 0.5, y: y - 0.5}}
	case m != Steps && m != Bars || len(at) == 0:
		return at
	}
	path, width := []point{{x: at[0].x}}, 1.0
	for i, p := range at {
		if i+1 < len(at) {
			width = at[i+1].x - p.x
		}
		path = append(path, point{x: p.x, y: p.y}, point{x: p.x + width, y: p.y})
	}
	return append(path, point{x: path[len(path)-1].x})
}

func (d *drawing) axes() {
	left, right, bottom, top := d.x.from, d.x.to, d.y.from, d.y.to
	end := 0.0 // of the last label
	for _, t := range d.x.Ticks {
		x, half := d.x.at(t.Value), textWidth(t.Label)/2
		if t.Label != "" {
			d.printf(`<path class="grid" d="M%.1f %.1fV%.1f" stroke="#E1E1E1"/>`, x, bottom, top)
		}
		if t.Label != "" && x-half > end {
			d.text(min(x, float64(d.width)-half), bottom+19, "middle", t.Label)
			end = x + half + 6
		}
		d.printf(`<path d="M%.1f %.1fv%d" stroke="currentColor"/>`, x, bottom, tickLength)
	}
	for _, t := range d.y.Ticks {
		y := d.y.at(t.Value)
		if t.Label != "" {
			d.printf(`<path class="grid" d="M%.1f %.1fH%.1f" stroke="#E1E1E1"/>`, left, y, right)
			d.text(left-8, y+5, "end", t.Label)
		}
		d.printf(`<path d="M%.1f %.1fh-%d" stroke="currentColor"/>`, left, y, tickLength)
	}
	d.printf(`<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="currentColor"/>`, left, top, bottom, right)
	d.text((left+right)/2, bottom+42, "middle", shorten(d.X.Label, 2*(float64(d.width)-(left+right)/2)))
	d.printf(`<g font-weight="bold">`)
	d.text(4, top-14, "start", shorten(d.Title, 0.9*float64(d.width)))
	d.printf(`</g>`)
	d.printf(`<text transform="translate(14 %.1f) rotate(-90)" text-anchor="middle">%s</text>`,
		(top+bottom)/2, html.EscapeString(shorten(d.Y.Label, bottom)))
}

func textWidth(text string) (width float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijlftr.,:;|!()[]' ", r):
			width += 0.32 * fontSize
		case strings.ContainsRune("mwMW%@", r) || r > 0x2e80: // letters as wide as high are beyond
			width += 0.95 * fontSize
		default:
			width += either(unicode.IsUpper(r), 0.7, 0.57) * fontSize
		}
	}
	return width
}

// shorten ends a text that is wider than this with an ellipsis.
func shorten(text string, width float64) string {
	for r := []rune(text); textWidth(text) > width && len(r) > 0; r = r[:len(r)-1] {
		text = string(r) + "…"
	}
	return text
}

func (d *drawing) text(x, y float64, anchor, text string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(text))
}

func (s *Series) colour() string { return palette[s.Colour%len(palette)] }

func (d *drawing) series(s *Series) {
	runs := d.drawn(s)
	for _, run := range runs {
		if s.Mark != Dots && s.Mark != Triangles {
			d.line(s, s.Mark.path(run))
		}
	}
	points := slices.Concat(runs...)
	for k := 0; k < len(points); k += 1 + len(points)/mostPoints {
		p := points[k]
		x, y := d.x.at(p.x), d.y.at(p.y)
		if p.err > 0 {
			low, high := d.y.at(p.y-p.err), d.y.at(p.y+p.err)
			d.printf(`<path d="M%.1f %.1fV%.1fm-%d 0h%dM%.1f %.1fm-%d 0h%d" stroke="%s"/>`, x, low, high,
				capLength, 2*capLength, x, low, capLength, 2*capLength, s.colour())
		}
		d.symbol(s, x, y, len(points))
	}
}

// symbol draws the symbol of a point; lines have none.
func (d *drawing) symbol(s *Series, x, y float64, number int) {
	if s.Mark != Dots && s.Mark != Joined && s.Mark != Triangles {
		return
	}
	radius := either(number > manyPoints, symbolRadius/2, symbolRadius)
	shape := either(s.Mark == Triangles, 1, s.Colour)
	path := fmt.Sprintf(symbols[shape%len(symbols)], radius, 2*radius, 1.5*radius)
	if shape%(2*len(symbols)) < len(symbols) {
		d.printf(`<path d="M%.1f %.1f%s" fill="%s"/>`, x, y, path, s.colour())
	} else {
		d.printf(`<path class="paper" d="M%.1f %.1f%s" fill="#FFFFFF" stroke="%s"/>`, x, y, path, s.colour())
	}
}

// line draws a line through points, filled below if the mark is Bars.
func (d *drawing) line(s *Series, points []point) {
	dashes := map[Mark]string{Dashed: ` stroke-dasharray="8 4"`, Dotted: ` stroke-dasharray="2 4"`}
	fill := either(s.Mark == Bars, s.colour(), "none")
	d.printf(`<polyline fill="%s" fill-opacity="0.4" stroke="%s" stroke-width="%d"%s points="`, fill,
		s.colour(), lineWidth, dashes[s.Mark])
	for _, p := range points {
		d.printf("%.1f,%.1f", d.x.at(p.x), d.y.at(p.y))
	}
	d.printf(`"/>`)
}

// entry draws line number k of the legend.
func (d *drawing) entry(s *Series, k int) {
	x, y := d.x.from, float64(d.height+legend*k+8)
	sample := *d
	sample.x, sample.y = scale{Axis{Max: 1}, x, x + 24}, scale{Axis{Max: 1}, y, y + 1}
	if s.Mark != Dots && s.Mark != Triangles {
		sample.line(s, []point{{}, {x: 1}})
	}
	d.symbol(s, x+12, y, 1)
	d.text(x+32, y+5, "start", shorten(s.Label, d.x.to-x-32))
}

// mostNumbers is the largest number of cells in a row with numbers.
const mostNumbers = 9

// heat draws one row of a map: smaller values, by rank in the map, are darker; cells have their numbers if
// there is room.
func (d *drawing) heat(row *Series, place float64) {
	var all []float64
	for _, s := range d.Series {
		if s.Mark == Heat {
			all = append(all, s.Y...)
		}
	}
	all = slices.DeleteFunc(all, math.IsNaN)
	slices.Sort(all)
	for i, v := range row.Y {
		if math.IsNaN(v) {
			continue
		}
		rank, _ := slices.BinarySearch(all, v)
		light := float64(rank) / float64(max(1, len(all)-1))
		shade := func(from float64) int { return int(from + (250-from)*light) }
		x, y := d.x.at(row.X[i]-0.5), d.y.at(place+0.5)
		width, height := d.x.at(row.X[i]+0.5)-x, d.y.at(place-0.5)-y
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#%02X%02X%02X"/>`, x, y, width,
			height, shade(86), shade(180), shade(233))
		if len(row.Y) <= mostNumbers {
			d.printf(`<g color="#000000" fill="currentColor">`)
			d.text(x+width/2, y+height/2+5, "middle", fmt.Sprintf("%.3g", v))
			d.printf(`</g>`)
		}
	}
}
