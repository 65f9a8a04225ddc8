package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"
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
