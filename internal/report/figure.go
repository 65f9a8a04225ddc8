package report

import (
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

// NewFigure is a figure of one panel.
func NewFigure(name, title, caption string, x, y Axis, series ...Series) *Figure {
	return &Figure{Name: name, Title: title, Caption: caption,
		Panels: []Panel{{Title: title, X: x, Y: y, Series: series}}}
}

// Panel is a pair of axes with what is drawn between them.
type Panel struct {
	Title  string
	X, Y   Axis
	Series []Series
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

// equality is the line between two places where both axes agree.
func equality(label string, from, to float64) Series {
	return Series{Label: label, Mark: Dashed, Colour: 6, X: []float64{from, to}, Y: []float64{from, to}}
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
