package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
)

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

// entries are the series in the legend.
func (p *Panel) entries() []Series {
	return slices.DeleteFunc(slices.Clone(p.Series), func(s Series) bool {
		return s.Label == "" || len(s.X) == 0 || s.Mark == Heat || s.Mark == Frame
	})
}

// fit finds the limits of the axes.
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

// axes draws grid, ticks, labels and title.
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

// textWidth estimates the pixels of a text.
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

// colour of a series.
func (s *Series) colour() string { return palette[s.Colour%len(palette)] }

// series draws a series that is not a map.
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
