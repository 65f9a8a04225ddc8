package answer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/linalg"
)

// TestLeaks: a feature that alone explains the target is found, also as a recoded label and among few rows.
// Strong features, chance and rare classes are taken for leaks in at most 1 of 100 tables; a feature that
// errs in 5% of 80 rows, where three rows more are nearly too many, in not more than 3 (0.95^80 is 0.017).
// Nor is a feature a leak because rows have copies, or because it and the label are those of a whole group.
func TestLeaks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var two, three = []string{"a", "b"}, []string{"a", "b", "c"}
	numbers := func(noise float64) func(x []float64) float64 {
		return func(x []float64) float64 { return x[0] + noise*rng.NormFloat64() }
	}
	coin := func(p float64, shift func(x []float64, y float64)) func(x []float64) float64 {
		return func(x []float64) (y float64) {
			if rng.Float64() < p {
				y = 1
			}
			shift(x, y)
			return y
		}
	}
	nothing := func([]float64, float64) {}
	for _, c := range []struct {
		what        string
		n           int
		levels      []string
		y           func(x []float64) float64
		least, most float64 // share of tables with a leak
		copies      int     // that follow each row
		grouped     bool    // they are a group's, and differ in the last feature
	}{
		{"90% explained", 20, nil, numbers(1. / 3), 0, 0.01, 0, false},
		{"90% explained", 200, nil, numbers(1. / 3), 0, 0.01, 0, false},
		{"a copy", 20, nil, numbers(1e-3), 1, 1, 0, false},
		{"a total", 200, nil, numbers(0.05), 1, 1, 0, false},
		{"a coin", 60, two, coin(0.5, nothing), 0, 0.01, 0, false},
		{"a rare class", 100, two, coin(0.05, nothing), 0, 0.01, 0, false},
		{"binary features", 60, two, coin(0.5, func(x []float64, _ float64) {
			for j := range x {
				x[j] = float64(rng.IntN(2))
			}
		}), 0, 0.01, 0, false},
		{"a die", 60, three, func([]float64) float64 { return float64(rng.IntN(3)) }, 0, 0.01, 0, false},
		{"5% wrong", 80, two, coin(0.5, func(x []float64, y float64) { x[0] += 3.29 * y }), 0, 0.03, 0,
			false},
		{"recoded", 80, two, coin(0.5, func(x []float64, y float64) { x[3] = y }), 1, 1, 0, false},
		{"recoded rare", 200, two, coin(0.1, func(x []float64, y float64) { x[3] = 5 - y }), 1, 1, 0, false},
		{"copied coins", 120, two, coin(0.5, nothing), 0, 0.01, 2, false},
		{"coins of groups", 120, two, coin(0.5, nothing), 0, 0.01, 2, true},
		{"recoded copies", 240, two, coin(0.5, func(x []float64, y float64) { x[3] = y }), 1, 1, 2, false},
	} {
		const tables = 300
		found := 0.0
		for range tables {
			s := &dataset.Set{X: linalg.NewMatrix(c.n, 5),
				Columns: []dataset.Column{{Name: "y", Levels: c.levels}}}
			for j := range s.D() {
				s.Features = append(s.Features, fmt.Sprint("x", j))
			}
			for i := range c.n {
				x := s.X.Row(i)
				if c.grouped {
					s.Groups = append(s.Groups, i/(c.copies+1))
				}
				if i%(c.copies+1) > 0 {
					copy(x, s.X.Row(i-1))
					if s.Columns[0].Y = append(s.Columns[0].Y, s.Columns[0].Y[i-1]); c.grouped {
						x[4] = rng.NormFloat64()
					}
					continue
				}
				for j := range x {
					x[j] = rng.NormFloat64()
				}
				s.Columns[0].Y = append(s.Columns[0].Y, c.y(x))
			}
			if leaks(s) != nil {
				found += 1. / tables
			}
		}
		if found < c.least-1e-9 || found > c.most+1e-9 {
			t.Errorf("%s, %d rows: a leak in %.3f of the tables", c.what, c.n, found)
		}
	}
}
