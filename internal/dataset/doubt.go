package dataset

import "fmt"

// DoubtKind is a kind of doubt.
type DoubtKind int

// The kinds of doubts, and their values.
const (
	RepeatingIDs DoubtKind = iota // an identifier of units with several rows each: the number of rows
	RowNumbers                    // a feature that counts the rows: their number
	LeftOut                       // a column that is no feature, or a constant one: its different values
)

// Doubt is something in a file on which a user may act.
type Doubt struct {
	Kind       DoubtKind
	Value      float64 // the number that triggers it
	Text, Cure string
}

// doubt adds a doubt about a column.
func (t *table) doubt(kind DoubtKind, value int, cure, format string, args ...any) {
	t.doubts = append(t.doubts, Doubt{kind, float64(value), fmt.Sprintf(format, args...), cure})
}
