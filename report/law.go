package report

import (
	"fmt"
	"math"
	"sort"

	"bootbench/loss"
)

// Law is the whole law over resamples of the prediction at a point.
type Law struct {
	Row     string    `json:"row"`
	At      []float64 `json:"at"`  // predictions, rising
	CDF     []float64 `json:"cdf"` // shares of the resamples that predict at most these
	Density []float64 `json:"density"`
	Atoms   []Atom    `json:"atoms,omitempty"`
	// Refined are the shares of the exact resamples that predict at most these.
	Refined []float64 `json:"refined_cdf,omitempty"`

	quantiles, refined [len(lawQuantiles)]float64
}

// Atom is a prediction that a share of the resamples makes exactly.
type Atom struct {
	At     float64 `json:"at"`
	Weight float64 `json:"weight"`
}

// lawQuantiles are those of the table.
var lawQuantiles = [...]float64{0.05, 0.25, 0.5, 0.75, 0.95}

// lawSteps is the number of predictions at which a law is given.
const lawSteps = 121

// NewLaw tabulates a law, moved by shift, beside sorted predictions of exact resamples.
func NewLaw(row string, d loss.Distribution, shift float64, exact []float64) Law {
	l := Law{Row: row}
	low, high := d.Quantile(0.001), d.Quantile(0.999)
	room := (high - low) / 20
	for i := range lawSteps {
		x := low - room + (high-low+2*room)*float64(i)/(lawSteps-1)
		l.At, l.CDF, l.Density = append(l.At, x+shift), append(l.CDF, d.CDF(x)), append(l.Density, d.Density(x))
		if exact != nil {
			upTo := sort.Search(len(exact), func(k int) bool { return exact[k] > x+shift })
			l.Refined = append(l.Refined, float64(upTo)/float64(len(exact)))
		}
	}
	for _, a := range d.Atoms {
		l.Atoms = append(l.Atoms, Atom{a.At + shift, a.Weight})
	}
	for k, q := range lawQuantiles {
		l.quantiles[k], l.refined[k] = d.Quantile(q)+shift, Quantile(exact, q)
	}
	return l
}

// Quantile is the least of sorted values that a share q of them does not pass, NaN of none.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// laws prints their quantiles and atoms.
func (d *document) laws(laws []Law) {
	if len(laws) == 0 {
		return
	}
	columns := []column{{head: "law of row"}, {head: "by", left: true}}
	for _, q := range lawQuantiles {
		columns = append(columns, column{head: fmt.Sprintf("%.0f%%", 100*q)})
	}
	columns = append(columns, column{head: "atoms", left: true})
	var rows [][]string
	for _, l := range laws {
		atoms := ""
		for _, a := range l.Atoms {
			atoms = join(atoms, fmt.Sprintf("%.1f%% at %s", 100*a.Weight, number(a.At)))
		}
		rows = append(rows, append(quantileCells(l.Row, "theory", l.quantiles), atoms))
		if l.Refined != nil {
			rows = append(rows, append(quantileCells(l.Row, "refined", l.refined), ""))
		}
	}
	d.gap()
	d.table(columns, rows)
}

func quantileCells(row, by string, quantiles [len(lawQuantiles)]float64) []string {
	cells := []string{row, by}
	for _, q := range quantiles {
		cells = append(cells, number(q))
	}
	return cells
}

// mostLawFigures bounds the pictures on a page.
const mostLawFigures = 12

// LawFigures show the distribution functions; an atom is a jump.
func LawFigures(laws []Law) (figures []*Figure) {
	for _, l := range laws[:min(len(laws), mostLawFigures)] {
		series := []Series{{Label: "theory", Mark: Line, X: l.At, Y: l.CDF}}
		if l.Refined != nil {
			series = append(series, Series{Label: "exact resamples", Mark: Dots, Colour: 1, X: l.At, Y: l.Refined})
		}
		figures = append(figures, &Figure{
			Name: "law-" + fileName(l.Row), Title: "law of the prediction at row " + l.Row,
			Caption: "Share of the resamples that predict at most so much.",
			Panels: []Panel{{X: Axis{Label: "prediction"}, Y: Axis{Label: "share of the resamples", Min: 0, Max: 1},
				Series: series, Legend: TopLeft}},
		})
	}
	return figures
}
