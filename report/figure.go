package report

import (
	"encoding/csv"
	"io"
	"strconv"
)

// Figure is a picture with the numbers that it shows: one panel or several side
// by side. What is not finite is not drawn, and an empty cell in its CSV.
type Figure struct {
	Name    string // of its files, without extension
	Title   string
	Caption string // what is shown and how it was made, in a sentence or two
	Panels  []Panel
}

// Panel is a pair of axes with what is drawn between them.
type Panel struct {
	Title  string
	X, Y   Axis
	Top    []Tick // labels along the upper edge, if any, with TopLabel above them
	Above  string // label of the upper edge
	Series []Series
	Legend Corner
	Inset  *Panel // a small panel in the upper right corner
}

// Axis is one axis. Where Min and Max are equal, both follow from the series.
type Axis struct {
	Label    string
	Log      bool
	Min, Max float64
	Ticks    []Tick // nil: round numbers
}

// Tick is a mark on an axis.
type Tick struct {
	At    float64
	Label string
}

// Mark is how a series is drawn.
type Mark int

// Theory is drawn as lines, retraining as symbols.
const (
	Line    Mark = iota
	Dashed       // a line
	Dotted       // a line
	Dots         // filled circles, with bars where Err is known
	Crosses      // the same
	Joined       // circles on a line
	Bars         // upright bars from zero, as wide as the X are apart
	Outline      // the outline of a histogram: Y[i] from X[i] to X[i+1]
	Heat         // a row of a map: Y are colours; the first such series is at 1, the second at 2
	Frame        // the outline of a cell of a map
)

// Corner is the place of a legend.
type Corner int

// The corners of a panel.
const (
	TopRight Corner = iota
	TopLeft
	NoLegend
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

// WriteCSV writes every number of the figure: a line per point.
func (f *Figure) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"panel", "series", "x", "y", "error"})
	for i := range f.Panels {
		writePanel(out, strconv.Itoa(i+1), &f.Panels[i])
	}
	out.Flush()
	return out.Error()
}

func writePanel(out *csv.Writer, name string, p *Panel) {
	for _, s := range p.Series {
		for i, x := range s.X {
			err := ""
			if i < len(s.Err) {
				err = numberCell(s.Err[i])
			}
			out.Write([]string{name, textCell(s.Label), numberCell(x), numberCell(s.Y[i]), err})
		}
	}
	if p.Inset != nil {
		writePanel(out, name+" inset", p.Inset)
	}
}
