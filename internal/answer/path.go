package answer

import (
	"context"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/solver"
)

// Path asks a study questions that differ in the scheme. PathLength solves in a row each start from the last
// one. The next solve starts independently, so that answers depend neither on interruptions nor on shards,
// which have complete rows.
type Path struct {
	*Study
	Questions []Question
	next      int // number of the question that may start from the last solution
}

// PathLength is the number of solves that start from each other.
const PathLength = 5

// At is question number i with its start. Previous ones that were not asked, since their answers are known,
// are solved.
func (p *Path) At(ctx context.Context, i int) (Question, error) {
	switch {
	case i%PathLength == 0 || p.several():
		p.Restart()
	case p.next != i:
		last, err := p.At(ctx, i-1)
		if err == nil {
			err = p.Solve(ctx, last)
		}
		if err != nil {
			return last, err
		}
	}
	p.next = i + 1
	q := p.Questions[i]
	if s := p.Solution; s != nil && s.Status == solver.Converged {
		q.Solve.From = s
	}
	return q, nil
}

// Growth extrapolates answers about subsamples of n rows to twice the rows, if all errors are from exact
// fits.
func Growth(n int, answers []report.Answer) *report.Growth {
	var sizes []calibration.SizeError
	for _, a := range answers {
		if a.Refined == nil {
			return nil
		}
		sizes = append(sizes, calibration.SizeError{Ratio: a.Ratio, Error: float64(a.Error),
			SE: float64(a.Refined.SE), Each: a.Refined.Points.Error})
	}
	return calibration.NewGrowth(sizes, n)
}
